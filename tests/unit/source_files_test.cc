#include "runtime/base/source_files.h"

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace hopline {

TEST(SourceFiles, CountsCharactersNotBytes) {
  SourceFiles files;
  const uint32_t f = files.add("a.dml", "x = 1\ny = \"ä\" + z\n");
  const Position at = files.position({f, 17, 1, nullptr});
  EXPECT_EQ(at.line, 2u);
  EXPECT_EQ(at.column, 11u);
  EXPECT_EQ(at.text, "y = \"ä\" + z");
}

TEST(Error, RendersACaretUnderTheWholeToken) {
  SourceFiles files;
  const uint32_t f = files.add("a.dml", "a = bcd\n");
  EXPECT_EQ(render(Error(ErrorKind::script, {f, 4, 3, nullptr}, "bad"), files),
            "a.dml:1:5: error: bad\n  a = bcd\n      ^^^\n");
}

}  // namespace hopline
