// Script text -> syntax tree.
#pragma once
#include <string_view>

#include "frontend/syntax/ast.h"
#include "runtime/base/source_files.h"

namespace hopline {

// Parses file number `file` of `files`. Throws Error{script} with every syntax error found (at most 20).
// Nesting beyond 10,000 levels is refused in one message before parsing.
Body parse(Ast& ast, const SourceFiles& files, uint32_t file);

// One expression, for rules and tests. Identifiers, literals, calls, operators and indexing as in a script.
Expr* parse_expression(Ast& ast, const SourceFiles& files, uint32_t file);

}  // namespace hopline
