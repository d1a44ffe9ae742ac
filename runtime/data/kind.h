// What a value is. One flat list: a scalar's element type is its kind.
#pragma once
#include <cstdint>
#include <string_view>

namespace hopline {

enum class Kind : uint8_t { unknown, none, boolean, integer, real, string, matrix, frame, list };

constexpr bool is_scalar(Kind k) { return k >= Kind::boolean && k <= Kind::string; }
constexpr bool is_number(Kind k) { return k == Kind::integer || k == Kind::real; }
std::string_view name(Kind kind);  // as users say it: "int", "double", "matrix", ...

// A set of kinds, for parameters.
using Kinds = uint16_t;
constexpr Kinds kinds(Kind k) { return static_cast<Kinds>(1u << static_cast<unsigned>(k)); }
constexpr Kinds kNone = kinds(Kind::none);
constexpr Kinds kMatrix = kinds(Kind::matrix);
constexpr Kinds kFrame = kinds(Kind::frame);
constexpr Kinds kList = kinds(Kind::list);
constexpr Kinds kString = kinds(Kind::string);
constexpr Kinds kNumber = kinds(Kind::boolean) | kinds(Kind::integer) | kinds(Kind::real);
constexpr Kinds kScalar = kNumber | kString;
constexpr Kinds kAny = kScalar | kMatrix | kFrame | kList;

// What is known of a value before it exists. -1 is unknown.
struct Meta {
  Kind kind = Kind::unknown;
  int64_t rows = -1, cols = -1;  // matrix, frame; a list has rows = number of entries
  int64_t nnz = -1;              // exact, or unknown; never an estimate
  double density = -1;           // an estimate for costs only; -1 is unknown
  bool sizes_known() const { return rows >= 0 && cols >= 0; }
  bool empty() const { return nnz == 0; }
};
inline Meta scalar_meta(Kind kind) { return {kind, -1, -1, -1, -1}; }
inline Meta matrix_meta(int64_t rows, int64_t cols, int64_t nnz = -1) { return {Kind::matrix, rows, cols, nnz, -1}; }

}  // namespace hopline
