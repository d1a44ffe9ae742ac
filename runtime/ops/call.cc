#include "runtime/ops/call.h"

#include <cmath>
#include <limits>

#include "runtime/memory/memory.h"
#include "runtime/ops/infer.h"

namespace hopline {

int64_t to_integer(double v) {
  if (std::isnan(v)) return 0;
  const double magnitude = std::floor(std::fabs(v) + 0x1p-53);
  if (magnitude >= 0x1p63) return v > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::copysign(magnitude, v));
}

namespace {

double number(const Value& v) {
  if (const auto* d = std::get_if<double>(&v)) return *d;
  if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  return std::get<bool>(v) ? 1 : 0;
}

int64_t whole(const Value& v) {
  if (const auto* i = std::get_if<int64_t>(&v)) return *i;
  return to_integer(number(v));
}

}  // namespace

double Call::real(size_t i) const { return number(*in[i]); }
int64_t Call::integer(size_t i) const { return whole(*in[i]); }
bool Call::boolean(size_t i) const { return number(*in[i]) != 0; }

std::shared_ptr<MatrixBlock> Call::take(size_t i) {
  if ((last_use >> i & 1) == 0) return nullptr;
  auto& ref = std::get<MatrixRef>(*in[i]);
  if (ref.use_count() != 1) return nullptr;
  return std::const_pointer_cast<MatrixBlock>(std::move(ref));
}

std::optional<double> InferCall::real(size_t i) {
  const Value* v = in[i].kind == Kind::none ? nullptr : value(i);
  if (v == nullptr || v->index() == 0 || kind_of(*v) == Kind::string) return std::nullopt;
  return number(*v);
}
std::optional<int64_t> InferCall::integer(size_t i) {
  const Value* v = in[i].kind == Kind::none ? nullptr : value(i);
  if (v == nullptr || v->index() == 0 || kind_of(*v) == Kind::string) return std::nullopt;
  return whole(*v);
}
std::optional<bool> InferCall::boolean(size_t i) {
  const auto v = real(i);
  return v ? std::optional<bool>(*v != 0) : std::nullopt;
}
std::optional<std::string> InferCall::string(size_t i) {
  const Value* v = in[i].kind == Kind::none ? nullptr : value(i);
  if (v == nullptr || kind_of(*v) != Kind::string) return std::nullopt;
  return std::get<std::string>(*v);
}

std::string dims(const Meta& meta) {
  const auto size = [](int64_t n) { return n < 0 ? std::string("?") : std::to_string(n); };
  return size(meta.rows) + "x" + size(meta.cols);
}

}  // namespace hopline
