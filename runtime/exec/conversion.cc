#include "runtime/exec/conversion.h"

#include <cmath>

#include "runtime/ops/apply.h"

namespace hopline {

Value convert_value(Context& ctx, Value value, Kind declared, bool output, const std::string& name,
                    const std::string& routine, const Span& span) {
  const Kind k = kind_of(value);
  if (declared == Kind::unknown || k == declared) return value;
  if (!is_scalar(declared) || !is_scalar(k))
    fail(span, "{} {} of {}: expected {}, found {}", output ? "output" : "argument", name, routine,
         hopline::name(declared), k == Kind::none ? "no value" : hopline::name(k));
  static const Op* const to_real = find_op("as.double", 1);
  static const Op* const to_whole = find_op("as.integer", 1);
  static const Op* const to_boolean = find_op("as.logical", 1);
  static const Op* const join = find_op("+", 2);
  if (declared == Kind::real) return apply(ctx, *to_real, {std::move(value)}, {}, span).front();
  if (declared == Kind::integer) return apply(ctx, *to_whole, {std::move(value)}, {}, span).front();
  if (declared == Kind::boolean) return apply(ctx, *to_boolean, {std::move(value)}, {}, span).front();
  return apply(ctx, *join, {std::string(), std::move(value)}, {}, span).front();
}

int64_t loop_bound(const Value& value, const char* what, const Span& span, bool& finite) {
  if (const auto* i = std::get_if<int64_t>(&value)) return *i;
  if (const auto* b = std::get_if<bool>(&value)) return *b ? 1 : 0;
  if (const auto* d = std::get_if<double>(&value)) {
    if (!std::isfinite(*d)) finite = false;
    return to_integer(*d);
  }
  fail(span, "the {} of a for loop must be a number, found {}", what, name(kind_of(value)));
}

int64_t loop_trips(int64_t from, int64_t to, int64_t& step, bool has_step, bool finite) {
  if (!has_step) step = from <= to ? 1 : -1;
  const bool right_way = step > 0 ? from <= to : step < 0 && from >= to;
  return finite && right_way ? static_cast<int64_t>((static_cast<__int128>(to) - from) / step) + 1 : 0;
}

bool truth_value(const Value& value, const Span& span) {
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  if (const auto* i = std::get_if<int64_t>(&value)) return *i != 0;
  if (const auto* d = std::get_if<double>(&value)) return *d != 0;
  fail(span, "a predicate must be a boolean or a number, found {}", name(kind_of(value)));
}

}  // namespace hopline
