#include "runtime/ops/reorg_bind.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/list.h"
#include "runtime/ops/reorg.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 16;  // cells per task

enum class Way : uint8_t { down, across };  // rbind, cbind

// ---- sizes

bool is_nothing(const Meta& m) { return m.rows == 0 && m.cols == 0; }

// Sizes of the bound matrices; fail(text, ...) reports those that do not fit.
template <class Fail>
Meta bound_meta(Way way, std::span<const Meta> parts, const Fail& wrong) {
  int64_t along = 0, other = -1, nnz = 0;
  bool nothing = true;  // only 0x0 so far
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t length = way == Way::down ? parts[i].rows : parts[i].cols;
    const int64_t width = way == Way::down ? parts[i].cols : parts[i].rows;
    if (along < 0 || length < 0)
      along = -1;
    else if (__builtin_add_overflow(along, length, &along))
      along = INT64_MAX;  // no matrix is so long: its making fails
    nnz = nnz < 0 || parts[i].nnz < 0 ? -1 : nnz + parts[i].nnz;
    if (is_nothing(parts[i])) continue;  // fits any matrix
    nothing = false;
    if (width < 0 || (width == 0 && length < 0)) continue;
    if (other >= 0 && other != width) wrong(i, other, width);
    other = width;
  }
  if (nothing) other = 0;
  return way == Way::down ? matrix_meta(along, other, nnz) : matrix_meta(other, along, nnz);
}

std::string_view others(Way way) { return way == Way::down ? "columns" : "rows"; }

void infer_matrices(InferCall& c, Way way) {
  for (size_t i = 0; i < c.in.size(); ++i)
    if (c.in[i].kind != Kind::matrix)
      c.fail("{}: expected matrices (as.matrix makes one of a scalar), found {} as argument {}", c.op.name,
             name(c.in[i].kind), i + 1);
  c.out[0] = bound_meta(way, c.in, [&](size_t i, int64_t expected, int64_t found) {
    c.fail("{}: the numbers of {} must agree, expected {}, found {} in argument {}", c.op.name, others(way), expected,
           found, i + 1);
  });
}

void infer_bind(InferCall& c, Way way) {
  switch (c.in[0].kind) {
    case Kind::list:
      if (c.in.size() == 1)
        c.out[0] = matrix_meta(-1, -1);
      else
        c.out[0] = {Kind::list, c.in[0].rows < 0 ? -1 : c.in[0].rows + static_cast<int64_t>(c.in.size()) - 1, 1, -1,
                    -1};
      return;
    case Kind::string:
      for (size_t i = 1; i < c.in.size(); ++i)
        if (c.in[i].kind != Kind::string)
          c.fail("{}: expected strings after a string, found {} as argument {}", c.op.name, name(c.in[i].kind), i + 1);
      c.out[0] = scalar_meta(Kind::string);
      return;
    default:
      infer_matrices(c, way);
  }
}

// ---- dense

template <class T>
void copy_row(const MatrixBlock& m, int64_t row, T* out) {
  const int64_t cols = m.cols();
  if (m.is_dense()) {
    const T* in = m.dense<T>() + row * cols;
    if (cols == 1)
      *out = *in;
    else
      std::memcpy(out, in, static_cast<size_t>(cols) * sizeof(T));
  } else if (m.is_virtual()) {
    read_cells(m, row * cols, (row + 1) * cols, out);
  } else {
    const Csr& s = m.csr();
    std::fill_n(out, cols, T{0});
    const auto* offsets = s.offsets.as<int64_t>();
    for (int64_t k = offsets[row]; k < offsets[row + 1]; ++k)
      out[s.wide ? s.columns.as<int64_t>()[k] : s.columns.as<int32_t>()[k]] = s.values.as<T>()[k];
  }
}

// All cells of m, row after row.
template <class T>
void copy_block(Context& ctx, const MatrixBlock& m, T* out) {
  const int64_t cols = m.cols(), grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, cols));
  parallel_chunks(m.rows(), grain, ctx.threads, [&](int64_t begin, int64_t end) {
    const auto bytes = static_cast<size_t>((end - begin) * cols) * sizeof(T);
    if (m.is_dense())
      std::memcpy(out + begin * cols, m.dense<T>() + begin * cols, bytes);
    else if (m.is_virtual())
      read_cells(m, begin * cols, end * cols, out + begin * cols);
    else
      for (int64_t r = begin; r < end; ++r) copy_row(m, r, out + r * cols);
  });
}

using Parts = std::vector<MatrixRef>;

// One block after the other: rows below each other, or rows of a single line next to each other. The first block's
// buffer is used again where it has room, so a matrix that grows in a loop is not copied each time.
template <class T>
MatrixRef join_dense(Context& ctx, Parts& parts, int64_t rows, int64_t cols) {
  std::shared_ptr<MatrixBlock> out;
  size_t first = 0;
  if (const MatrixRef& m = parts.front();
      m->is_dense() && m.use_count() == 1 && m->bytes() / static_cast<int64_t>(sizeof(T)) >= rows * cols) {
    out = own(parts.front());
    first = 1;
  }
  int64_t at = out == nullptr ? 0 : out->cells();
  if (out == nullptr)
    out = new_dense<T>(ctx, rows, cols);
  else
    out->reshape_dense(rows, cols);
  T* cells = out->template dense<T>();
  for (size_t i = first; i < parts.size(); ++i) {
    copy_block(ctx, *parts[i], cells + at);
    at += parts[i]->cells();
  }
  return out;
}

template <class T>
MatrixRef zip_dense(Context& ctx, const Parts& parts, int64_t rows, int64_t cols) {
  auto out = new_dense<T>(ctx, rows, cols);
  T* cells = out->template dense<T>();
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, cols));
  parallel_chunks(rows, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    int64_t left = 0;
    for (const MatrixRef& m : parts) {
      for (int64_t r = begin; r < end; ++r) copy_row(*m, r, cells + r * cols + left);
      left += m->cols();
    }
  });
  return out;
}

// ---- sparse

// The buffer with room for `bytes`, its first `used` bytes kept; grows by half, so appending is linear.
void make_room(Context& ctx, Buffer& buffer, int64_t used, int64_t bytes) {
  if (static_cast<int64_t>(buffer.bytes()) >= bytes) return;
  Buffer larger = ctx.memory.allocate(static_cast<size_t>(std::max(bytes, used + used / 2)));
  if (used > 0) std::memcpy(larger.as<char>(), buffer.as<char>(), static_cast<size_t>(used));
  buffer = std::move(larger);
}

// Appends the rows of `m` to those of `out`.
template <class T>
void append_rows(Context& ctx, MatrixBlock& out, const MatrixBlock& m) {
  Csr& to = out.csr();
  const Csr& from = m.csr();
  const int64_t rows = out.rows(), nnz = out.nnz_if_known(), more = m.nnz_if_known(), width = to.wide ? 8 : 4;
  make_room(ctx, to.offsets, (rows + 1) * 8, (rows + m.rows() + 1) * 8);
  make_room(ctx, to.columns, nnz * width, (nnz + more) * width);
  make_room(ctx, to.values, nnz * static_cast<int64_t>(sizeof(T)), (nnz + more) * static_cast<int64_t>(sizeof(T)));
  auto* offsets = to.offsets.as<int64_t>();
  for (int64_t r = 1; r <= m.rows(); ++r) offsets[rows + r] = nnz + from.offsets.as<int64_t>()[r];
  if (more > 0) {
    std::memcpy(to.columns.as<char>() + nnz * width, from.columns.as<char>(), static_cast<size_t>(more * width));
    std::memcpy(to.values.as<T>() + nnz, from.values.as<T>(), static_cast<size_t>(more) * sizeof(T));
  }
  out.set_rows(rows + m.rows());
  out.set_nnz(nnz + more);
}

template <class T>
MatrixRef join_sparse(Context& ctx, Parts& parts, int64_t rows, int64_t cols, int64_t nnz) {
  std::shared_ptr<MatrixBlock> out = own(parts.front());
  if (out == nullptr) {
    out = new_sparse<T>(ctx, rows, cols, nnz);
    out->set_rows(0);
    out->set_nnz(0);
    out->csr().offsets.template as<int64_t>()[0] = 0;
    append_rows<T>(ctx, *out, *parts.front());
  }
  for (size_t i = 1; i < parts.size(); ++i) append_rows<T>(ctx, *out, *parts[i]);
  return out;
}

int64_t column(const Csr& s, int64_t k) { return s.wide ? s.columns.as<int64_t>()[k] : s.columns.as<int32_t>()[k]; }

template <class T>
MatrixRef zip_sparse(Context& ctx, const Parts& parts, int64_t rows, int64_t cols, int64_t nnz) {
  auto out = new_sparse<T>(ctx, rows, cols, nnz);
  Csr& to = out->csr();
  auto* offsets = to.offsets.template as<int64_t>();
  for (int64_t r = 0; r <= rows; ++r) {
    offsets[r] = 0;
    for (const MatrixRef& m : parts) offsets[r] += m->csr().offsets.template as<int64_t>()[r];
  }
  parallel_chunks(rows, std::max<int64_t>(1, kGrain * rows / std::max<int64_t>(1, nnz)), ctx.threads,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t r = begin; r < end; ++r) {
                      int64_t at = offsets[r], left = 0;
                      for (const MatrixRef& m : parts) {
                        const Csr& s = m->csr();
                        const auto* from = s.offsets.template as<int64_t>();
                        for (int64_t k = from[r]; k < from[r + 1]; ++k, ++at) {
                          if (to.wide)
                            to.columns.as<int64_t>()[at] = left + column(s, k);
                          else
                            to.columns.as<int32_t>()[at] = static_cast<int32_t>(left + column(s, k));
                          to.values.as<T>()[at] = s.values.as<T>()[k];
                        }
                        left += m->cols();
                      }
                    }
                  });
  return out;
}

// ---- all of it

// How many cells are not 0, about; a dense block is counted only where another part is sparse.
template <class T>
double nonzeros_of(Context& ctx, const Parts& parts) {
  const bool mixed = std::any_of(parts.begin(), parts.end(), [](const MatrixRef& m) {
    return m->is_sparse() || (m->is_virtual() && virtual_is_sparse(*m));
  });
  double total = 0;
  for (const MatrixRef& m : parts) {
    if (mixed && m->is_dense()) count_nnz<T>(ctx, *m);
    if (m->nnz_if_known() >= 0) {
      total += static_cast<double>(m->nnz_if_known());
      continue;
    }
    const auto* draw = m->is_virtual() ? std::get_if<Random>(&m->cells_rule()) : nullptr;
    total += (draw != nullptr ? draw->sparsity : 1) * static_cast<double>(m->cells());
  }
  return total;
}

// The same constant everywhere: stays virtual.
bool all_constant(const Parts& parts) {
  const auto value = [](const MatrixRef& m) {
    return m->is_virtual() ? std::get_if<Constant>(&m->cells_rule()) : nullptr;
  };
  const Constant* first = value(parts.front());
  return first != nullptr && std::all_of(parts.begin(), parts.end(), [&](const MatrixRef& m) {
           const Constant* c = value(m);
           return c != nullptr && std::memcmp(&c->value, &first->value, sizeof(double)) == 0;
         });
}

template <class T>
MatrixRef bind(Context& ctx, Way way, Parts parts, int64_t rows, int64_t cols) {
  std::erase_if(parts, [](const MatrixRef& m) { return m->cells() == 0; });
  if (parts.empty()) return new_zeros(ctx, rows, cols);
  if (parts.size() == 1) return parts.front();
  if (all_constant(parts)) {
    const double value = std::get<Constant>(parts.front()->cells_rule()).value;
    return new_constant(ctx, rows, cols, value);
  }
  const bool line = way == Way::down || rows == 1;
  if (cols > 1 && nonzeros_of<T>(ctx, parts) < kSparse * static_cast<double>(rows) * static_cast<double>(cols)) {
    int64_t nnz = 0;
    for (MatrixRef& m : parts) {
      if (!m->is_sparse()) m = to_sparse<T>(ctx, m);
      nnz += m->nnz_if_known();
    }
    return way == Way::down ? join_sparse<T>(ctx, parts, rows, cols, nnz) : zip_sparse<T>(ctx, parts, rows, cols, nnz);
  }
  return line ? join_dense<T>(ctx, parts, rows, cols) : zip_dense<T>(ctx, parts, rows, cols);
}

void bind_parts(Call& call, Way way, Parts parts) {
  std::vector<Meta> metas;
  metas.reserve(parts.size());
  for (const MatrixRef& m : parts) metas.push_back(m->meta());
  const Meta meta = bound_meta(way, metas, [&](size_t i, int64_t expected, int64_t found) {
    call.fail("{}: the numbers of {} must agree, expected {}, found {} in matrix {}", call.op.name, others(way),
              expected, found, i + 1);
  });
  if (int64_t cells = 0; __builtin_mul_overflow(meta.rows, meta.cols, &cells))
    call.fail("{}: too many cells, expected rows * cols below 2^63, found {}", call.op.name, dims(meta));
  with_real(call.ctx,
            [&](auto zero) { call.set(bind<decltype(zero)>(call.ctx, way, std::move(parts), meta.rows, meta.cols)); });
}

void bind_list(Call& call, Way way) {
  Parts parts;
  const List& list = *std::get<ListRef>(*call.in[0]);
  parts.reserve(list.entries.size());
  for (size_t i = 0; i < list.entries.size(); ++i) {
    const auto* m = std::get_if<MatrixRef>(&list.entries[i]);
    if (m == nullptr)
      call.fail("{}: expected a list of matrices, found {} as entry {}", call.op.name, name(kind_of(list.entries[i])),
                i + 1);
    parts.push_back(*m);
  }
  bind_parts(call, way, std::move(parts));
}

void run_bind(Call& call, Way way) {
  const size_t n = call.in.size();
  if (call.kind(0) == Kind::list) {
    if (n == 1) return bind_list(call, way);
    ListRef list = std::get<ListRef>(call.take_value(0));
    for (size_t i = 1; i < n; ++i) list = append_to_list(std::move(list), *call.in[i]);
    call.out[0] = std::move(list);
    return;
  }
  if (call.kind(0) == Kind::string) {
    std::string text = std::get<std::string>(call.take_value(0));
    for (size_t i = 1; i < n; ++i) text.append("\n").append(call.string(i));
    call.out[0] = std::move(text);
    return;
  }
  // An input that stands twice must not be moved out of its slot.
  const bool alone = std::find(call.in.begin() + 1, call.in.end(), call.in[0]) == call.in.end();
  Parts parts;
  parts.reserve(n);
  parts.push_back(alone ? std::get<MatrixRef>(call.take_value(0)) : call.matrix_ref(0));
  for (size_t i = 1; i < n; ++i) parts.push_back(call.matrix_ref(i));
  bind_parts(call, way, std::move(parts));
}

}  // namespace

void infer_rbind(InferCall& c) { infer_bind(c, Way::down); }
void infer_cbind(InferCall& c) { infer_bind(c, Way::across); }
void run_rbind(Call& call) { run_bind(call, Way::down); }
void run_cbind(Call& call) { run_bind(call, Way::across); }

}  // namespace hopline
