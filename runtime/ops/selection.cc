// removeEmpty, replace, contains: cells and rows picked by their values.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 16;  // cells per task
constexpr int64_t kTile = 1024;

int64_t row_grain(int64_t cols) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, cols)); }

int64_t column_at(const Csr& s, int64_t k) { return s.wide ? s.columns.as<int64_t>()[k] : s.columns.as<int32_t>()[k]; }

// --- removeEmpty ----------------------------------------------------------------------------------------------------

constexpr size_t kTarget = 0, kMargin = 1, kSelect = 2, kEmptyReturn = 3;

bool by_rows(const Span& span, const std::string& margin) {
  if (margin != "rows" && margin != "cols")
    fail(span, "removeEmpty: expected margin to be rows or cols, found {}", margin);
  return margin == "rows";
}

void check_select(const Span& span, const Meta& target, const Meta& select, bool rows) {
  if (select.kind != Kind::matrix || !target.sizes_known() || !select.sizes_known()) return;
  const int64_t length = rows ? target.rows : target.cols;
  const bool vector = select.rows == 1 || select.cols == 1 || length == 0;
  if (!vector || select.rows * select.cols != length)
    fail(span, "removeEmpty: expected select to be a vector of {} {}, found {}", length, rows ? "rows" : "columns",
         dims(select));
}

void infer_remove_empty(InferCall& infer) {
  const Meta& target = infer.in[kTarget];
  infer.out[0] = matrix_meta(-1, -1);
  const auto margin = infer.string(kMargin);
  if (!margin) return;
  const bool rows = by_rows(infer.span, *margin);
  check_select(infer.span, target, infer.in[kSelect], rows);
  (rows ? infer.out[0].cols : infer.out[0].rows) = rows ? target.cols : target.rows;
}

Cost cost_remove_empty(const InferCall& infer) {
  const Meta& target = infer.in[kTarget];
  const double rows = static_cast<double>(std::max<int64_t>(target.rows, 1));
  const double cols = static_cast<double>(std::max<int64_t>(target.cols, 1));
  return {2 * rows * cols, 16 * rows * cols, 8 * rows * cols, 9 * std::max(rows, cols)};
}

// Numbers of the rows or columns that stay, ascending.
struct Places {
  Buffer buffer;
  int64_t count = 0;
  const int64_t* begin() const { return buffer.as<int64_t>(); }
  const int64_t* end() const { return begin() + count; }
  int64_t operator[](int64_t i) const { return begin()[i]; }
};

Places room_for(Context& ctx, int64_t count) {
  return {ctx.memory.allocate(static_cast<size_t>(count) * sizeof(int64_t)), count};
}

// The i in [0, n) for which keep(i); asks twice.
template <class F>
Places find_places(Context& ctx, int64_t n, const F& keep) {
  std::vector<int64_t> starts(static_cast<size_t>((n + kGrain - 1) / kGrain) + 1);
  parallel_chunks(n, kGrain, ctx.threads, [&](int64_t begin, int64_t end) {
    int64_t count = 0;
    for (int64_t i = begin; i < end; ++i) count += keep(i);
    starts[static_cast<size_t>(begin / kGrain) + 1] = count;
  });
  for (size_t c = 1; c < starts.size(); ++c) starts[c] += starts[c - 1];
  Places places = room_for(ctx, starts.back());
  auto* out = places.buffer.as<int64_t>();
  parallel_chunks(n, kGrain, ctx.threads, [&](int64_t begin, int64_t) {
    const auto chunk = static_cast<size_t>(begin / kGrain);
    for (int64_t i = begin, k = starts[chunk]; k < starts[chunk + 1]; ++i) {
      out[k] = i;  // overwritten where i does not stay
      k += keep(i);
    }
  });
  return places;
}

// Places where the vector is not 0.
template <class T>
Places places_of(Context& ctx, const MatrixRef& vector) {
  if (!vector->is_sparse()) {
    const MatrixRef dense = to_dense<T>(ctx, vector);
    const T* cells = dense->dense<T>();
    return find_places(ctx, dense->cells(), [=](int64_t i) { return cells[i] != 0; });
  }
  Places places = room_for(ctx, vector->nnz_if_known());
  const auto* offsets = vector->csr().offsets.as<int64_t>();
  for (int64_t r = 0; r < vector->rows(); ++r)
    for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k)
      places.buffer.as<int64_t>()[k] = r + column_at(vector->csr(), k);  // one of the two is 0
  return places;
}

template <class T>
Places rows_with_cells(Context& ctx, const MatrixBlock& m) {
  if (m.is_sparse()) {
    const auto* offsets = m.csr().offsets.as<int64_t>();
    return find_places(ctx, m.rows(), [=](int64_t r) { return offsets[r + 1] > offsets[r]; });
  }
  std::vector<uint8_t> flags(static_cast<size_t>(m.rows()));
  const int64_t cols = m.cols();
  parallel_chunks(m.rows(), row_grain(cols), ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = m.dense<T>() + r * cols;
      flags[static_cast<size_t>(r)] = std::any_of(row, row + cols, [](T v) { return v != 0; });
    }
  });
  return find_places(ctx, m.rows(), [&](int64_t r) { return flags[static_cast<size_t>(r)] != 0; });
}

Places columns_with_entries(Context& ctx, const MatrixBlock& m) {
  const Csr& s = m.csr();
  const int64_t nnz = m.nnz_if_known();
  if (m.cols() / 8 <= nnz) {
    std::vector<uint8_t> flags(static_cast<size_t>(m.cols()));
    for (int64_t k = 0; k < nnz; ++k) flags[static_cast<size_t>(column_at(s, k))] = 1;
    return find_places(ctx, m.cols(), [&](int64_t c) { return flags[static_cast<size_t>(c)] != 0; });
  }
  Places places = room_for(ctx, nnz);  // far more columns than entries
  auto* columns = places.buffer.as<int64_t>();
  for (int64_t k = 0; k < nnz; ++k) columns[k] = column_at(s, k);
  std::sort(columns, columns + nnz);
  places.count = std::unique(columns, columns + nnz) - columns;
  return places;
}

template <class T>
Places columns_with_cells(Context& ctx, const MatrixBlock& m) {
  if (m.is_sparse()) return columns_with_entries(ctx, m);
  const int64_t cols = m.cols(), grain = std::max(row_grain(cols), (m.rows() + 63) / 64);
  const auto chunks = static_cast<size_t>((m.rows() + grain - 1) / grain);
  std::vector<std::vector<uint8_t>> parts(chunks + 1, std::vector<uint8_t>(static_cast<size_t>(cols)));
  parallel_chunks(m.rows(), grain, ctx.threads, [&](int64_t begin, int64_t end) {
    uint8_t* flags = parts[static_cast<size_t>(begin / grain)].data();
    for (int64_t r = begin; r < end; ++r)
      for (int64_t c = 0; c < cols; ++c) flags[c] |= m.dense<T>()[r * cols + c] != 0;
  });
  std::vector<uint8_t>& flags = parts.back();
  for (size_t p = 0; p < chunks; ++p)
    for (size_t c = 0; c < flags.size(); ++c) flags[c] |= parts[p][c];
  return find_places(ctx, cols, [&](int64_t c) { return flags[static_cast<size_t>(c)] != 0; });
}

template <class T>
MatrixRef settle_csr(Context& ctx, MatrixRef m) {
  const bool sparse =
      m->cols() > 1 && static_cast<double>(m->nnz_if_known()) < kSparse * static_cast<double>(m->cells());
  return sparse ? std::move(m) : to_dense<T>(ctx, m);
}

// CSR of `rows` rows in two passes; entries(row, emit) calls emit(column, value) with ascending columns.
template <class T, class Entries>
MatrixRef build_csr(Context& ctx, int64_t rows, int64_t cols, const Entries& entries) {
  std::vector<int64_t> sizes(static_cast<size_t>(rows));
  const int64_t grain = 1 << 10;
  parallel_chunks(rows, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t n = 0;
      entries(r, [&](int64_t, T) { ++n; });
      sizes[static_cast<size_t>(r)] = n;
    }
  });
  int64_t nnz = 0;
  for (const int64_t n : sizes) nnz += n;
  auto out = new_sparse<T>(ctx, rows, cols, nnz);
  Csr& s = out->csr();
  auto* offsets = s.offsets.template as<int64_t>();
  offsets[0] = 0;
  for (int64_t r = 0; r < rows; ++r) offsets[r + 1] = offsets[r] + sizes[static_cast<size_t>(r)];
  parallel_chunks(rows, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t k = offsets[r];
      entries(r, [&](int64_t column, T value) {
        if (s.wide)
          s.columns.as<int64_t>()[k] = column;
        else
          s.columns.as<int32_t>()[k] = static_cast<int32_t>(column);
        s.values.as<T>()[k++] = value;
      });
    }
  });
  return settle_csr<T>(ctx, std::move(out));
}

template <class T>
void copy_row(const T* from, T* to, int64_t cols) {
  if (cols < 16)
    for (int64_t c = 0; c < cols; ++c) to[c] = from[c];
  else
    std::memcpy(to, from, static_cast<size_t>(cols) * sizeof(T));
}

template <class T>
MatrixRef keep_rows(Context& ctx, const MatrixBlock& m, const Places& kept) {
  const auto rows = kept.count;
  const int64_t cols = m.cols();
  if (m.is_sparse()) {
    const auto* offsets = m.csr().offsets.as<int64_t>();
    return build_csr<T>(ctx, rows, cols, [&](int64_t r, const auto& emit) {
      const int64_t from = kept[r];
      for (int64_t k = offsets[from]; k < offsets[from + 1]; ++k)
        emit(column_at(m.csr(), k), m.csr().values.as<T>()[k]);
    });
  }
  auto out = new_dense<T>(ctx, rows, cols);
  T* to = out->template dense<T>();
  parallel_chunks(rows, row_grain(cols), ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) copy_row(m.dense<T>() + kept[r] * cols, to + r * cols, cols);
  });
  return settle<T>(ctx, std::move(out));
}

template <class T>
MatrixRef keep_columns(Context& ctx, const MatrixBlock& m, const Places& kept) {
  const auto cols = kept.count;
  if (m.is_sparse()) {
    const auto* offsets = m.csr().offsets.as<int64_t>();
    return build_csr<T>(ctx, m.rows(), cols, [&](int64_t r, const auto& emit) {
      const int64_t* at = kept.begin();
      for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
        const int64_t column = column_at(m.csr(), k);
        at = std::lower_bound(at, kept.end(), column);
        if (at == kept.end()) return;
        if (*at == column) emit(at - kept.begin(), m.csr().values.as<T>()[k]);
      }
    });
  }
  auto out = new_dense<T>(ctx, m.rows(), cols);
  T* to = out->template dense<T>();
  parallel_chunks(m.rows(), row_grain(m.cols()), ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* from = m.dense<T>() + r * m.cols();
      for (int64_t c = 0; c < cols; ++c) to[r * cols + c] = from[kept[c]];
    }
  });
  return settle<T>(ctx, std::move(out));
}

template <class T>
void remove_empty(Call& call) {
  Context& ctx = call.ctx;
  const bool rows = by_rows(call.span, call.string(kMargin));
  const MatrixRef m = materialize<T>(ctx, call.matrix_ref(kTarget));
  if (call.has(kSelect)) check_select(call.span, m->meta(), call.matrix(kSelect).meta(), rows);
  const Places kept = call.has(kSelect) ? places_of<T>(ctx, call.matrix_ref(kSelect))
                      : rows            ? rows_with_cells<T>(ctx, *m)
                                        : columns_with_cells<T>(ctx, *m);
  const auto count = kept.count;
  if (count == 0) {
    const int64_t left = call.boolean(kEmptyReturn) ? 1 : 0;
    return call.set(new_zeros(ctx, rows ? left : m->rows(), rows ? m->cols() : left));
  }
  if (count == (rows ? m->rows() : m->cols())) return call.set(m);
  call.set(rows ? keep_rows<T>(ctx, *m, kept) : keep_columns<T>(ctx, *m, kept));
}

// --- replace --------------------------------------------------------------------------------------------------------

template <class T>
struct Match {
  T pattern;
  bool nan;
  explicit Match(double p) : pattern(static_cast<T>(p)), nan(std::isnan(p)) {}
  bool operator()(T v) const { return v == pattern || (nan && v != v); }
};

void infer_replace(InferCall& infer) {
  const Meta& target = infer.in[0];
  infer.out[0] = matrix_meta(target.rows, target.cols);
}

// Returns the count of cells that are not 0 afterwards. `from` and `to` may be the same.
template <class T>
int64_t replace_in(Context& ctx, const T* from, T* to, int64_t n, const Match<T>& match, T replacement) {
  std::atomic<int64_t> nnz{0};
  parallel_chunks(n, kGrain, ctx.threads, [&](int64_t begin, int64_t end) {
    int64_t mine = 0;
    if (match.nan)
      for (int64_t i = begin; i < end; ++i) to[i] = from[i] != from[i] ? replacement : from[i], mine += to[i] != 0;
    else
      for (int64_t i = begin; i < end; ++i)
        to[i] = from[i] == match.pattern ? replacement : from[i], mine += to[i] != 0;
    nnz += mine;
  });
  return nnz;
}

template <class T>
MatrixRef replace_csr(Context& ctx, const MatrixRef& m, const Match<T>& match, T replacement) {
  const Csr& s = m->csr();
  const auto* offsets = s.offsets.as<int64_t>();
  const T* values = s.values.as<T>();
  if (match.pattern == 0) {
    auto out = new_dense<T>(ctx, m->rows(), m->cols());
    T* to = out->template dense<T>();
    parallel_chunks(m->rows(), row_grain(m->cols()), ctx.threads, [&](int64_t begin, int64_t end) {
      std::fill(to + begin * m->cols(), to + end * m->cols(), replacement);
      for (int64_t r = begin; r < end; ++r)
        for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) to[r * m->cols() + column_at(s, k)] = values[k];
    });
    return out;
  }
  return build_csr<T>(ctx, m->rows(), m->cols(), [&](int64_t r, const auto& emit) {
    for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
      const T v = match(values[k]) ? replacement : values[k];
      if (v != 0) emit(column_at(s, k), v);
    }
  });
}

template <class T>
void replace(Call& call) {
  Context& ctx = call.ctx;
  const Match<T> match(call.real(1));
  const auto replacement = static_cast<T>(call.real(2));
  if (call.matrix(0).is_virtual()) {
    const auto* constant = std::get_if<Constant>(&call.matrix(0).cells_rule());
    if (constant != nullptr) {
      const auto v = static_cast<T>(constant->value);
      return call.set(new_constant(ctx, call.matrix(0).rows(), call.matrix(0).cols(), match(v) ? replacement : v));
    }
    *call.in[0] = materialize<T>(ctx, call.matrix_ref(0));
  }
  if (call.matrix(0).is_sparse()) return call.set(replace_csr<T>(ctx, call.matrix_ref(0), match, replacement));
  const int64_t n = call.matrix(0).cells();
  std::shared_ptr<MatrixBlock> out = call.take(0);
  const T* from = out ? out->dense<T>() : call.matrix(0).dense<T>();
  if (!out) out = new_dense<T>(ctx, call.matrix(0).rows(), call.matrix(0).cols());
  const int64_t nnz = replace_in(ctx, from, out->template dense<T>(), n, match, replacement);
  out->set_nnz(nnz);
  if (replacement == 0) return call.set(settle<T>(ctx, std::move(out)));
  call.set(std::move(out));
}

// --- contains -------------------------------------------------------------------------------------------------------

void infer_contains(InferCall& infer) {
  if (infer.in[1].kind == Kind::string)
    infer.fail("contains: expected a number as pattern for a matrix, found a string");
  infer.out[0] = scalar_meta(Kind::boolean);
}

template <class T>
bool find_in(Context& ctx, const T* values, int64_t n, const Match<T>& match) {
  std::atomic<bool> found{false};
  parallel_chunks(n, kGrain, ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !found.load(std::memory_order_relaxed); i += kTile) {
      const T* stop = values + std::min(end, i + kTile);
      if (std::any_of(values + i, stop, match)) found = true;
    }
  });
  return found;
}

template <class T>
bool contains_value(Context& ctx, const MatrixBlock& m, const Match<T>& match) {
  if (m.is_dense()) return find_in(ctx, m.dense<T>(), m.cells(), match);
  if (m.is_sparse()) {
    const int64_t nnz = m.nnz_if_known();
    if (match.pattern == 0) return nnz < m.cells();
    return find_in(ctx, m.csr().values.as<T>(), nnz, match);
  }
  if (m.cells() > 0 && std::holds_alternative<Constant>(m.cells_rule()))
    return match(static_cast<T>(read_cell(m, 0, 0)));
  T tile[kTile];
  for (int64_t i = 0; i < m.cells(); i += kTile) {
    const int64_t stop = std::min(m.cells(), i + kTile);
    read_cells(m, i, stop, tile);
    if (std::any_of(tile, tile + (stop - i), match)) return true;
  }
  return false;
}

template <class T>
void contains(Call& call) {
  call.out[0] = contains_value<T>(call.ctx, call.matrix(0), Match<T>(call.real(1)));
}

#define HOPLINE_KERNEL(name) [](Call& call) { with_real(call.ctx, [&](auto t) { name<decltype(t)>(call); }); }

constexpr Kernel kRemoveEmptyKernels[] = {{"remove_empty", nullptr, HOPLINE_KERNEL(remove_empty)}};
constexpr Kernel kReplaceKernels[] = {{"replace", nullptr, HOPLINE_KERNEL(replace)}};
constexpr Kernel kContainsKernels[] = {{"contains", nullptr, HOPLINE_KERNEL(contains)}};

constexpr Op kOps[] = {
    {.name = "removeEmpty",
     .params = Params{param::matrix("target"), param::text("margin"), param::optional("select", kMatrix),
                      param::number("empty.return", "TRUE")}
                   .by(Naming::named),
     .laws = {.failure = Failure::by_data, .size_from_data = true},
     .infer = infer_remove_empty,
     .cost = cost_remove_empty,
     .kernels = kRemoveEmptyKernels,
     .doc = "target without its all-zero rows (margin=\"rows\") or columns (\"cols\"), or without those where select "
            "is 0; "
            "where none is left, one of zeros, or none if empty.return is FALSE.",
     .example = "X = matrix(\"1 2 0 0 3 4\", 3, 2)\nprint(nrow(removeEmpty(target=X, margin=\"rows\")))  # expect: 2"},
    {.name = "replace",
     .params =
         Params{param::matrix("target"), param::number("pattern"), param::number("replacement")}.by(Naming::named),
     .infer = infer_replace,
     .kernels = kReplaceKernels,
     .doc = "target with every cell that equals pattern (NaN equals NaN here) set to replacement.",
     .example = "X = matrix(\"1 0 1\", 1, 3)\nprint(sum(replace(target=X, pattern=1, replacement=5)))  # expect: 10.0"},
    {.name = "contains",
     .params = Params{param::matrix("target"), param::of("pattern", kScalar)}.by(Naming::named),
     .infer = infer_contains,
     .kernels = kContainsKernels,
     .doc = "Does any cell of target equal pattern? NaN equals NaN here.",
     .example = "print(contains(target=seq(1, 3), pattern=2))  # expect: TRUE"},
};

}  // namespace

OpFamily selection_ops() { return kOps; }

}  // namespace hopline
