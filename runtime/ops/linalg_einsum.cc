// einsum: sums of products over named indexes, two operands at a time through the dense product.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/cost.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/linalg.h"
#include "runtime/ops/matmul.h"

namespace hopline {

namespace {

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

bool holds(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

// "ij,jk->ik". At most two labels per operand and in the result.
Equation parse_equation(const Span& span, const std::string& text) {
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos) fail(span, "einsum expects an equation such as \"ij,jk->ik\", found \"{}\"", text);
  Equation e;
  e.operands.emplace_back();
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == arrow || i == arrow + 1 || c == ' ') continue;
    if (c == ',' && i < arrow) {
      e.operands.emplace_back();
      continue;
    }
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      fail(span, "einsum expects letters as indexes, found '{}' in \"{}\"", c, text);
    (i < arrow ? e.operands.back() : e.result) += c;
  }
  for (const std::string& labels : e.operands)
    if (labels.empty() || labels.size() > 2)
      fail(span, "einsum expects one or two indexes per operand, found \"{}\" in \"{}\"", labels, text);
  if (e.result.size() > 2) fail(span, "einsum expects at most two indexes in the result, found \"{}\"", e.result);
  if (e.result.size() == 2 && e.result[0] == e.result[1])
    fail(span, "einsum expects different indexes in the result, found \"{}\"", e.result);
  for (const char label : e.result)
    if (std::none_of(e.operands.begin(), e.operands.end(), [&](const std::string& o) { return holds(o, label); }))
      fail(span, "einsum expects each index of the result in an operand, found '{}' in \"{}\"", label, text);
  return e;
}

// Sizes by label; -1 while unknown.
struct Sizes {
  int64_t of[128];
  Sizes() { std::fill(std::begin(of), std::end(of), int64_t{-1}); }
  void set(const Span& span, char label, int64_t size) {
    int64_t& known = of[static_cast<size_t>(label)];
    if (size < 0) return;
    if (known >= 0 && known != size)
      fail(span, "einsum expects one size per index, found {} and {} for '{}'", known, size, label);
    known = size;
  }
};

void note_sizes(const Span& span, const std::string& labels, const Meta& m, Sizes& sizes) {
  if (labels.size() == 2) {
    sizes.set(span, labels[0], m.rows);
    sizes.set(span, labels[1], m.cols);
  } else if (m.sizes_known()) {
    if (m.rows != 1 && m.cols != 1) fail(span, "einsum expects a vector for index \"{}\", found {}", labels, dims(m));
    sizes.set(span, labels[0], m.rows == 1 ? m.cols : m.rows);
  }
}

// Dense cells, the last label fastest.
template <class T>
struct Tensor {
  std::string labels;
  std::vector<int64_t> sizes;
  std::shared_ptr<const MatrixBlock> block;  // cells as one row
  const T* cells() const { return block->dense<T>(); }
  int64_t size_of(char label) const { return sizes[labels.find(label)]; }
};

struct Work {
  Context& ctx;
  const Span& span;
};

int64_t checked_cells(const Work& w, const std::vector<int64_t>& sizes) {
  int64_t cells = 1;
  for (const int64_t n : sizes) {
    if (n > 0 && cells > INT64_MAX / 16 / n) fail(w.span, "einsum: an intermediate result is too large");
    cells *= n;
  }
  return cells;
}

template <class T>
std::shared_ptr<MatrixBlock> new_cells(const Work& w, const std::vector<int64_t>& sizes) {
  return new_dense<T>(w.ctx, 1, checked_cells(w, sizes));
}

// The tensor with its labels in another order. A repeated label in `labels` of the source reads its diagonal: it has
// the sum of both strides.
template <class T>
Tensor<T> arranged(const Work& w, const Tensor<T>& t, const std::string& order) {
  if (t.labels == order) return t;
  std::vector<int64_t> strides(order.size(), 0), sizes(order.size(), 1);
  for (size_t i = t.labels.size(), stride = 1; i-- > 0; stride *= static_cast<size_t>(t.sizes[i]))
    if (const size_t at = order.find(t.labels[i]); at != std::string::npos)
      strides[at] += static_cast<int64_t>(stride), sizes[at] = t.sizes[i];
  auto block = new_cells<T>(w, sizes);
  T* to = block->template dense<T>();
  const T* from = t.cells();
  std::vector<int64_t> at(order.size(), 0);
  const int64_t count = block->cells(), inner = order.empty() ? 1 : sizes.back();
  const int64_t step = order.empty() ? 0 : strides.back();
  for (int64_t done = 0, offset = 0; done < count; done += inner) {
    for (int64_t i = 0; i < inner; ++i) to[done + i] = from[offset + i * step];
    for (size_t d = order.size(); d-- > 1;) {
      offset += strides[d - 1];
      if (++at[d - 1] < sizes[d - 1]) break;
      offset -= strides[d - 1] * sizes[d - 1];
      at[d - 1] = 0;
    }
  }
  return {order, sizes, block};
}

// Sums over the labels that are not in `kept`.
template <class T>
Tensor<T> reduced(const Work& w, const Tensor<T>& t, const std::string& kept) {
  std::string stay, go;
  for (const char label : t.labels) (holds(kept, label) ? stay : go) += label;
  if (go.empty()) return t;
  const Tensor<T> sorted = arranged(w, t, stay + go);
  Tensor<T> out{stay, {sorted.sizes.begin(), sorted.sizes.begin() + static_cast<int64_t>(stay.size())}, nullptr};
  auto block = new_cells<T>(w, out.sizes);
  const int64_t count = block->cells();
  int64_t inner = 1;
  for (size_t i = stay.size(); i < sorted.sizes.size(); ++i) inner *= sorted.sizes[i];
  for (int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < inner; ++j) sum += static_cast<double>(sorted.cells()[i * inner + j]);
    block->template dense<T>()[i] = static_cast<T>(sum);
  }
  out.block = block;
  return out;
}

template <class T>
int64_t extent(const Tensor<T>& t, const std::string& labels) {
  int64_t n = 1;
  for (const char label : labels) n *= t.size_of(label);
  return n;
}

// The product of both, summed over the labels that are in both and not kept.
template <class T>
Tensor<T> contracted(const Work& w, const Tensor<T>& a, const Tensor<T>& b, const std::string& kept) {
  std::string batch, left, right, inner;
  for (const char label : a.labels) (!holds(b.labels, label) ? left : holds(kept, label) ? batch : inner) += label;
  for (const char label : b.labels)
    if (!holds(a.labels, label)) right += label;
  const Tensor<T> x = arranged(w, a, batch + left + inner), y = arranged(w, b, batch + inner + right);
  Tensor<T> out{batch + left + right, {}, nullptr};
  for (const char label : out.labels) out.sizes.push_back(holds(a.labels, label) ? a.size_of(label) : b.size_of(label));
  auto block = new_cells<T>(w, out.sizes);
  T* c = block->template dense<T>();
  const int64_t count = extent(a, batch), m = extent(a, left), n = extent(b, right), k = extent(a, inner);
  if (m == 1 && n == 1 && k == 1)
    for (int64_t i = 0; i < count; ++i) c[i] = x.cells()[i] * y.cells()[i];
  else
    for (int64_t i = 0; i < count; ++i)
      dense_product<T>(w.ctx, w.span, m, n, k, {x.cells() + i * m * k, k}, {y.cells() + i * k * n, n}, c + i * m * n);
  out.block = block;
  return out;
}

template <class T>
Tensor<T> operand(const Work& w, const std::string& labels, const MatrixRef& m) {
  const MatrixRef dense = to_dense<T>(w.ctx, m);
  if (labels.size() == 1) return {labels, {dense->cells()}, dense};
  Tensor<T> t{labels, {dense->rows(), dense->cols()}, dense};
  return labels[0] == labels[1] ? arranged(w, t, labels.substr(0, 1)) : t;
}

template <class T>
Tensor<T> evaluate(const Call& call, const Work& w, const Equation& e) {
  // What the operands from i on and the result still need.
  const auto needed_after = [&](size_t i) {
    std::string labels = e.result;
    for (; i < e.operands.size(); ++i) labels += e.operands[i];
    return labels;
  };
  Tensor<T> sum;
  for (size_t i = 0; i < e.operands.size(); ++i) {
    if (w.ctx.session != nullptr) w.ctx.session->poll(w.span);
    const std::string kept = needed_after(i + 1);
    Tensor<T> next = operand<T>(w, e.operands[i], call.matrix_ref(i + 1));
    next = reduced(w, next, kept + sum.labels);
    sum = i == 0 ? next : reduced(w, contracted(w, sum, next, kept), kept);
  }
  return arranged(w, sum, e.result);
}

}  // namespace

void infer_einsum(InferCall& c) {
  const auto text = c.string(0);
  if (!text) {
    c.out[0] = Meta{};
    return;
  }
  const Equation e = parse_equation(c.span, *text);
  if (e.operands.size() + 1 != c.in.size())
    c.fail("einsum expects one matrix per operand of \"{}\", found {}", *text, c.in.size() - 1);
  Sizes sizes;
  for (size_t i = 0; i < e.operands.size(); ++i) note_sizes(c.span, e.operands[i], c.in[i + 1], sizes);
  const auto size = [&](size_t i) { return i < e.result.size() ? sizes.of[static_cast<size_t>(e.result[i])] : 1; };
  c.out[0] = e.result.empty() ? scalar_meta(Kind::real) : matrix_meta(size(0), size(1));
}

// As evaluate() goes: each operand joins the product of those before it; labels that nobody needs later are summed.
Cost cost_einsum(const InferCall& c) {
  Cost cost;
  const Value* text = c.out[0].kind == Kind::unknown ? nullptr : const_cast<InferCall&>(c).value(0);
  if (text == nullptr) return cost;
  const Equation e = parse_equation(c.span, std::get<std::string>(*text));
  Sizes sizes;
  for (size_t i = 0; i < e.operands.size(); ++i) note_sizes(c.span, e.operands[i], c.in[i + 1], sizes);
  std::string held;
  for (size_t i = 0; i < e.operands.size(); ++i) {
    double cells = 1;
    for (const char label : e.operands[i])
      if (!holds(held, label)) held += label;
    for (const char label : held)
      cells *= static_cast<double>(std::max<int64_t>(0, sizes.of[static_cast<size_t>(label)]));
    cost.flops += i == 0 ? 0 : 2 * cells;
    cost.bytes_read += stored_bytes(c.in[i + 1]);
    std::string later = e.result;
    for (size_t k = i + 1; k < e.operands.size(); ++k) later += e.operands[k];
    std::erase_if(held, [&](char label) { return !holds(later, label); });
  }
  cost.bytes_written = stored_bytes(c.out[0]);
  return cost;
}

void einsum_kernel(Call& call) {
  const Equation e = parse_equation(call.span, call.string(0));
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    const Work w{call.ctx, call.span};
    const Tensor<T> t = evaluate<T>(call, w, e);
    if (e.result.empty()) {
      call.out[0] = static_cast<double>(t.cells()[0]);
      return;
    }
    auto out = new_dense<T>(call.ctx, t.sizes[0], t.sizes.size() > 1 ? t.sizes[1] : 1);
    std::copy_n(t.cells(), out->cells(), out->template dense<T>());
    call.set(out);
  });
}

}  // namespace hopline
