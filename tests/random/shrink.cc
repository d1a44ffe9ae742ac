#include "tests/random/shrink.h"

#include <chrono>
#include <optional>

#include "frontend/syntax/parse.h"
#include "frontend/syntax/print.h"

namespace hopline::tests {

namespace {

using Clock = std::chrono::steady_clock;

// Walks a tree and makes change number `wanted` of all that are possible.
class Changer {
 public:
  Changer(Ast& ast, int64_t wanted) : ast_(ast), left_(wanted) {}

  void body(Body& b) {
    for (size_t size = b.size() / 2; size > 1; size /= 2)
      for (size_t at = 0; at + size <= b.size() && !done(); at += size)
        if (now())
          b.erase(b.begin() + static_cast<std::ptrdiff_t>(at), b.begin() + static_cast<std::ptrdiff_t>(at + size));
    for (size_t k = b.size(); k-- > 0 && !done();) {
      if (now()) {
        b.erase(b.begin() + static_cast<std::ptrdiff_t>(k));
        return;
      }
      if (flatten(b, k)) return;
    }
    for (size_t k = 0; k < b.size() && !done(); ++k) statement(*b[k]);
  }
  bool done() const { return left_ < 0; }

 private:
  // Is it the turn of the change that the caller is about to make?
  bool now() { return left_-- == 0; }

  void replace(Body& b, size_t k, Body by) {
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(k));
    b.insert(b.begin() + static_cast<std::ptrdiff_t>(k), by.begin(), by.end());
  }

  // Control flow by what it holds.
  bool flatten(Body& b, size_t k) {
    if (const auto* i = std::get_if<If>(&b[k]->node)) {
      for (const Body* branch : {&i->then, &i->otherwise})
        if (!branch->empty() && now()) return replace(b, k, *branch), true;
    } else if (const auto* w = std::get_if<While>(&b[k]->node)) {
      if (now()) return replace(b, k, w->body), true;
    } else if (const auto* l = std::get_if<For>(&b[k]->node)) {
      if (now()) {
        Target target;
        target.variable = l->variable;
        Body once = {ast_.stmt(b[k]->span, Assign{target, l->from, false})};
        once.insert(once.end(), l->body.begin(), l->body.end());
        return replace(b, k, once), true;
      }
    }
    return false;
  }

  void statement(Stmt& s) {
    if (auto* a = std::get_if<Assign>(&s.node)) {
      range(a->target.rows), range(a->target.cols), expression(a->value);
    } else if (auto* m = std::get_if<MultiAssign>(&s.node)) {
      inside(*m->call);
    } else if (auto* c = std::get_if<CallStmt>(&s.node)) {
      inside(*c->call);
    } else if (auto* i = std::get_if<If>(&s.node)) {
      expression(i->predicate), body(i->then), body(i->otherwise);
    } else if (auto* w = std::get_if<While>(&s.node)) {
      expression(w->predicate), body(w->body);
    } else if (auto* l = std::get_if<For>(&s.node)) {
      expression(l->from), expression(l->to), expression(l->step), body(l->body);
    } else if (auto* f = std::get_if<FunctionDef>(&s.node)) {
      body(f->body);
    }
  }

  void range(IndexRange& r) { expression(r.low), expression(r.high); }

  void expression(Expr*& e) {
    if (e == nullptr || done()) return;
    for (Expr* child : children(*e))
      if (now()) {
        e = child;
        return;
      }
    if (!std::holds_alternative<Literal>(e->node) && now()) {
      e = ast_.expr(e->span, Literal{int64_t{1}});
      return;
    }
    if (auto* l = std::get_if<Literal>(&e->node)) literal(*l);
    inside(*e);
  }

  void literal(Literal& l) {
    auto* i = std::get_if<int64_t>(&l.value);
    if (i != nullptr && *i > 2 && now()) *i = *i / 2;
  }

  static std::vector<Expr*> children(const Expr& e) {
    std::vector<Expr*> out;
    if (const auto* o = std::get_if<Operator>(&e.node)) out = o->operands;
    if (const auto* c = std::get_if<CallExpr>(&e.node))
      for (const Argument& a : c->arguments) out.push_back(a.value);
    return out;
  }

  void inside(Expr& e) {
    if (auto* o = std::get_if<Operator>(&e.node)) {
      for (Expr*& x : o->operands) expression(x);
    } else if (auto* c = std::get_if<CallExpr>(&e.node)) {
      for (size_t k = c->arguments.size(); k-- > 0 && !done();)
        if (now()) {
          c->arguments.erase(c->arguments.begin() + static_cast<std::ptrdiff_t>(k));
          return;
        }
      for (Argument& a : c->arguments) expression(a.value);
    } else if (auto* x = std::get_if<Index>(&e.node)) {
      range(x->rows), range(x->cols);
    }
  }

  Ast& ast_;
  int64_t left_;
};

// The script with change number `number`; nullopt when there are fewer.
std::optional<std::string> changed(const std::string& script, int64_t number) {
  Ast ast;
  SourceFiles files;
  Body body = parse(ast, files, files.add("script", script));
  Changer change(ast, number);
  change.body(body);
  if (!change.done()) return std::nullopt;
  return print(body);
}

}  // namespace

std::string shrink(std::string script, const std::function<bool(const std::string&)>& shows, double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  bool better = true;
  while (better) {
    better = false;
    for (int64_t number = 0; Clock::now() < end; ++number) {
      const std::optional<std::string> smaller = changed(script, number);
      if (!smaller) break;
      if (smaller->size() >= script.size() + 8 || *smaller == script || !shows(*smaller)) continue;
      script = *smaller;
      better = true;
      --number;
    }
  }
  return script;
}

}  // namespace hopline::tests
