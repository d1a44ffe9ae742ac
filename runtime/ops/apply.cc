#include "runtime/ops/apply.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "runtime/ops/infer.h"

namespace hopline {

namespace {

struct KnownInfer : InferCall {
  KnownInfer(const Op& op, std::span<const Meta> in, std::span<Meta> out, const Span& span,
             std::span<const std::string> names, std::span<const Value* const> values)
      : InferCall(op, in, out, span, names), values_(values) {}
  const Value* value(size_t i) override { return is_scalar(in[i].kind) ? values_[i] : nullptr; }
  int64_t range_size(size_t lo, size_t hi) override {
    const auto l = integer(lo), h = integer(hi);
    return l && h ? *h - *l + 1 : -1;
  }

 private:
  std::span<const Value* const> values_;
};

std::string expected_kinds(Kinds accepts) {
  std::string out;
  const auto add = [&](std::string_view word) { out += (out.empty() ? "" : " or ") + std::string(word); };
  if ((accepts & kMatrix) != 0) add("matrix");
  if ((accepts & kNumber) == kNumber)
    add("number");
  else
    for (const Kind k : {Kind::boolean, Kind::integer, Kind::real})
      if ((accepts & kinds(k)) != 0) add(name(k));
  if ((accepts & kString) != 0) add("string");
  if ((accepts & kList) != 0) add("list");
  if ((accepts & kFrame) != 0) add("frame");
  return out;
}

}  // namespace

void check_kinds(const Op& op, std::span<const Kind> in, const Span& span) {
  const Params& params = op.params;
  for (size_t i = 0; i < in.size() && params.count > 0; ++i) {
    const Kind k = in[i];
    const Param& p = params.list[std::min<size_t>(i, params.count - 1u)];
    if (k == Kind::unknown || (p.accepts & kinds(k)) != 0 || (k == Kind::none && !p.required())) continue;
    fail(span, "wrong kind of argument in {}: {} expected {}, found {}", op.name, p.name, expected_kinds(p.accepts),
         name(k));
  }
}

const Kernel* find_kernel(const Call& call) {
  for (const Kernel& k : call.op.kernels)
    if (k.accepts == nullptr || k.accepts(call)) return &k;
  return nullptr;
}

void run_kernel(Call& call) {
  const Kernel* kernel = find_kernel(call);
  if (kernel == nullptr) call.fail("{} does not take these arguments", call.op.name);
  kernel->run(call);
}

std::vector<Meta> infer_values(const Op& op, std::span<const Value* const> in, std::span<const std::string> names,
                               const Span& span) {
  std::vector<Meta> metas, out(op.outputs);
  metas.reserve(in.size());
  for (const Value* v : in) metas.push_back(meta_of(*v));
  KnownInfer call(op, metas, out, span, names, in);
  if (op.infer != nullptr) op.infer(call);
  return out;
}

void check_sizes(const Call& call) {
  std::vector<const Value*> in(call.in.begin(), call.in.end());
  infer_values(call.op, in, call.names, call.span);
}

std::vector<Value> apply(Context& ctx, const Op& op, std::vector<Value> in, std::vector<std::string> names,
                         const Span& span) {
  for (size_t i = in.size(); i < op.params.count && !(op.params.variadic && i + 1 == op.params.count); ++i)
    in.push_back(default_value(op.params.list[i]));
  std::vector<Value*> pointers;
  pointers.reserve(in.size());
  for (Value& v : in) pointers.push_back(&v);
  std::vector<Value> out(op.outputs);
  Call call{ctx, op, pointers, out, 0, span, names};
  check_sizes(call);
  run_kernel(call);
  return out;
}

Value default_value(const Param& param) {
  const std::string_view text = param.default_text;
  HOPLINE_CHECK(!text.empty());
  if (text == "none") return {};
  if (text == "TRUE" || text == "FALSE") return text == "TRUE";
  if (text.front() == '"') {
    if (text == "\"\\n\"") return std::string("\n");
    return std::string(text.substr(1, text.size() - 2));
  }
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) return whole;
  return std::strtod(std::string(text).c_str(), nullptr);
}

}  // namespace hopline
