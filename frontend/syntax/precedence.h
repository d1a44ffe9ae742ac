// How tightly operators bind: the one table for reading and printing expressions. Private to frontend/syntax.
#pragma once
#include <string_view>

namespace hopline {

enum Binding { kLoosest, kOr, kAnd, kNot, kCompare, kAdd, kMultiply, kModulus, kProduct, kSign, kPower, kAtom };

struct Infix {
  std::string_view written;  // in a script
  std::string_view symbol;   // in the tree
  Binding binding;           // all associate to the left but ^
};

inline constexpr Infix kInfix[] = {
    {"+", "+", kAdd},         {"*", "*", kMultiply},  {"-", "-", kAdd},         {"/", "/", kMultiply},
    {"%*%", "%*%", kProduct}, {"^", "^", kPower},     {"==", "==", kCompare},   {"!=", "!=", kCompare},
    {"<", "<", kCompare},     {"<=", "<=", kCompare}, {">", ">", kCompare},     {">=", ">=", kCompare},
    {"&", "&", kAnd},         {"|", "|", kOr},        {"%/%", "%/%", kModulus}, {"%%", "%%", kModulus},
    {"&&", "&", kAnd},        {"||", "|", kOr},
};

// The row of an operator; `written` is one of them.
constexpr const Infix& infix(std::string_view written) {
  for (const Infix& row : kInfix)
    if (row.written == written) return row;
  return kInfix[0];
}

// Of a prefix operator: "-", "+" or "!".
constexpr Binding prefix_binding(std::string_view symbol) { return symbol == "!" ? kNot : kSign; }

// What a right operand of `infix` binds at least.
constexpr Binding right_binding(const Infix& infix) {
  return infix.binding == kPower ? kPower : static_cast<Binding>(infix.binding + 1);
}

}  // namespace hopline
