#include "runtime/exec/observer.h"

#include <array>
#include <chrono>

#include "runtime/ops/apply.h"

namespace hopline {

void Observers::start(std::shared_ptr<const SourceFiles> files) {
  for (Observer* o : all_) o->start(files);
}
void Observers::checked(int64_t begin, int64_t end) {
  for (Observer* o : all_) o->checked(begin, end);
}
void Observers::executed(const Executed& done) {
  for (Observer* o : all_) o->executed(done);
}
void Observers::scalar_code(const Span& span, int64_t begin, int64_t end) {
  for (Observer* o : all_) o->scalar_code(span, begin, end);
}
void Observers::planned(const Plan& plan, const Span& span, int64_t begin, int64_t end) {
  for (Observer* o : all_) o->planned(plan, span, begin, end);
}
void Observers::reused(const Plan& plan) {
  for (Observer* o : all_) o->reused(plan);
}

int64_t observer_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void run_observed(Call& call, Observer& observer) {
  constexpr size_t kFew = 16;
  const size_t n = call.in.size();
  std::array<Meta, kFew> few_metas;
  std::array<Value, kFew> few_values;
  std::vector<Meta> many_metas(n > kFew ? n : 0), outs(call.out.size());
  std::vector<Value> many_values(n > kFew ? n : 0);
  const std::span<Meta> in(n > kFew ? many_metas.data() : few_metas.data(), n);
  const std::span<Value> values(n > kFew ? many_values.data() : few_values.data(), n);
  for (size_t k = 0; k < n; ++k) {  // now: the kernel may take its inputs away
    in[k] = meta_of(*call.in[k]);
    if (is_scalar(in[k].kind)) values[k] = *call.in[k];
  }
  const Kernel* kernel = find_kernel(call);
  const int64_t begin = observer_clock();
  run_kernel(call);
  const int64_t end = observer_clock();
  for (size_t k = 0; k < outs.size(); ++k) outs[k] = meta_of(call.out[k]);
  observer.executed({call.op, kernel, call.span, in, outs, values, call.names, begin, end});
}

}  // namespace hopline
