// Arguments of a call in the order of the parameters. Private to frontend/check.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "frontend/check/checker.h"
#include "runtime/ops/op.h"

namespace hopline {

// "seq(from, to, [incr])": what an operator takes, for messages.
std::string signature(std::string_view name, const Params& params);
std::string signature(const Function& function);

// Chooses the first row that takes the arguments, as to their number and names, and puts them in its order with the
// defaults filled in. Reports what is wrong and leaves call.op null when no row does.
void bind_operator(FunctionCheck& check, const Span& span, CallExpr& call, std::span<const Op* const> rows);

// The same for a function. Parameters without an argument are left null; the caller fills in their defaults. Returns
// false after reporting what is wrong.
bool bind_function(FunctionCheck& check, const Span& span, CallExpr& call, const Function& function);

// A literal of the value that a row gives as a default; null for "none".
Expr* default_expr(Ast& ast, const Span& span, const Param& param);

}  // namespace hopline
