// Control flow over scalars -> register programs (runtime/exec/register_program.h).
#pragma once
#include <memory>

#include "runtime/exec/program.h"
#include "runtime/exec/register_program.h"
#include "runtime/exec/scope.h"

namespace hopline {

// The program of a Branch, Loop, Count or Invoke for the kinds that the scope's variables have now; `refused` when the
// node touches matrices, draws random numbers, or calls by name.
std::shared_ptr<const RegisterProgram> compile_scalar(const Node& node, const Scope& scope);

}  // namespace hopline
