#include "planner/hop/builder.h"

#include "runtime/ops/apply.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

struct HopInfer : InferCall {
  HopInfer(Builder& builder, const Op& op, const std::vector<const Hop*>& hops, std::span<const Meta> in,
           std::span<Meta> out, const Span& span, std::span<const std::string> names)
      : InferCall(op, in, out, span, names), builder_(builder), hops_(hops) {}
  const Value* value(size_t i) override { return builder_.known(hops_[i]); }
  int64_t range_size(size_t lo, size_t hi) override { return builder_.range_size(hops_[lo], hops_[hi]); }

 private:
  Builder& builder_;
  const std::vector<const Hop*>& hops_;
};

}  // namespace

const Value* Builder::known(const Hop* hop) {
  if (hops::is_literal(*hop)) return &hop->literal;
  return facts_ == nullptr || !is_scalar(hop->meta.kind) ? nullptr : facts_->known(hop);
}

int64_t Builder::range_size(const Hop* lo, const Hop* hi) {
  if (lo == hi) return 1;
  if (!is_scalar(lo->meta.kind) || !is_scalar(hi->meta.kind) || lo->meta.kind == Kind::string ||
      hi->meta.kind == Kind::string)
    return -1;
  static const Op& minus = op("-", 2);
  // The bounds as integers first: X[2.9,] is row 2.
  const auto whole = [&](const Hop* h) {
    static const Op& cast = op("as.integer", 1);
    return h->meta.kind == Kind::integer ? h : make(cast, {h}, h->span);
  };
  const Value* size = known(make(minus, {whole(hi), whole(lo)}, hi->span));
  return size == nullptr ? -1 : std::get<int64_t>(*size) + 1;
}

const Hop* Builder::fold(const Op& op, const std::vector<const Hop*>& in, const Span& span,
                         const std::vector<std::string>& names) {
  if (op.laws.purity != Purity::pure || op.outputs != 1 || in.empty()) return nullptr;
  for (const Hop* h : in)
    if (!hops::is_literal(*h)) return nullptr;
  std::vector<Value> values;
  values.reserve(in.size());
  for (const Hop* h : in) values.push_back(h->literal);
  std::vector<Value> out = apply(context_, op, std::move(values), names, span);
  if (!is_scalar(kind_of(out.front()))) return nullptr;
  return dag_.literal(std::move(out.front()), span);
}

// nrow(X), ncol(X), length(X) of a matrix whose size is known; else null.
const Hop* Builder::size(const Op& op, const Hop* in, const Span& span) {
  static const Op &nrow = hopline::op("nrow", 1), &ncol = hopline::op("ncol", 1), &length = hopline::op("length", 1);
  if (in->meta.kind != Kind::matrix || (&op != &nrow && &op != &ncol && &op != &length)) return nullptr;
  int64_t n = &op == &nrow ? in->meta.rows : in->meta.cols;
  if (n < 0) return nullptr;
  if (&op == &length && (in->meta.rows < 0 || __builtin_mul_overflow(n, in->meta.rows, &n))) return nullptr;
  if (facts_ != nullptr) facts_->only_size_read(in);
  return literal(n, span);
}

const Hop* Builder::make(std::string_view name, std::vector<const Hop*> in, const Span& span) {
  const Op& row = op(name, in.size());
  for (size_t i = in.size(); i < row.params.count && !row.params.variadic; ++i)
    in.push_back(dag_.literal(default_value(row.params.list[i]), span));
  return make(row, std::move(in), span);
}

const Hop* Builder::make(const Op& op, std::vector<const Hop*> in, const Span& span, std::vector<std::string> names) {
  std::vector<Kind> kinds;
  kinds.reserve(in.size());
  for (const Hop* h : in) kinds.push_back(h->meta.kind);
  check_kinds(op, kinds, span);
  std::vector<Meta> metas, outputs(std::max<size_t>(op.outputs, 1));
  metas.reserve(in.size());
  bool scalars = true;
  for (const Hop* h : in) {
    metas.push_back(h->meta);
    scalars = scalars && (is_scalar(h->meta.kind) || h->meta.kind == Kind::none);
  }
  HopInfer infer(*this, op, in, metas, {outputs.data(), op.outputs}, span, names);
  if (op.infer != nullptr) op.infer(infer);
  if (in.size() == 1)
    if (const Hop* known_size = size(op, in[0], span)) return known_size;
  if (scalars && op.outputs == 1 && is_scalar(outputs[0].kind))
    if (const Hop* constant = fold(op, in, span, names)) return constant;
  Hop h;
  h.op = &op;
  h.names = std::move(names);
  h.meta = outputs.front();
  h.span = span;
  if (op.laws.purity == Purity::effect) h.index = serial_++;
  // A draw with a seed of its own is pure: equal calls give equal matrices.
  if (op.laws.purity == Purity::random) {
    bool seeded = false;
    for (size_t i = 0; i < in.size() && i < op.params.count; ++i)
      seeded =
          seeded || (op.params.list[i].name == "seed" && hops::is_literal(*in[i]) && !hops::is_literal(*in[i], -1));
    if (!seeded) h.index = serial_++;
  }
  if (op.outputs > 1) h.outputs = std::move(outputs);
  return dag_.make(std::move(h), std::move(in));
}

}  // namespace hopline
