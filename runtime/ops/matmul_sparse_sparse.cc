// Sparse times sparse, row by row (Gustavson): a row of the result is the sum of the rows of b that a's entries name.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/matmul.h"

namespace hopline {

namespace {

constexpr int64_t kTaskWork = 1 << 18;         // multiplications of one task
constexpr int64_t kMostAccumulator = 1 << 22;  // columns up to which a task keeps one cell per column
constexpr int64_t kMostTasks = 256;

template <class T>
struct Rows {
  explicit Rows(const MatrixBlock& m)
      : count(m.rows()),
        cols(m.cols()),
        offsets(m.csr().offsets.as<int64_t>()),
        columns(m.csr().columns.as<int32_t>()),
        values(m.csr().values.as<T>()) {}
  int64_t count, cols;
  const int64_t* offsets;
  const int32_t* columns;
  const T* values;
  int64_t size(int64_t row) const { return offsets[row + 1] - offsets[row]; }
};

// Entries that grow, counted against the run's memory.
template <class T>
class Entries {
 public:
  void reserve(Context& ctx, int64_t more) {
    if (size_ + more <= capacity_) return;
    const int64_t wanted = std::max({int64_t{1024}, size_ + more, capacity_ * 2});
    Buffer columns = ctx.memory.allocate(static_cast<size_t>(wanted) * sizeof(int32_t));
    Buffer values = ctx.memory.allocate(static_cast<size_t>(wanted) * sizeof(T));
    if (size_ > 0) {
      std::memcpy(columns.as<int32_t>(), columns_.as<int32_t>(), static_cast<size_t>(size_) * sizeof(int32_t));
      std::memcpy(values.as<T>(), values_.as<T>(), static_cast<size_t>(size_) * sizeof(T));
    }
    columns_ = std::move(columns), values_ = std::move(values), capacity_ = wanted;
  }
  // A cell that came out as 0 is not kept. Room must be reserved.
  void push(int32_t column, T value) {
    columns_.as<int32_t>()[size_] = column;
    values_.as<T>()[size_] = value;
    size_ += value != 0;
  }
  int64_t size() const { return size_; }
  const int32_t* columns() const { return columns_.as<int32_t>(); }
  const T* values() const { return values_.as<T>(); }

 private:
  Buffer columns_, values_;
  int64_t size_ = 0, capacity_ = 0;
};

// One task's place for the row in work. Which columns are filled stands in a bit set with a summary of its words, so
// that they come out in order without sorting.
template <class T>
class RowSum {
 public:
  RowSum(Context& ctx, int64_t cols) : ctx_(ctx), cols_(cols) {
    if (cols > kMostAccumulator) return;
    sums_ = ctx.memory.allocate(static_cast<size_t>(cols) * sizeof(T));
    filled_.resize(static_cast<size_t>(cols / 64 + 1));
    summary_.resize(filled_.size() / 64 + 1);
  }

  void add_row(const Rows<T>& a, const Rows<T>& b, int64_t row, int64_t work, Entries<T>& out) {
    out.reserve(ctx_, std::min(work, cols_));
    const int64_t begin = a.offsets[row], end = a.offsets[row + 1];
    if (end - begin == 1) return copy_row(b, a.columns[begin], a.values[begin], out);
    if (cols_ > kMostAccumulator)
      sort_products(a, b, begin, end, out);
    else
      accumulate(a, b, begin, end, out);
  }

 private:
  void copy_row(const Rows<T>& b, int64_t row, T factor, Entries<T>& out) {
    for (int64_t e = b.offsets[row]; e < b.offsets[row + 1]; ++e) out.push(b.columns[e], factor * b.values[e]);
  }

  void accumulate(const Rows<T>& a, const Rows<T>& b, int64_t begin, int64_t end, Entries<T>& out) {
    T* sums = sums_.as<T>();
    uint64_t *filled = filled_.data(), *summary = summary_.data();
    for (int64_t e = begin; e < end; ++e) {
      const T factor = a.values[e];
      const int64_t p = a.columns[e];
      for (int64_t g = b.offsets[p]; g < b.offsets[p + 1]; ++g) {
        const auto c = static_cast<uint32_t>(b.columns[g]);
        const uint64_t bit = uint64_t{1} << (c % 64);
        const T product = factor * b.values[g];
        if ((filled[c / 64] & bit) != 0) {
          sums[c] += product;
        } else {
          sums[c] = product;
          filled[c / 64] |= bit;
          summary[c / 4096] |= uint64_t{1} << (c / 64 % 64);
        }
      }
    }
    for (size_t s = 0; s < summary_.size(); ++s)
      for (; summary[s] != 0; summary[s] &= summary[s] - 1) {
        const size_t word = s * 64 + static_cast<size_t>(std::countr_zero(summary[s]));
        for (; filled[word] != 0; filled[word] &= filled[word] - 1) {
          const size_t c = word * 64 + static_cast<size_t>(std::countr_zero(filled[word]));
          out.push(static_cast<int32_t>(c), sums[c]);
        }
      }
  }

  // For very many columns: all products, sorted by column and then by their order in the sum.
  void sort_products(const Rows<T>& a, const Rows<T>& b, int64_t begin, int64_t end, Entries<T>& out) {
    products_.clear();
    for (int64_t e = begin; e < end; ++e)
      for (int64_t g = b.offsets[a.columns[e]]; g < b.offsets[a.columns[e] + 1]; ++g)
        products_.push_back({b.columns[g], static_cast<int64_t>(products_.size()), a.values[e] * b.values[g]});
    std::sort(products_.begin(), products_.end(), [](const Product& x, const Product& y) {
      return x.column != y.column ? x.column < y.column : x.order < y.order;
    });
    for (size_t i = 0; i < products_.size();) {
      T sum = products_[i].value;
      size_t next = i + 1;
      for (; next < products_.size() && products_[next].column == products_[i].column; ++next)
        sum += products_[next].value;
      out.push(products_[i].column, sum);
      i = next;
    }
  }

  struct Product {
    int32_t column;
    int64_t order;
    T value;
  };
  Context& ctx_;
  int64_t cols_;
  Buffer sums_;
  std::vector<uint64_t> filled_, summary_;
  std::vector<Product> products_;
};

// Multiplications of the rows before each row.
template <class T>
Buffer count_work(Context& ctx, const Rows<T>& a, const Rows<T>& b) {
  Buffer before = ctx.memory.allocate(static_cast<size_t>(a.count + 1) * sizeof(int64_t));
  auto* w = before.as<int64_t>();
  w[0] = 0;
  for (int64_t i = 0; i < a.count; ++i) {
    w[i + 1] = w[i];
    for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; ++e) w[i + 1] += b.size(a.columns[e]);
  }
  return before;
}

template <class T>
MatrixRef dense_result(Context& ctx, const Span& span, const Rows<T>& a, const Rows<T>& b) {
  auto out = new_dense<T>(ctx, a.count, b.cols);
  T* c = out->template dense<T>();
  const int64_t n = b.cols, tasks = std::min(a.count, kMostTasks), grain = (a.count + tasks - 1) / tasks;
  parallel_chunks(a.count, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    if (ctx.session != nullptr) ctx.session->poll(span);
    std::fill(c + begin * n, c + end * n, T{0});
    for (int64_t i = begin; i < end; ++i)
      for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
        const T factor = a.values[e];
        const int64_t p = a.columns[e];
        for (int64_t g = b.offsets[p]; g < b.offsets[p + 1]; ++g) c[i * n + b.columns[g]] += factor * b.values[g];
      }
  });
  return settle<T>(ctx, std::move(out));
}

template <class T>
std::shared_ptr<MatrixBlock> joined(Context& ctx, const std::vector<Entries<T>>& pieces, const Buffer& sizes,
                                    int64_t rows, int64_t cols) {
  int64_t nnz = 0;
  std::vector<int64_t> starts;
  for (const Entries<T>& p : pieces) starts.push_back(nnz), nnz += p.size();
  auto out = new_sparse<T>(ctx, rows, cols, nnz);
  auto* offsets = out->csr().offsets.template as<int64_t>();
  offsets[0] = 0;
  for (int64_t i = 0; i < rows; ++i) offsets[i + 1] = offsets[i] + sizes.as<int64_t>()[i];
  parallel_for(static_cast<int64_t>(pieces.size()), ctx.threads, [&](int64_t t) {
    const auto i = static_cast<size_t>(t);
    if (pieces[i].size() == 0) return;
    std::memcpy(out->csr().columns.template as<int32_t>() + starts[i], pieces[i].columns(),
                static_cast<size_t>(pieces[i].size()) * sizeof(int32_t));
    std::memcpy(out->csr().values.template as<T>() + starts[i], pieces[i].values(),
                static_cast<size_t>(pieces[i].size()) * sizeof(T));
  });
  return out;
}

}  // namespace

template <class T>
MatrixRef sparse_times_sparse(Context& ctx, const Span& span, const MatrixRef& left, const MatrixRef& right) {
  const Rows<T> a(*left), b(*right);
  if (b.cols == 1) return sparse_times_dense<T>(ctx, span, *left, *to_dense<T>(ctx, right));
  const Buffer work = count_work(ctx, a, b);
  const auto* before = work.as<int64_t>();
  const double total = static_cast<double>(before[a.count]);
  // Share of filled cells if the products fell on random ones.
  const double density = 1 - std::exp(-total / (static_cast<double>(a.count) * static_cast<double>(b.cols)));
  if (density >= kSparse) return dense_result(ctx, span, a, b);
  const double least = static_cast<double>(std::max(kTaskWork, std::min(b.cols, kMostAccumulator)));
  const auto tasks = static_cast<int64_t>(std::clamp(total / least, 1.0, static_cast<double>(kMostTasks)));
  Buffer sizes = ctx.memory.allocate(static_cast<size_t>(a.count) * sizeof(int64_t));
  std::vector<Entries<T>> pieces(static_cast<size_t>(tasks));
  parallel_for(tasks, tasks == 1 ? 1 : ctx.threads, [&](int64_t task) {
    // Rows whose work begins in this task's share of the whole.
    const auto border = [&](int64_t t) {
      if (t >= tasks) return a.count;
      const auto share = static_cast<int64_t>(total / static_cast<double>(tasks) * static_cast<double>(t));
      return t == 0 ? 0 : std::min<int64_t>(a.count, std::lower_bound(before, before + a.count, share) - before);
    };
    RowSum<T> sum(ctx, b.cols);
    Entries<T>& out = pieces[static_cast<size_t>(task)];
    for (int64_t i = border(task); i < border(task + 1); ++i) {
      if (ctx.session != nullptr && i % 1024 == 0) ctx.session->poll(span);
      const int64_t size = out.size();
      if (before[i + 1] > before[i]) sum.add_row(a, b, i, before[i + 1] - before[i], out);
      sizes.as<int64_t>()[i] = out.size() - size;
    }
  });
  return settle<T>(ctx, joined(ctx, pieces, sizes, a.count, b.cols));
}

template MatrixRef sparse_times_sparse<double>(Context&, const Span&, const MatrixRef&, const MatrixRef&);
template MatrixRef sparse_times_sparse<float>(Context&, const Span&, const MatrixRef&, const MatrixRef&);

}  // namespace hopline
