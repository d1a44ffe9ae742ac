// Walking expressions without recursion: chains of operators are as long as a script's author likes.
#pragma once
#include <algorithm>
#include <vector>

#include "frontend/check/checker.h"

namespace hopline {

// Calls f(child), a reference to the pointer, for each operand, argument and bound, in the order in which they are
// stored.
template <class F>
void for_each_child(Expr& e, F&& f) {
  const auto range = [&f](IndexRange& r) {
    if (r.low != nullptr) f(r.low);
    if (r.high != nullptr) f(r.high);
  };
  if (auto* o = std::get_if<Operator>(&e.node)) {
    for (Expr*& operand : o->operands) f(operand);
  } else if (auto* c = std::get_if<CallExpr>(&e.node)) {
    for (Argument& a : c->arguments)
      if (a.value != nullptr) f(a.value);
  } else if (auto* x = std::get_if<Index>(&e.node)) {
    range(x->rows);
    range(x->cols);
  } else if (auto* l = std::get_if<ExprList>(&e.node)) {
    for (Expr*& item : l->items) f(item);
  }
}

// Appends the nodes below and including root, operands before what uses them, from left to right. The variable of
// exists() is no operand.
inline void post_order(Expr* root, std::vector<Expr*>& out) {
  const size_t first = out.size();
  thread_local std::vector<Expr*> stack;
  stack.assign(1, root);
  while (!stack.empty()) {
    Expr* e = stack.back();
    stack.pop_back();
    out.push_back(e);
    const auto* call = std::get_if<CallExpr>(&e->node);
    if (call == nullptr || !is_exists(*call)) for_each_child(*e, [](Expr* child) { stack.push_back(child); });
  }
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
}

// Calls f(expr) for the bounds of an index.
template <class F>
void for_each_bound(const IndexRange& rows, const IndexRange& cols, F&& f) {
  for (Expr* bound : {rows.low, rows.high, cols.low, cols.high})
    if (bound != nullptr) f(bound);
}

}  // namespace hopline
