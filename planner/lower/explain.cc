#include "planner/lower/explain.h"

#include <fmt/format.h>

#include "runtime/exec/program.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/text.h"

namespace hopline {

namespace {

std::string constant_text(const Value& v) {
  if (v.index() == 0) return "-";
  if (const auto* s = std::get_if<std::string>(&v)) return fmt::format("\"{}\"", *s);
  return scalar_text(v);
}

std::string size_text(const Meta& m) {
  if (m.kind == Kind::matrix) return dims(m);
  return std::string(name(m.kind));
}

std::string line_text(const Span& span, const SourceFiles& files) {
  const Position at = files.position(span);
  return at.line == 0 ? std::string() : fmt::format("  # line {}", at.line);
}

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
      out += line_text(f.spans[k], files) + "\n";
    }
  }
  return out;
}

std::string explain_hops(const Region& region, const SourceFiles& files) {
  std::string out = "hops:\n";
  std::vector<bool> shown(region.dag.size());
  std::vector<const Hop*> stack;
  for (const Root& root : region.roots) {
    stack.push_back(root.hop);
    while (!stack.empty()) {
      const Hop* hop = stack.back();
      bool ready = !shown[hop->id];
      if (ready)
        for (auto in = hop->in.rbegin(); in != hop->in.rend(); ++in)
          if (!shown[(*in)->id] && !hops::is_literal(**in)) stack.push_back(*in), ready = false;
      if (shown[hop->id]) {
        stack.pop_back();
        continue;
      }
      if (!ready) continue;
      stack.pop_back();
      shown[hop->id] = true;
      if (hops::is_literal(*hop)) continue;
      out += fmt::format("  %{} = {}", hop->id, hop->op->name);
      if (hop->is(hops::input()))
        out += fmt::format(" {}{}", hop->index, hop->entry < 0 ? "" : fmt::format("[{}]", hop->entry + 1));
      for (const Hop* in : hop->in)
        out += hops::is_literal(*in) ? " " + constant_text(in->literal) : fmt::format(" %{}", in->id);
      out += fmt::format("  [{}]{}\n", size_text(hop->meta), line_text(hop->span, files));
    }
  }
  return out;
}

std::string explain_plan(const Plan& plan, const Scope& scope, const SourceFiles& files) {
  const Code& code = plan.code;
  std::string out = plan.generic ? "plan (generic):\n" : "plan:\n";
  const auto reg = [&](uint32_t r) {
    if (r < code.inputs.size()) {
      const Input& in = code.inputs[r];
      const std::string& variable = scope.routine->slots[static_cast<size_t>(in.slot)];
      return in.entry < 0 ? variable : fmt::format("{}[{}]", variable, in.entry + 1);
    }
    if (r < code.first_temporary()) return constant_text(code.constants[r - code.inputs.size()]);
    return fmt::format("%{}", r - code.first_temporary());
  };
  for (const Instruction& i : code.instructions) {
    out += "  ";
    for (uint32_t k = 0; k < i.num_out; ++k) out += fmt::format("{}%{}", k == 0 ? "" : ", ", i.first_out + k);
    out += fmt::format("{}{}", i.num_out > 0 ? " = " : "", i.op->name);
    for (uint32_t k = 0; k < i.num_in; ++k)
      out += fmt::format(" {}{}", reg(code.operands[i.first_in + k]), k < 32 && (i.last_use >> k & 1) != 0 ? "!" : "");
    out += line_text(i.span, files) + "\n";
  }
  for (const Plan::Output& o : plan.outputs)
    out += fmt::format("  {} <- {}\n", scope.routine->slots[static_cast<size_t>(o.slot)], reg(o.reg));
  return out;
}

}  // namespace hopline
