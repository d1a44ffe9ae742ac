// Random programs, walked along random paths: nothing is read after it died, and at the end everything has died.
#include <gtest/gtest.h>

#include <random>

#include "frontend/check/check.h"
#include "frontend/check/walk.h"
#include "frontend/syntax/print.h"

namespace hopline {
namespace {

class RandomScript {
 public:
  explicit RandomScript(unsigned seed) : random_(seed) {}
  std::string text() {
    std::string out = "g = function(double a, double b) return (double c) { c = a + b }\n";
    for (char v = 'a'; v <= 'f'; ++v) out += std::string(1, v) + " = 1\n";
    out += "X = matrix(0, 2, 2)\n";
    return out + block(3, 6);
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string variable() { return std::string(1, static_cast<char>('a' + pick(6))); }
  std::string expression() {
    switch (pick(5)) {
      case 0:
        return "g(" + variable() + ", " + variable() + " + 1)";
      case 1:
        return "as.scalar(X[1, " + variable() + "])";
      case 2:
        return variable() + " * g(" + variable() + ", 2)";
      default:
        return variable() + " + " + variable();
    }
  }
  std::string block(int depth, int statements) {
    std::string out;
    for (int i = 0; i < statements; ++i) out += statement(depth);
    return out;
  }
  std::string statement(int depth) {
    const int kind = depth == 0 ? pick(5) : pick(10);
    if (kind == 0) return "print(" + expression() + ")\n";
    if (kind == 1) return "X[1, " + variable() + "] = " + expression() + "\n";
    if (kind == 2) return variable() + " += " + expression() + "\n";
    if (kind < 5) return variable() + " = " + expression() + "\n";
    if (kind < 7)
      return "if (" + expression() + " > 2) {\n" + block(depth - 1, 2) + "} else {\n" + block(depth - 1, pick(3)) +
             "}\n";
    if (kind < 9) return "while (" + expression() + " > 2) {\n" + block(depth - 1, 3) + "}\n";
    return "for (" + variable() + " in 1:" + expression() + ") {\n" + block(depth - 1, 3) + "}\n";
  }
  std::mt19937 random_;
};

// Executes what the statements do to the variables' lives, with random decisions.
class Walk {
 public:
  Walk(const Function& f, unsigned seed) : f_(f), random_(seed), alive_(f.slots.size()) {}

  void body(const Body& statements) {
    for (Stmt* s : statements) statement(*s);
  }
  std::string problem;  // the first one
  std::string leftover() const {
    for (size_t s = 0; s < alive_.size(); ++s)
      if (alive_[s]) return f_.slots[s];
    return "";
  }

 private:
  void read_slot(int32_t slot) {
    if (!alive_[static_cast<size_t>(slot)] && problem.empty()) problem = f_.slots[static_cast<size_t>(slot)];
  }
  void write_slot(int32_t slot) { alive_[static_cast<size_t>(slot)] = true; }
  void read(Expr* root) {
    if (root == nullptr) return;
    std::vector<Expr*> nodes;
    post_order(root, nodes);
    for (const Expr* e : nodes) {
      if (const auto* n = std::get_if<Name>(&e->node)) read_slot(n->slot);
      if (const auto* x = std::get_if<Index>(&e->node)) read_slot(x->base.slot);
    }
  }
  void target(const Target& t, bool also_read) {
    if (t.indexed || also_read) read_slot(t.variable.slot);
    for_each_bound(t.rows, t.cols, [this](Expr* b) { read(b); });
    write_slot(t.variable.slot);
  }
  void statement(Stmt& s) {
    const auto trips = [this] { return static_cast<int>(random_() % 3); };
    if (auto* a = std::get_if<Assign>(&s.node)) {
      read(a->value);
      target(a->target, a->accumulate);
    } else if (auto* m = std::get_if<MultiAssign>(&s.node)) {
      read(m->call);
      for (const Target& t : m->targets) target(t, false);
    } else if (auto* c = std::get_if<CallStmt>(&s.node)) {
      read(c->call);
    } else if (auto* i = std::get_if<If>(&s.node)) {
      body(i->before);
      read(i->predicate);
      body(trips() == 0 ? i->then : i->otherwise);
    } else if (auto* w = std::get_if<While>(&s.node)) {
      for (int n = trips(); n >= 0; --n) {
        body(w->before);
        read(w->predicate);
        if (n > 0) body(w->body);
      }
    } else if (auto* l = std::get_if<For>(&s.node)) {
      body(l->before);
      for (Expr* e : {l->from, l->to, l->step}) read(e);
      for (int n = trips(); n > 0; --n) {
        write_slot(l->variable.slot);
        body(l->body);
      }
    }
    for (int32_t slot : s.dies) alive_[static_cast<size_t>(slot)] = false;
  }

  const Function& f_;
  std::mt19937 random_;
  std::vector<bool> alive_;
};

TEST(LastUses, HoldOnRandomPaths) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = RandomScript(seed).text();
    auto files = std::make_shared<SourceFiles>();
    const auto program = check(files, files->add("main.dml", text), {});
    for (unsigned path = 0; path < 20; ++path) {
      Walk walk(program->main, path);
      walk.body(program->main.body);
      ASSERT_EQ(walk.problem, "") << "is read after it died, seed " << seed << "\n" << print(program->main.body);
      ASSERT_EQ(walk.leftover(), "") << "never dies, seed " << seed << "\n" << print(program->main.body);
    }
  }
}

}  // namespace
}  // namespace hopline
