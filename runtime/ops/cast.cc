// Conversions between kinds.
#include "runtime/base/format_number.h"
#include "runtime/base/parse_number.h"
#include "runtime/ops/call.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

// A scalar as a double; a string must hold a number.
double number_of(const Call& c, const Value& v) {
  switch (kind_of(v)) {
    case Kind::boolean:
      return std::get<bool>(v) ? 1 : 0;
    case Kind::integer:
      return static_cast<double>(std::get<int64_t>(v));
    case Kind::real:
      return std::get<double>(v);
    case Kind::string: {
      const auto number = parse_number(std::get<std::string>(v));
      if (!number) c.fail("{}: expected a number, found the string \"{}\"", c.op.name, std::get<std::string>(v));
      return *number;
    }
    default:
      c.fail("{}: expected a scalar, found {}", c.op.name, name(kind_of(v)));
  }
}

double only_cell(const MatrixBlock& m) {
  if (m.is_virtual()) return read_cell(m, 0, 0);
  if (m.is_dense()) return m.precision() == Precision::f64 ? *m.dense<double>() : double{*m.dense<float>()};
  const Csr& s = m.csr();
  if (s.offsets.as<int64_t>()[1] == 0) return 0;
  return m.precision() == Precision::f64 ? *s.values.as<double>() : double{*s.values.as<float>()};
}

void infer_as_scalar(InferCall& c) {
  const Meta& in = c.in[0];
  if (in.kind == Kind::list) {
    if (in.rows == 0) c.fail("as.scalar: expected a list of one entry, found an empty list");
    c.out[0] = scalar_meta(Kind::unknown);
    return;
  }
  if ((in.rows >= 0 && in.rows != 1) || (in.cols >= 0 && in.cols != 1))
    c.fail("as.scalar: expected a 1x1 matrix, found {}", dims(in));
  c.out[0] = scalar_meta(Kind::real);
}

void as_scalar(Call& c) {
  if (c.is_matrix(0))
    c.out[0] = only_cell(c.matrix(0));
  else
    c.out[0] = std::get<ListRef>(*c.in[0])->entries.front();
}

void infer_as_matrix(InferCall& c) {
  const Meta& in = c.in[0];
  if (in.kind == Kind::matrix)
    c.out[0] = in;
  else if (is_scalar(in.kind))
    c.out[0] = matrix_meta(1, 1);
  else if (in.kind == Kind::list && in.rows >= 0 && in.rows != 1)
    c.out[0] = matrix_meta(in.rows, 1);
  else
    c.out[0] = matrix_meta(-1, -1);
}

template <class T>
MatrixRef column_of_scalars(Call& c, const List& list) {
  const auto rows = static_cast<int64_t>(list.entries.size());
  auto out = new_dense<T>(c.ctx, rows, 1);
  T* cells = out->template dense<T>();
  for (int64_t i = 0; i < rows; ++i) {
    const Value& v = list.entries[static_cast<size_t>(i)];
    if (!is_scalar(kind_of(v)))
      c.fail("as.matrix: expected a list of scalars, found {} at position {}", name(kind_of(v)), i + 1);
    cells[i] = static_cast<T>(number_of(c, v));
  }
  return out;
}

void list_as_matrix(Call& c) {
  const List& list = *std::get<ListRef>(*c.in[0]);
  const Value* only = list.entries.size() == 1 ? &list.entries.front() : nullptr;
  if (only != nullptr && kind_of(*only) == Kind::matrix)
    c.out[0] = *only;
  else if (only != nullptr && is_scalar(kind_of(*only)))
    c.set(new_constant(c.ctx, 1, 1, number_of(c, *only)));
  else
    with_real(c.ctx, [&](auto t) { c.set(column_of_scalars<decltype(t)>(c, list)); });
}

void as_matrix(Call& c) {
  if (c.is_matrix(0))
    c.out[0] = c.take_value(0);
  else if (c.kind(0) == Kind::list)
    list_as_matrix(c);
  else
    c.set(new_constant(c.ctx, 1, 1, number_of(c, *c.in[0])));
}

void infer_as_list(InferCall& c) { c.out[0] = {Kind::list, c.in[0].rows == 1 ? -1 : c.in[0].rows, 1, -1, -1}; }
void as_list(Call& c) {
  const List& list = *std::get<ListRef>(*c.in[0]);
  if (list.entries.size() == 1 && kind_of(list.entries.front()) == Kind::list)
    c.out[0] = Value(list.entries.front());
  else
    c.out[0] = c.take_value(0);
}

template <Kind kind>
void infer_scalar(InferCall& c) {
  c.out[0] = scalar_meta(kind);
}
void as_double(Call& c) { c.out[0] = number_of(c, *c.in[0]); }
void as_integer(Call& c) {
  if (const auto* i = std::get_if<int64_t>(c.in[0]))
    c.out[0] = *i;
  else
    c.out[0] = to_integer(number_of(c, *c.in[0]));
}
void as_logical(Call& c) {
  if (const auto* text = std::get_if<std::string>(c.in[0]))
    c.out[0] = *text == "TRUE" || *text == "true";
  else
    c.out[0] = c.boolean(0);
}

constexpr Kernel kAsScalar[] = {{"reference", nullptr, as_scalar}};
constexpr Kernel kAsMatrix[] = {{"reference", nullptr, as_matrix}};
constexpr Kernel kAsList[] = {{"reference", nullptr, as_list}};
constexpr Kernel kAsDouble[] = {{"reference", nullptr, as_double}};
constexpr Kernel kAsInteger[] = {{"reference", nullptr, as_integer}};
constexpr Kernel kAsLogical[] = {{"reference", nullptr, as_logical}};

constexpr Op kOps[] = {
    {.name = "as.scalar",
     .aliases = {"castAsScalar"},
     .params = {param::of("X", kMatrix | kList)},
     .infer = infer_as_scalar,
     .kernels = kAsScalar,
     .doc = "The cell of a 1x1 matrix; of a list the first entry, whatever its kind.",
     .example =
         "print(as.scalar(matrix(7, 1, 1)))  # expect: 7.0\nL = list(3, \"b\")\nprint(as.scalar(L[2]))  # expect: b"},
    {.name = "as.matrix",
     .params = {param::of("x", kScalar | kMatrix | kList)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_as_matrix,
     .kernels = kAsMatrix,
     .doc = "A scalar as a 1x1 matrix, a list of scalars as a column, a list of one matrix as that matrix.",
     .example = "print(sum(as.matrix(list(1, 2.5, TRUE))))  # expect: 4.5"},
    {.name = "as.list",
     .params = {param::of("x", kList)},
     .infer = infer_as_list,
     .kernels = kAsList,
     .doc = "The list itself; a list that holds exactly one list gives that list.",
     .example = "L = list(list(1, 2), 3)\nprint(length(as.list(L[1])))  # expect: 2"},
    {.name = "as.double",
     .params = {param::of("x", kScalar)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_scalar<Kind::real>,
     .kernels = kAsDouble,
     .doc = "A scalar as a double; a string must hold a number.",
     .example = "print(as.double(3))  # expect: 3.0\nprint(as.double(\"1e3\"))  # expect: 1000.0"},
    {.name = "as.integer",
     .params = {param::of("x", kScalar)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_scalar<Kind::integer>,
     .kernels = kAsInteger,
     .doc = "A scalar as an int, toward zero; a string must hold a number.",
     .example = "print(as.integer(-3.7))  # expect: -3\nprint(as.integer(\"3.7\"))  # expect: 3"},
    {.name = "as.logical",
     .aliases = {"as.boolean"},
     .params = {param::of("x", kScalar)},
     .infer = infer_scalar<Kind::boolean>,
     .kernels = kAsLogical,
     .doc = "A number as whether it is not 0; of strings only \"TRUE\" and \"true\" are TRUE.",
     .example = "print(as.logical(0))  # expect: FALSE\nprint(as.logical(\"true\"))  # expect: TRUE"},
};

}  // namespace

OpFamily cast_ops() { return kOps; }

}  // namespace hopline
