#include "runtime/exec/result_merge.h"

#include <cstring>

#include "runtime/base/parallel.h"
#include "runtime/ops/apply.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 16;

// Bits, so that a NaN that was written counts as written and one that stood before does not.
template <class T>
bool differs(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) != 0;
}

template <class T>
MatrixRef merge(Context& ctx, const MatrixRef& before, const std::vector<MatrixRef>& changed, const Span& span) {
  for (const MatrixRef& m : changed)
    if (m->rows() != before->rows() || m->cols() != before->cols())
      fail(span, "a parfor result changed its size from {}x{} to {}x{}", before->rows(), before->cols(), m->rows(),
           m->cols());
  const MatrixRef old = to_dense<T>(ctx, before);
  std::vector<MatrixRef> dense;
  for (const MatrixRef& m : changed) dense.push_back(to_dense<T>(ctx, m));
  auto out = new_dense<T>(ctx, before->rows(), before->cols());
  const T* base = old->dense<T>();
  T* cells = out->template dense<T>();
  parallel_chunks(old->cells(), kGrain, ctx.threads, [&](int64_t begin, int64_t end) {
    std::copy(base + begin, base + end, cells + begin);
    for (const MatrixRef& m : dense) {
      const T* from = m->dense<T>();
      for (int64_t i = begin; i < end; ++i)
        if (differs(from[i], base[i])) cells[i] = from[i];
    }
  });
  return before->is_sparse() ? settle<T>(ctx, std::move(out)) : MatrixRef(std::move(out));
}

}  // namespace

void merge_results(Context& ctx, const Value& before, std::vector<std::vector<Value>>& after, int32_t slot,
                   Value& result, const Span& span) {
  const auto s = static_cast<size_t>(slot);
  if (const auto* old = std::get_if<MatrixRef>(&before)) {
    std::vector<MatrixRef> changed;
    for (auto& task : after)
      if (const auto* m = std::get_if<MatrixRef>(&task[s]); m != nullptr && m->get() != old->get())
        changed.push_back(*m);
    if (changed.empty()) return;
    result = with_real(ctx, [&](auto real) { return merge<decltype(real)>(ctx, *old, changed, span); });
  } else if (const auto* list = std::get_if<ListRef>(&before)) {
    auto merged = std::make_shared<List>(**list);
    for (auto& task : after) {
      const auto* mine = std::get_if<ListRef>(&task[s]);
      if (mine == nullptr || mine->get() == list->get()) continue;
      for (size_t k = 0; k < merged->entries.size() && k < (*mine)->entries.size(); ++k)
        if ((*mine)->entries[k] != (*list)->entries[k]) merged->entries[k] = (*mine)->entries[k];
    }
    result = ListRef(std::move(merged));
  }
}

Value nothing_added(Context& ctx, const Value& before) {
  switch (kind_of(before)) {
    case Kind::integer:
      return int64_t{0};
    case Kind::boolean:
    case Kind::real:
      return 0.0;
    case Kind::string:
      return std::string();
    case Kind::matrix:
      return new_zeros(ctx, std::get<MatrixRef>(before)->rows(), std::get<MatrixRef>(before)->cols());
    default:
      return before;
  }
}

void add_results(Context& ctx, std::vector<std::vector<Value>>& after, int32_t slot, Value& result, const Span& span) {
  static const Op& plus = op("+", 2);
  for (auto& task : after)
    result = apply(ctx, plus, {std::move(result), std::move(task[static_cast<size_t>(slot)])}, {}, span).front();
}

}  // namespace hopline
