// What the generator of random programs must know of operators beside their rows: which values their arguments may
// have, and what then is known of the result. A row that is not named here is generated, too, with small whole numbers.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/value.h"
#include "runtime/ops/op.h"
#include "tests/random/facts.h"

namespace hopline::tests {

struct RowArgument {
  Meta meta;  // Kind::none when it is left out
  Facts facts;
  std::string text;  // of a literal
};

// Rows that take part in expressions: pure, one result, not written by a part of the generator of their own.
std::vector<const Op*> expression_rows();

// What the cells of this parameter must keep to.
Facts bound_of(const Op& op, size_t param);

// Literals that a scalar parameter may take, as DML text; sizes are also given so that shapes meet.
std::vector<std::string> literals_of(const Op& op, const Param& param, int64_t rows, int64_t cols);

// The value of a literal as literals_of() gives them.
Value literal_value(const std::string& text);

// Kind and sizes of the first result; nullopt when the row refuses the arguments.
std::optional<Meta> infer_row(const Op& op, const std::vector<RowArgument>& in);

// Facts of the result, whose sizes are `out`.
std::optional<Facts> row_facts(const Op& op, const std::vector<RowArgument>& in, const Meta& out);

}  // namespace hopline::tests
