// Variables as a dry run knows them: kinds, sizes and scalar values without data.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/data/value.h"

namespace hopline {

struct AssumedList;

struct Assumed {
  Meta meta = scalar_meta(Kind::none);      // none: not assigned
  Value value;                              // of a scalar where it is known, else monostate
  std::shared_ptr<const AssumedList> list;  // of a list whose entries are known
  bool assigned() const { return meta.kind != Kind::none; }
};

struct AssumedList {
  std::vector<Assumed> entries;
  std::vector<std::string> names;  // empty, or as long as `entries`
  int depth = 1;                   // of lists within it
  static constexpr int kDeepest = 2;
  static constexpr size_t kMost = 200;  // entries; the entries of a longer or deeper list are not known
};

struct Assumptions {
  std::vector<Assumed> slots;
  // The variable, or an entry of a list whose entries are known; null when it does not exist.
  const Assumed* find(int32_t slot, int64_t entry) const;
  // Position of the entry of that name, or -1.
  int64_t find_entry(int32_t slot, const std::string& name) const;
};

Assumed assumed_of_kind(Kind kind);  // sizes unknown
Assumed assumed_scalar(Value value);
bool same(const Assumed& a, const Assumed& b);
// What holds in both cases. A variable that only one of them assigns is taken as assigned.
Assumed join(const Assumed& a, const Assumed& b);
bool same(const Assumptions& a, const Assumptions& b);
Assumptions join(const Assumptions& a, const Assumptions& b);

// "[3x4]", "[?x1]", " = 7", "[list of 3]"; for messages and as a key: equal texts have equal kinds, sizes and values.
std::string text(const Assumed& a);

}  // namespace hopline
