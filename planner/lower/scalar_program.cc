#include "planner/lower/scalar_program.h"

#include "planner/lower/scalar_compiler.h"

namespace hopline {

namespace {

constexpr int kDeepest = 200;           // functions that call functions
constexpr size_t kMostFunctions = 500;  // of one program

// Can a value of these kinds always be made one of the declared kind?
bool always_converts(Kinds set, Kind declared) {
  return set == kinds(declared) || (is_scalar(declared) && within(set, kNumber)) ||
         (declared == Kind::string && within(set, kScalar));
}

}  // namespace

ScalarCompiler::~ScalarCompiler() = default;

ScalarFunction& ScalarCompiler::function(const Routine& routine, const std::vector<Kinds>& arguments) {
  ScalarFunction*& found = by_routine[{&routine, arguments}];
  if (found != nullptr) return *found;
  if (functions.size() >= kMostFunctions || ++calls > kDeepest) throw Refused();
  const size_t index = program.functions.size();
  program.functions.emplace_back();
  ScalarFunction& made = *functions.emplace_back(std::make_unique<ScalarFunction>(*this, routine, index));
  found = &made;
  made.compile_routine(arguments);
  --calls;
  return made;
}

ScalarFunction::ScalarFunction(ScalarCompiler& whole, const Routine& routine, size_t index)
    : ScalarEmitter(whole.program, whole.program.functions[index]), whole_(whole), routine_(routine), index_(index) {
  function_.name = routine.name;
}

void ScalarFunction::compile_node(const Node& node, const Scope& scope) {
  scope_ = &scope;
  for (const Value& v : scope.slots) variables_.push_back(kinds(kind_of(v)));
  const Variables entry = variables_;
  this->node(node);
  emit(Operation::finish);
  const auto variable = [this](int32_t slot, Kinds k) {
    const bool raw = is_raw(k);
    return RegisterProgram::Variable{slot, raw ? only(k & ~kNone) : Kind::unknown, home(slot, !raw),
                                     raw && (k & kNone) != 0 ? flag(slot) : -1};
  };
  for (const auto& [slot, _] : touched_) {
    const Kinds before = entry[static_cast<size_t>(slot)], after = variables_[static_cast<size_t>(slot)];
    if (before != kNone) program_.inputs.push_back(variable(slot, before));
    if (after == kDead || after == kNone) continue;
    if (!is_raw(after) || assigned_.count(slot) > 0) program_.outputs.push_back(variable(slot, after));
  }
  for (size_t s = 0; s < variables_.size(); ++s)
    if (variables_[s] == kDead) program_.dead.push_back(static_cast<int32_t>(s));
}

void ScalarFunction::compile_routine(const std::vector<Kinds>& arguments) {
  variables_.assign(routine_.slots.size(), kNone);
  for (size_t k = 0; k < arguments.size(); ++k) {
    variables_[static_cast<size_t>(routine_.inputs[k])] = arguments[k];
    home(routine_.inputs[k], !is_raw(arguments[k]));
  }
  for (size_t k = 0; k < routine_.outputs.size(); ++k) {
    const Kind declared = routine_.output_kinds[k];
    if (declared == Kind::matrix || declared == Kind::frame) throw Refused();
    Output o;
    o.kinds = declared == Kind::unknown ? 0 : kinds(declared);  // assumed by calls within the function
    o.number = lasting_numbers(1);
    o.value = static_cast<int32_t>(function_.num_values++);
    outputs_.push_back(o);
  }
  sequence(routine_.body);
  return_outputs();
  complete_ = true;
}

void ScalarFunction::return_outputs() {
  at(routine_.span);
  for (size_t k = 0; k < outputs_.size(); ++k) {
    Output& o = outputs_[k];
    const int32_t slot = routine_.outputs[k];
    const Kind declared = routine_.output_kinds[k];
    const Kinds assumed = o.kinds;
    const Kinds has = variables_[static_cast<size_t>(slot)];
    if (has == kDead) throw Refused();
    o.kinds = has;
    if ((has & kNone) != 0) {  // the caller reports what is missing
      Variables in_values = variables_;
      in_values[static_cast<size_t>(slot)] = has | kList;  // no number register holds these
      convert(variables_, in_values);
      emit(Operation::move_value, o.value, home(slot, true));
    } else {
      ScalarValue x{has, !is_raw(has), home(slot, !is_raw(has)), !is_raw(has)};
      if (always_converts(has, declared)) x = convert_to(x, declared, true, routine_.output_names[k], routine_);
      o.kinds = x.kinds;
      const bool boxed = !is_raw(x.kinds);
      move_to(boxed, boxed ? o.value : o.number, x);
    }
    if (assumed_ && o.kinds != assumed) throw Refused();
  }
  end_statement();
  emit(Operation::leave);
}

std::shared_ptr<const RegisterProgram> compile_scalar(const Node& node, const Scope& scope) {
  auto program = std::make_shared<RegisterProgram>();
  program->functions.emplace_back();
  ScalarCompiler whole(*program);
  try {
    ScalarFunction& main = *whole.functions.emplace_back(std::make_unique<ScalarFunction>(whole, *scope.routine, 0));
    main.compile_node(node, scope);
  } catch (const Refused&) {
    auto refused = std::make_shared<RegisterProgram>();
    refused->guards = std::move(program->guards);
    refused->refused = true;
    return refused;
  }
  return program;
}

}  // namespace hopline
