// Cell-wise functions as code over tiles of cells: what dense kernels, sparse kernels and cell programs are built on.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/data/value.h"
#include "runtime/ops/op.h"

namespace hopline {

// Every function here works on n cells; `out` may be an input. A tile of one cell, any remainder and any CPU with fma
// give the same bits as `cell`.
template <class T>
struct UnaryTiles {
  void (*tile)(const T* in, T* out, size_t n) = nullptr;
  T (*cell)(T) = nullptr;
};
template <class T>
struct BinaryTiles {
  void (*both)(const T* left, const T* right, T* out, size_t n) = nullptr;
  void (*right_scalar)(const T* left, T right, T* out, size_t n) = nullptr;
  void (*left_scalar)(T left, const T* right, T* out, size_t n) = nullptr;
  T (*cell)(T, T) = nullptr;
};

// The functions of a row of unary.def or binary.def (hidden rows too) for the CPU at hand; null for any other row.
// T is double or float.
template <class T>
const UnaryTiles<T>* unary_tiles(const Op& op);
template <class T>
const BinaryTiles<T>* binary_tiles(const Op& op);

// out[i] = condition[i] != 0 ? yes[i] : no[i]; NaN counts as true. For the row "ifelse".
template <class T>
void ifelse_tile(const T* condition, const T* yes, const T* no, T* out, size_t n);

// A row of unary.def or binary.def on scalars, with the kind of result that the language gives. Only int arithmetic can
// fail (overflow), at `span`. Strings: "+" joins, comparisons compare; kinds that do not fit were refused by infer().
Value unary_scalar(const Op& op, const Value& x);
Value binary_scalar(const Op& op, const Value& a, const Value& b, const Span& span);

// The tables behind unary_tiles and binary_tiles, in the order of the .def files.
template <class T>
const UnaryTiles<T>* unary_tile_table();
template <class T>
const BinaryTiles<T>* binary_tile_table();

}  // namespace hopline
