#include "planner/lower/scalar_kinds.h"

#include <algorithm>
#include <bit>

#include "runtime/ops/apply.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

constexpr size_t kMostCombinations = 512;

struct KindInfer : InferCall {
  KindInfer(const Op& op, std::span<const Meta> in, std::span<Meta> out, std::span<const std::string> names)
      : InferCall(op, in, out, {}, names) {}
};

// Of the outputs for one combination; false when it is not accepted.
bool infer_kinds(const Op& op, const std::vector<Kind>& in, std::span<const std::string> names,
                 std::vector<Kinds>& out) {
  std::vector<Meta> metas, results(op.outputs);
  for (const Kind k : in) {
    Meta m = scalar_meta(k);
    if (k == Kind::list) m.cols = 1;
    metas.push_back(m);
  }
  KindInfer infer(op, metas, results, names);
  try {
    check_kinds(op, in, {});
    if (op.infer != nullptr) op.infer(infer);
  } catch (const Error&) {
    return false;
  }
  for (size_t k = 0; k < results.size(); ++k)
    out[k] |= results[k].kind == Kind::unknown ? kAny : kinds(results[k].kind);
  return true;
}

}  // namespace

Kind only(Kinds set) {
  return is_one(set) ? static_cast<Kind>(std::countr_zero(static_cast<unsigned>(set))) : Kind::unknown;
}

std::vector<Kinds> output_kinds(const Op& op, std::span<const Kinds> in, std::span<const std::string> names,
                                bool& certain) {
  std::vector<std::vector<Kind>> choices(in.size());
  size_t combinations = 1;
  for (size_t i = 0; i < in.size(); ++i) {
    for (unsigned k = 1; k <= static_cast<unsigned>(Kind::list); ++k)
      if ((in[i] >> k & 1) != 0) choices[i].push_back(static_cast<Kind>(k));
    combinations = std::min(combinations * choices[i].size(), kMostCombinations + 1);
  }
  certain = true;
  std::vector<Kinds> out(op.outputs);
  if (combinations > kMostCombinations) {  // too many to try: anything
    certain = false;
    std::fill(out.begin(), out.end(), kAny);
    return out;
  }
  bool any = false;
  std::vector<Kind> now(in.size());
  for (size_t c = 0; c < combinations; ++c) {
    size_t rest = c;
    for (size_t i = 0; i < in.size(); ++i) now[i] = choices[i][rest % choices[i].size()], rest /= choices[i].size();
    const bool fits = infer_kinds(op, now, names, out);
    any = any || fits;
    certain = certain && fits;
  }
  if (!any) return {};
  return out;
}

}  // namespace hopline
