#include "planner/lower/explain.h"

#include <fmt/format.h>

#include "runtime/exec/program.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/text.h"

namespace hopline {

std::string constant_text(const Value& v) {
  if (v.index() == 0) return "-";
  if (const auto* s = std::get_if<std::string>(&v)) return fmt::format("\"{}\"", *s);
  return scalar_text(v);
}

std::string place_text(const Span& span, const SourceFiles& files) {
  constexpr uint32_t kMainFile = 1;
  const Position at = files.position(span);
  if (at.line == 0) return {};
  if (span.file == kMainFile) return fmt::format(" @{}:{}", at.line, at.column);
  return fmt::format(" @{}:{}:{}", at.file, at.line, at.column);
}

std::string size_text(const Meta& m) {
  if (m.kind == Kind::matrix) return dims(m);
  return std::string(name(m.kind));
}

std::string variable_text(const Scope& scope, int32_t slot, int64_t entry) {
  std::string variable = scope.routine->slots[static_cast<size_t>(slot)];
  if (variable[0] == '%') variable[0] = '.';  // the checker's own; %1 is a register here
  return entry < 0 ? variable : fmt::format("{}[{}]", variable, entry + 1);
}

std::string register_text(const Code& code, uint32_t r, const Scope& scope) {
  if (r < code.inputs.size()) return variable_text(scope, code.inputs[r].slot, code.inputs[r].entry);
  if (r < code.first_temporary()) return constant_text(code.constants[r - code.inputs.size()]);
  return fmt::format("%{}", r - code.first_temporary());
}

void add_operands(std::string& out, const Hop& hop, const std::function<std::string(size_t)>& operand) {
  const Params& params = hop.op->params;
  for (size_t k = 0; k < hop.in.size(); ++k) {
    const bool named = params.naming == Naming::named || (params.naming == Naming::first_free && k > 0);
    std::string_view label;
    if (k < hop.names.size())
      label = hop.names[k];
    else if (named && k < params.count && !params.variadic)
      label = params.list[k].name;
    if (!label.empty() && hop.in[k]->meta.kind == Kind::none) continue;  // an optional one that is absent
    out += label.empty() ? " " : fmt::format(" {}=", label);
    out += operand(k);
  }
}

namespace {

constexpr const char* kOperations[] = {
#define HOPLINE_INSTRUCTION(name, ...) #name,
#include "runtime/exec/register_instructions.def"
#undef HOPLINE_INSTRUCTION
};

std::string application_text(const Application& a, const RegisterProgram& program) {
  std::string out = a.op->outputs > 0 ? fmt::format(" v{} = {}", a.out, a.op->name) : fmt::format(" {}", a.op->name);
  for (const int32_t in : a.in)
    out += in < 0 ? " " + constant_text(program.constants[static_cast<size_t>(~in)]) : fmt::format(" v{}", in);
  return out;
}

// Hops in the order of a walk from the roots, inputs first, without recursion. Literals stand within their readers.
std::vector<const Hop*> walk(const Region& region) {
  std::vector<const Hop*> out, stack;
  std::vector<bool> seen(region.dag.size());
  for (const Root& root : region.roots) {
    stack.push_back(root.hop);
    while (!stack.empty()) {
      const Hop* hop = stack.back();
      bool ready = true;
      if (!seen[hop->id])
        for (auto in = hop->in.rbegin(); in != hop->in.rend(); ++in)
          if (!seen[(*in)->id] && !hops::is_literal(**in)) stack.push_back(*in), ready = false;
      if (!ready) continue;
      stack.pop_back();
      if (seen[hop->id] || hops::is_literal(*hop)) continue;
      seen[hop->id] = true;
      out.push_back(hop);
    }
  }
  return out;
}

}  // namespace

std::string explain_program(const RegisterProgram& program, const SourceFiles& files) {
  std::string out = "scalar program:\n";
  for (const RegisterFunction& f : program.functions) {
    if (&f != &program.functions.front()) out += fmt::format("  function {}:\n", f.name);
    for (const auto& [reg, number] : f.constants) out += fmt::format("    r{} = {} | {}\n", reg, number.i, number.d);
    for (size_t k = 0; k < f.code.size(); ++k) {
      const RegisterInstruction& i = f.code[k];
      out += fmt::format("  {:3} {}", k, kOperations[static_cast<size_t>(i.what)]);
      if (i.what == Operation::apply || i.what == Operation::apply_binary)
        out += application_text(program.applications[static_cast<size_t>(i.a)], program);
      else if (i.what == Operation::call)
        out += " " + program.functions[program.calls[static_cast<size_t>(i.a)].function].name;
      else
        out += fmt::format(" {} {} {}", i.a, i.b, i.c);
      out += place_text(f.spans[k], files) + "\n";
    }
  }
  return out;
}

std::string explain_hops(const Region& region, const Scope& scope, const SourceFiles& files) {
  std::string out;
  std::vector<size_t> number(region.dag.size());
  size_t next = 0;
  for (const Hop* hop : walk(region)) {
    number[hop->id] = next;
    out += hop->op->outputs > 0 || hop->is(hops::input()) ? fmt::format("  %{} = {}", next, hop->op->name)
                                                          : fmt::format("  {}", hop->op->name);
    next += hop->op->outputs > 0 ? 1 : 0;
    if (hop->is(hops::input())) out += " " + variable_text(scope, static_cast<int32_t>(hop->index), hop->entry);
    if (hop->is(hops::get())) out += fmt::format(" {}", hop->index + 1);
    if (hop->is(hops::fail())) out += fmt::format(" \"{}\"", hop->names.front());
    add_operands(out, *hop, [&](size_t k) {
      const Hop* in = hop->in[k];
      return hops::is_literal(*in) ? constant_text(in->literal) : fmt::format("%{}", number[in->id]);
    });
    if (hop->op->outputs == 1) out += fmt::format(" [{}]", size_text(hop->meta));
    out += place_text(hop->span, files) + "\n";
  }
  return out.empty() ? out : "hops:\n" + out;
}

std::string explain_plan(const Plan& plan, const Scope& scope, const SourceFiles& files) {
  const Code& code = plan.code;
  std::string out = plan.generic ? "plan (generic):\n" : "plan:\n";
  const auto reg = [&](uint32_t r) { return register_text(code, r, scope); };
  for (const Instruction& i : code.instructions) {
    out += "  ";
    for (uint32_t k = 0; k < i.num_out; ++k) out += fmt::format("{}%{}", k == 0 ? "" : ", ", i.first_out + k);
    out += fmt::format("{}{}", i.num_out > 0 ? " = " : "", i.op->name);
    for (uint32_t k = 0; k < i.num_in; ++k)
      out += fmt::format(" {}{}", reg(code.operands[i.first_in + k]), k < 32 && (i.last_use >> k & 1) != 0 ? "!" : "");
    out += place_text(i.span, files) + "\n";
  }
  for (const Plan::Output& o : plan.outputs)
    out += fmt::format("  {} <- {}\n", variable_text(scope, o.slot, -1), reg(o.reg));
  return out;
}

}  // namespace hopline
