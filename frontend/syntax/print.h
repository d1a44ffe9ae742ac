// Syntax tree -> script text that parses to the same tree.
#pragma once
#include <string>

#include "frontend/syntax/ast.h"

namespace hopline {

std::string print(const Expr& expr);
std::string print(const Body& body, int indent = 0);

}  // namespace hopline
