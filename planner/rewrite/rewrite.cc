#include "planner/rewrite/rewrite.h"

#include <cctype>
#include <mutex>
#include <unordered_map>

#include "frontend/syntax/parse.h"
#include "runtime/ops/apply.h"

namespace hopline {

namespace {

constexpr int kMostFirings = 16;  // of rules on one hop; rules shrink what they touch, so this is never reached

// Both sides of every rule as trees, and the rules by the operator at the root of their pattern. Made at first use.
struct ParsedRule {
  const Rule* rule;
  const Expr *pattern, *replacement;
};
struct RuleBook {
  Ast ast;
  SourceFiles files;
  std::vector<ParsedRule> all;
  std::unordered_map<const Op*, std::vector<const ParsedRule*>> by_root;
};

const Op* root_op(const Expr& e) {
  if (const auto* o = std::get_if<Operator>(&e.node)) return find_op(o->symbol, o->operands.size());
  if (const auto* c = std::get_if<CallExpr>(&e.node)) return find_op(c->name, c->arguments.size());
  return nullptr;
}

std::vector<const Expr*> operands(const Expr& e) {
  std::vector<const Expr*> out;
  if (const auto* o = std::get_if<Operator>(&e.node)) out.assign(o->operands.begin(), o->operands.end());
  if (const auto* c = std::get_if<CallExpr>(&e.node))
    for (const Argument& a : c->arguments) out.push_back(a.value);
  return out;
}

const RuleBook& book() {
  static RuleBook* const kBook = [] {
    auto* b = new RuleBook;
    const auto tree = [&](const Rule& r, std::string_view text) {
      return parse_expression(b->ast, b->files, b->files.add(std::string(r.name), std::string(text)));
    };
    for (const Rule& r : rules()) b->all.push_back({&r, tree(r, r.pattern), tree(r, r.replacement)});
    for (const ParsedRule& p : b->all) {
      const Op* root = root_op(*p.pattern);
      HOPLINE_CHECK(root != nullptr);
      b->by_root[root].push_back(&p);
    }
    return b;
  }();
  return *kBook;
}

bool matches(const Expr& pattern, const Hop* hop, Match& m) {
  if (const auto* n = std::get_if<Name>(&pattern.node)) {
    const bool matrix = std::isupper(static_cast<unsigned char>(n->name[0])) != 0;
    if (matrix ? hop->meta.kind != Kind::matrix : !is_scalar(hop->meta.kind)) return false;
    return m.bind(n->name, hop);
  }
  if (const auto* l = std::get_if<Literal>(&pattern.node)) {
    if (const auto* i = std::get_if<int64_t>(&l->value)) return hops::is_literal(*hop, static_cast<double>(*i));
    if (const auto* d = std::get_if<double>(&l->value)) return hops::is_literal(*hop, *d);
    return false;
  }
  const Op* op = root_op(pattern);
  const std::vector<const Expr*> in = operands(pattern);
  if (hop->op != op || hop->in.size() < in.size()) return false;
  const auto in_order = [&](bool swapped, Match& out) {
    for (size_t i = 0; i < in.size(); ++i)
      if (!matches(*in[swapped ? in.size() - 1 - i : i], hop->in[i], out)) return false;
    return true;
  };
  Match straight = m;
  if (in_order(false, straight)) {
    m = std::move(straight);
    return true;
  }
  return op->laws.commutative && in.size() == 2 && in_order(true, m);
}

const Hop* instantiate(const Expr& e, const Match& m, Builder& builder, const Span& span) {
  if (const auto* n = std::get_if<Name>(&e.node)) return m[n->name];
  if (const auto* l = std::get_if<Literal>(&e.node))
    return builder.literal(std::visit([](const auto& v) { return Value(v); }, l->value), span);
  std::vector<const Hop*> in;
  for (const Expr* operand : operands(e)) in.push_back(instantiate(*operand, m, builder, span));
  const auto* o = std::get_if<Operator>(&e.node);
  return builder.make(o != nullptr ? std::string_view(o->symbol) : std::string_view(std::get<CallExpr>(e.node).name),
                      std::move(in), span);
}

// What the roots read; rules must not count on, nor report, what nothing needs.
std::vector<bool> find_reachable(const Region& region) {
  std::vector<bool> seen(region.dag.size());
  std::vector<const Hop*> stack;
  for (const Root& root : region.roots) stack.push_back(root.hop);
  while (!stack.empty()) {
    const Hop* hop = stack.back();
    stack.pop_back();
    if (seen[hop->id]) continue;
    seen[hop->id] = true;
    stack.insert(stack.end(), hop->in.begin(), hop->in.end());
  }
  return seen;
}

const Hop* fire(const ParsedRule& p, const Hop* hop, Builder& builder) {
  Match m;
  if (!matches(*p.pattern, hop, m) || (p.rule->guard != nullptr && !p.rule->guard(m))) return nullptr;
  return instantiate(*p.replacement, m, builder, hop->span);
}

bool is_listed(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    if (item == name || item == "all") return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

bool is_on(std::string_view name, Exactness exactness, const Config& config) {
  if (config.optlevel == 0 || is_listed(config.rewrites_off, name)) return false;
  return exactness == Exactness::exact || config.exactness == "reassociating";
}

const Hop* apply_rule(const Rule& rule, const Hop* hop, Builder& builder) {
  for (const ParsedRule& p : book().all)
    if (p.rule == &rule) return fire(p, hop, builder);
  return nullptr;
}

std::vector<Fired> rewrite(Region& region, Context& context) {
  std::vector<Fired> fired;
  const Config& config = context.config;
  if (config.optlevel == 0 || is_listed(config.rewrites_off, "all")) return fired;
  Builder builder(region.dag, context, nullptr);
  const size_t size = region.dag.size();
  const std::vector<bool> reachable = find_reachable(region);
  std::vector<const Hop*> now(size);
  // Inputs have smaller ids, so each hop is seen after its inputs.
  for (size_t id = 0; id < size; ++id) {
    if (!reachable[id]) continue;
    const Hop* hop = &region.dag[id];
    std::vector<const Hop*> in;
    bool changed = false;
    for (const Hop* i : hop->in) {
      in.push_back(now[i->id]);
      changed = changed || in.back() != i;
    }
    if (changed) hop = region.dag.make(*hop, std::move(in));
    for (int round = 0; round < kMostFirings && hop->meta.kind != Kind::none; ++round) {
      const auto candidates = book().by_root.find(hop->op);
      if (candidates == book().by_root.end()) break;
      const Hop* better = nullptr;
      for (const ParsedRule* p : candidates->second)
        if (is_on(p->rule->name, p->rule->exactness, config) && (better = fire(*p, hop, builder)) != nullptr) {
          fired.push_back({p->rule->name, hop->span});
          break;
        }
      if (better == nullptr || better == hop) break;
      hop = better;
    }
    now[id] = hop;
  }
  for (Root& root : region.roots) root.hop = now[root.hop->id];
  return fired;
}

}  // namespace hopline
