// Parser and checker against scripts that are nearly right: tokens of a corpus are moved about. What is accepted must
// be in normal form. With clang's libFuzzer build with -DHOPLINE_LIBFUZZER -fsanitize=fuzzer; without it main() runs a
// corpus and random mutations of it: scripts_fuzz CORPUS [MUTATIONS] [SEED].
#include <cctype>
#include <cstdio>

#include "frontend/check/check.h"
#include "frontend/check/walk.h"
#include "frontend/syntax/print.h"
#include "runtime/ops/op.h"
#include "tests/fuzz/driver.h"

namespace hopline {
namespace {

// The promises of check.h.
class Verifier {
 public:
  explicit Verifier(const Function& f) : f_(f) { body(f.body); }

 private:
  void body(const Body& statements) {
    for (const Stmt* s : statements) statement(*s);
  }
  void slot(int32_t s) { HOPLINE_CHECK(s >= 0 && s < static_cast<int32_t>(f_.slots.size())); }
  static bool is_call(const Expr& e) {
    const auto* c = std::get_if<CallExpr>(&e.node);
    return c != nullptr && (c->function != nullptr || is_eval(*c));
  }

  void expression(Expr* root, bool may_be_call = false) {
    std::vector<Expr*> nodes;
    post_order(root, nodes);
    for (Expr* e : nodes) {
      if (const auto* n = std::get_if<Name>(&e->node)) slot(n->slot);
      if (const auto* x = std::get_if<Index>(&e->node)) slot(x->base.slot);
      HOPLINE_CHECK(!std::holds_alternative<Parameter>(e->node) && !std::holds_alternative<ExprList>(e->node));
      if (is_call(*e)) HOPLINE_CHECK(may_be_call && e == root);
      const auto* o = std::get_if<Operator>(&e->node);
      HOPLINE_CHECK(o == nullptr || o->op != nullptr);
      if (const auto* c = std::get_if<CallExpr>(&e->node)) call(*c, e == root);
    }
  }
  void call(const CallExpr& c, bool is_root) {
    if (c.function != nullptr || is_eval(c)) {
      HOPLINE_CHECK(c.function == nullptr || c.arguments.size() == c.function->inputs.size());
      for (const Argument& a : c.arguments)
        HOPLINE_CHECK(std::holds_alternative<Name>(a.value->node) || std::holds_alternative<Literal>(a.value->node));
      return;
    }
    HOPLINE_CHECK(c.op != nullptr);
    HOPLINE_CHECK(!c.op->laws.size_from_data || is_root);
    HOPLINE_CHECK(c.op->params.variadic || c.arguments.size() == c.op->params.count);
    for (size_t i = 0; i < c.arguments.size(); ++i)
      HOPLINE_CHECK(c.arguments[i].value != nullptr || !c.op->params.list[i].required());
  }
  void target(const Target& t) {
    slot(t.variable.slot);
    for_each_bound(t.rows, t.cols, [this](Expr* b) { expression(b); });
  }
  void statement(const Stmt& s) {
    for (int32_t dead : s.dies) slot(dead);
    if (const auto* a = std::get_if<Assign>(&s.node)) {
      expression(a->value);
      target(a->target);
    } else if (const auto* m = std::get_if<MultiAssign>(&s.node)) {
      expression(m->call, true);
      for (const Target& t : m->targets) target(t);
    } else if (const auto* c = std::get_if<CallStmt>(&s.node)) {
      expression(c->call, true);
    } else if (const auto* i = std::get_if<If>(&s.node)) {
      body(i->before);
      expression(i->predicate);
      body(i->then);
      body(i->otherwise);
    } else if (const auto* w = std::get_if<While>(&s.node)) {
      body(w->before);
      expression(w->predicate);
      body(w->body);
    } else {
      const auto* l = std::get_if<For>(&s.node);
      HOPLINE_CHECK(l != nullptr);
      body(l->before);
      for (Expr* e : {l->from, l->to, l->step})
        if (e != nullptr) expression(e);
      body(l->body);
    }
  }
  const Function& f_;
};

void run(std::string_view input) {
  auto files = std::make_shared<SourceFiles>();
  CheckOptions options;
  options.arguments = {{"n", "5"}, {"s", "text"}};
  options.load = [](const std::string& path, const std::string&) -> std::optional<std::pair<std::string, std::string>> {
    if (path != "lib.dml") return std::nullopt;
    return std::pair(std::string("f = function(int n, double x = n + 1) return (double y) { y = x }\n"), path);
  };
  try {
    const auto program = check(files, files->add("main.dml", std::string(input)), options);
    Verifier verify(program->main);
    print(program->main.body);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::script) {
      HOPLINE_CHECK(!render(error, *files).empty());
      return;
    }
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
}

}  // namespace
}  // namespace hopline

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hopline::run({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef HOPLINE_LIBFUZZER
namespace {

using hopline::tests::below;
using hopline::tests::Engine;

// Words, numbers, strings and single characters, each with the white space behind it.
std::vector<std::string> tokens_of(const std::string& text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    if (text[i] == '"') {
      i = std::min(text.find('"', i + 1), text.size() - 1) + 1;
    } else if (is_word(text[i])) {
      while (i < text.size() && is_word(text[i])) ++i;
    } else {
      ++i;
    }
    while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i])) != 0) ++i;
    out.push_back(text.substr(begin, i - begin));
  }
  return out;
}

void change_tokens(std::string& input, const std::vector<std::string>& corpus, Engine& engine) {
  std::vector<std::string> tokens = tokens_of(input);
  const std::vector<std::string> other = tokens_of(corpus[below(engine, corpus.size())]);
  const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(below(engine, tokens.size() + 1));
  const auto from = other.begin() + static_cast<std::ptrdiff_t>(below(engine, other.size()));
  const auto some = [&](auto begin, auto end) {
    return begin + static_cast<std::ptrdiff_t>(std::min<size_t>(below(engine, 12), static_cast<size_t>(end - begin)));
  };
  switch (below(engine, 5)) {
    case 0:
      tokens.erase(at, some(at, tokens.end()));
      break;
    case 1:
      tokens.insert(at, from, some(from, other.end()));
      break;
    case 2:
      if (at != tokens.end()) std::swap(*at, tokens[below(engine, tokens.size())]);
      break;
    default:  // the most likely to keep the syntax
      if (at != tokens.end()) *at = *from;
  }
  input.clear();
  for (const std::string& t : tokens) input += t;
}

}  // namespace

int main(int count, char** words) { return hopline::tests::fuzz(count, words, "scripts_fuzz", change_tokens); }
#endif
