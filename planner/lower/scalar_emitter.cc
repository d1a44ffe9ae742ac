#include "planner/lower/scalar_emitter.h"

#include <algorithm>

#include "runtime/ops/text.h"

namespace hopline {

namespace {

constexpr size_t kMostInstructions = 100000;
constexpr size_t kMostRows = 60000;  // of a table that Instruction::n counts

template <class T>
size_t index_in(std::vector<T>& table, T entry) {
  const auto found = std::find(table.begin(), table.end(), entry);
  if (found != table.end()) return static_cast<size_t>(found - table.begin());
  if (table.size() >= kMostRows) throw Refused();
  table.push_back(entry);
  return table.size() - 1;
}

Operation box_operation(Kind kind) {
  return kind == Kind::boolean ? Operation::box_bool : kind == Kind::integer ? Operation::box_int : Operation::box_real;
}

}  // namespace

size_t ScalarEmitter::emit(Operation what, int32_t a, int32_t b, int32_t c, size_t n) {
  if (here() >= kMostInstructions) throw Refused();
  function_.code.push_back({what, static_cast<uint16_t>(n), a, b, c});
  function_.spans.push_back(span_);
  producer_ = SIZE_MAX;
  return here() - 1;
}

ScalarValue ScalarEmitter::result(Kind kind, Operation what, int32_t b, int32_t c, size_t n) {
  const int32_t reg = temporary(false);
  producer_ = emit(what, reg, b, c, n);
  return {kinds(kind), false, reg, true};
}

int32_t ScalarEmitter::temporary(bool boxed) {
  std::vector<int32_t>& free = free_[boxed];
  int32_t reg = 0;
  if (free.empty()) {
    reg = static_cast<int32_t>(boxed ? function_.num_values++ : function_.num_numbers++);
  } else {
    reg = free.back();
    free.pop_back();
  }
  used_[boxed].push_back(reg);
  return reg;
}

int32_t ScalarEmitter::temporary_values(size_t n) {
  if (n == 1) return temporary(true);
  const auto first = static_cast<int32_t>(function_.num_values);
  function_.num_values += static_cast<uint32_t>(n);
  for (size_t k = 0; k < n; ++k) used_[true].push_back(first + static_cast<int32_t>(k));
  return first;
}

int32_t ScalarEmitter::lasting_numbers(size_t n) {
  const auto first = static_cast<int32_t>(function_.num_numbers);
  function_.num_numbers += static_cast<uint32_t>(n);
  return first;
}

int32_t ScalarEmitter::home(int32_t slot, bool boxed) {
  const auto [it, added] = homes_[boxed].emplace(slot, 0);
  if (added) it->second = static_cast<int32_t>(boxed ? function_.num_values++ : function_.num_numbers++);
  return it->second;
}

int32_t ScalarEmitter::flag(int32_t slot) {
  const auto [it, added] = flags_.emplace(slot, 0);
  if (added) it->second = static_cast<int32_t>(function_.num_numbers++);
  return it->second;
}

void ScalarEmitter::end_statement() {
  for (const bool boxed : {false, true}) {
    free_[boxed].insert(free_[boxed].end(), used_[boxed].begin(), used_[boxed].end());
    used_[boxed].clear();
  }
}

int32_t ScalarEmitter::number_constant(Number value) {
  const auto [it, added] = number_constants_.emplace(value.i, 0);
  if (added) {
    it->second = static_cast<int32_t>(function_.num_numbers++);
    function_.constants.emplace_back(it->second, value);
  }
  return it->second;
}

ScalarValue ScalarEmitter::constant(const Value& value) {
  size_t at = 0;
  while (at < program_.constants.size() && !(program_.constants[at].index() == value.index() &&
                                             !std::holds_alternative<double>(value) && program_.constants[at] == value))
    ++at;
  if (at == program_.constants.size()) program_.constants.push_back(value);
  return {kinds(kind_of(value)), true, ~static_cast<int32_t>(at)};
}

ScalarValue ScalarEmitter::boxed(const ScalarValue& x) {
  if (x.boxed) return x;
  const int32_t reg = temporary(true);
  emit(box_operation(x.kind()), reg, x.reg);
  return {x.kinds, true, reg, true};
}

ScalarValue ScalarEmitter::number(const ScalarValue& x) {
  if (!x.boxed) return x;
  if (x.reg < 0) {
    const Value& v = program_.constants[static_cast<size_t>(~x.reg)];
    Number n{.i = 0};
    if (const auto* d = std::get_if<double>(&v)) n.d = *d;
    if (const auto* i = std::get_if<int64_t>(&v)) n.i = *i;
    if (const auto* b = std::get_if<bool>(&v)) n.i = *b;
    return {x.kinds, false, number_constant(n)};
  }
  const Kind k = x.kind();
  return result(k,
                k == Kind::boolean   ? Operation::unbox_bool
                : k == Kind::integer ? Operation::unbox_int
                                     : Operation::unbox_real,
                x.reg);
}

ScalarValue ScalarEmitter::to_real(const ScalarValue& x) {
  if (x.boxed && x.reg < 0) {
    const Value& v = program_.constants[static_cast<size_t>(~x.reg)];
    Number n{.d = 0};
    if (const auto* d = std::get_if<double>(&v)) n.d = *d;
    if (const auto* i = std::get_if<int64_t>(&v)) n.d = static_cast<double>(*i);
    if (const auto* b = std::get_if<bool>(&v)) n.d = *b ? 1 : 0;
    return {kReal, false, number_constant(n)};
  }
  if (x.boxed) return result(Kind::real, Operation::unbox_real, x.reg);
  return x.kinds == kReal ? x : result(Kind::real, Operation::int_to_real, x.reg);
}

ScalarValue ScalarEmitter::to_int(const ScalarValue& x) {
  ScalarValue n = number(x);
  if (n.kinds == kReal) return result(Kind::integer, Operation::real_to_int, n.reg);
  n.kinds = kInteger;
  return n;
}

ScalarValue ScalarEmitter::to_bool(const ScalarValue& x) {
  const ScalarValue n = x.boxed && !is_one(x.kinds) ? to_real(x) : number(x);
  if (n.kinds == kBoolean) return n;
  return result(Kind::boolean, n.kinds == kReal ? Operation::real_to_bool : Operation::int_to_bool, n.reg);
}

ScalarValue ScalarEmitter::owned_text(const ScalarValue& x) {
  if (x.boxed && x.movable && x.kinds == kString) return x;
  const int32_t reg = temporary(true);
  const ScalarValue text{kString, true, reg, true};
  if (x.boxed && x.kinds == kString) {
    emit(Operation::copy_value, reg, x.reg);
    return text;
  }
  emit(Operation::copy_value, reg, constant(std::string()).reg);
  append_to(text, x);
  return text;
}

void ScalarEmitter::append_to(const ScalarValue& text, const ScalarValue& x) {
  const Kind k = x.kind();
  emit(x.boxed              ? Operation::append_value
       : k == Kind::boolean ? Operation::append_bool
       : k == Kind::integer ? Operation::append_int
                            : Operation::append_real,
       text.reg, x.reg);
}

void ScalarEmitter::move_to(bool boxed, int32_t reg, const ScalarValue& x) {
  if (!boxed) {
    const bool fresh =
        !x.boxed && x.movable && producer_ != SIZE_MAX && producer_ + 1 == here() && function_.code.back().a == x.reg;
    if (fresh) {
      function_.code.back().a = reg;
      producer_ = SIZE_MAX;
      return;
    }
    const ScalarValue n = number(x);
    if (x.boxed && n.movable) return move_to(false, reg, n);
    if (n.reg != reg) emit(Operation::move, reg, n.reg);
    return;
  }
  if (!x.boxed)
    emit(box_operation(x.kind()), reg, x.reg);
  else if (x.reg != reg)
    emit(x.movable ? Operation::move_value : Operation::copy_value, reg, x.reg);
}

bool ScalarEmitter::convert_one(int32_t slot, Kinds from, Kinds to, bool dry) {
  if (from == to || from == kDead) return false;
  const auto go = [&](Operation what, int32_t a, int32_t b = 0) {
    if (!dry) emit(what, a, b);
    return true;
  };
  const bool was_raw = is_raw(from);
  if (to == kDead) return !was_raw && from != kNone && go(Operation::clear_value, home(slot, true));
  if (is_raw(to)) {  // only its being assigned became uncertain
    return (to & kNone) != 0 && go(Operation::move, flag(slot), flag_constant(from != kNone));
  }
  if (from == kNone) return go(Operation::clear_value, home(slot, true));
  if (!was_raw) return false;
  go(box_operation(only(from & ~kNone)), home(slot, true), home(slot, false));
  if ((from & kNone) != 0) go(Operation::clear_unless, home(slot, true), flag(slot));
  return true;
}

bool ScalarEmitter::convert(const std::vector<Kinds>& from, const std::vector<Kinds>& to) {
  bool any = false;
  for (size_t s = 0; s < from.size(); ++s)
    if (convert_one(static_cast<int32_t>(s), from[s], to[s], false)) any = true;
  return any;
}

bool ScalarEmitter::differs(const std::vector<Kinds>& from, const std::vector<Kinds>& to) {
  for (size_t s = 0; s < from.size(); ++s)
    if (convert_one(static_cast<int32_t>(s), from[s], to[s], true)) return true;
  return false;
}

size_t ScalarEmitter::unary_function(double (*f)(double)) { return index_in(program_.unary, f); }
size_t ScalarEmitter::binary_function(double (*f)(double, double)) { return index_in(program_.binary, f); }
size_t ScalarEmitter::whole_row(const Op& op) { return index_in(program_.whole, &op); }
size_t ScalarEmitter::name_index(const std::string& name) { return index_in(program_.names, name); }

}  // namespace hopline
