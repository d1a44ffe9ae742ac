#include "frontend/check/operator_kinds.h"

#include <fmt/format.h>

#include <bit>

#include "runtime/ops/infer.h"

namespace hopline {

namespace {

constexpr size_t kMostChoices = 16;  // of kinds of all arguments; past it any kind may result

// Sizes are unknown, of the values only literals are known.
struct KindInfer : InferCall {
  KindInfer(const Op& op, std::span<const Meta> in, std::span<Meta> out, const Span& span,
            std::span<const std::string> names, std::span<const Literal* const> literals)
      : InferCall(op, in, out, span, names), literals_(literals), values_(in.size()) {}
  const Value* value(size_t i) override {
    if (literals_[i] == nullptr) return nullptr;
    std::visit([&](const auto& v) { values_[i] = v; }, literals_[i]->value);
    return &values_[i];
  }

 private:
  std::span<const Literal* const> literals_;
  std::vector<Value> values_;
};

Kind first_kind(Kinds set) { return static_cast<Kind>(std::countr_zero(static_cast<unsigned>(set))); }

Kind next_kind(Kinds set, Kind after) {
  const unsigned later = set & ~((2u << static_cast<unsigned>(after)) - 1);
  return later == 0 ? Kind::unknown : static_cast<Kind>(std::countr_zero(later));
}

bool is_infix(const Op& row) {
  const char c = row.name[0];
  return !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z');
}

// A read's kind stands in its .mtd file, which may not exist yet.
Kinds kinds_of_read(const Op& row, std::span<const Literal* const> literals) {
  for (size_t i = 0; i < literals.size(); ++i) {
    if (row.params.list[i].name != "data_type" || literals[i] == nullptr) continue;
    const auto* text = std::get_if<std::string>(&literals[i]->value);
    if (text != nullptr && *text == "scalar") return kScalar;
    if (text != nullptr && *text == "frame") return kFrame;
    if (text != nullptr && *text == "list") return kList;
  }
  return kAny;
}

}  // namespace

Kind kind_of(const Literal& literal) {
  constexpr Kind kKinds[] = {Kind::boolean, Kind::integer, Kind::real, Kind::string};
  return kKinds[literal.value.index()];
}

std::string describe(Kinds set) {
  set &= kAny;
  if (set == kAny) return "value";
  std::vector<std::string_view> words;
  if ((set & kScalar) == kScalar) {
    words.push_back("scalar");
    set &= static_cast<Kinds>(~kScalar);
  } else if ((set & kNumber) == kNumber) {
    words.push_back("number");
    set &= static_cast<Kinds>(~kNumber);
  }
  for (Kind k = Kind::boolean; k <= Kind::list; k = static_cast<Kind>(static_cast<int>(k) + 1))
    if ((set & kinds(k)) != 0) words.push_back(name(k));
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

// Leaves of each argument the kinds that its parameter accepts.
std::optional<std::string> OperatorKinds::narrow(const Op& row, std::span<const Operand> in) {
  accepted_.clear();
  literals_.clear();
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t at = i < row.params.count ? i : row.params.count - size_t{1};
    const Param& p = row.params.list[at];
    const Kinds accepts = in[i].kinds == kNone ? kNone : p.accepts;
    accepted_.push_back(in[i].kinds & accepts);
    literals_.push_back(in[i].literal);
    if (accepted_.back() != 0) continue;
    if (is_infix(row))
      return fmt::format("wrong operand of {}: expected {}, found {}", row.name, describe(accepts),
                         describe(in[i].kinds));
    return fmt::format("wrong argument '{}' of {}: expected {}, found {}", p.name, row.name, describe(accepts),
                       describe(in[i].kinds));
  }
  return std::nullopt;
}

// The kinds in choice_.
std::optional<std::string> OperatorKinds::infer_one(const Op& row, const Span& span, std::span<const std::string> names,
                                                    std::vector<Kinds>& out) {
  std::vector<Meta> in(choice_.size()), metas(row.outputs);
  for (size_t i = 0; i < choice_.size(); ++i) in[i].kind = choice_[i];
  KindInfer call(row, in, metas, span, names, literals_);
  try {
    row.infer(call);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::script) throw;
    return std::string(e.what());
  }
  for (size_t k = 0; k < metas.size(); ++k) out[k] |= metas[k].kind == Kind::unknown ? kAny : kinds(metas[k].kind);
  return std::nullopt;
}

std::optional<std::string> OperatorKinds::infer(const Op& row, const Span& span, std::span<const Operand> in,
                                                std::span<const std::string> names, std::vector<Kinds>& out) {
  out.assign(std::max<size_t>(row.outputs, 1), 0);
  if (auto problem = narrow(row, in)) return problem;
  const auto any = [&out] { out.assign(out.size(), kAny); };
  const bool reads_file = row.name == "read";
  if (reads_file) literals_[0] = nullptr;
  size_t choices = 1;
  choice_.resize(in.size());
  for (size_t i = 0; i < in.size() && choices <= kMostChoices; ++i) {
    choices *= static_cast<size_t>(std::popcount(static_cast<unsigned>(accepted_[i])));
    choice_[i] = first_kind(accepted_[i]);
  }
  if (row.infer == nullptr || choices > kMostChoices) {
    any();
    return std::nullopt;
  }
  std::optional<std::string> first_problem;
  bool works = false;
  for (bool more = true; more;) {
    if (auto problem = infer_one(row, span, names, out); !problem)
      works = true;
    else if (!first_problem)
      first_problem = std::move(problem);
    more = false;
    for (size_t i = 0; i < in.size() && !more; ++i) {
      const Kind next = next_kind(accepted_[i], choice_[i]);
      more = next != Kind::unknown;
      choice_[i] = more ? next : first_kind(accepted_[i]);
    }
  }
  if (!works) return first_problem;
  if (row.outputs == 0) any();
  if (reads_file) out[0] = kinds_of_read(row, literals_);
  return std::nullopt;
}

}  // namespace hopline
