#include "runtime/ops/cost.h"

#include "runtime/ops/call.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

struct CostInfer : InferCall {
  CostInfer(const Op& op, std::span<const Meta> in, std::span<Meta> out, std::span<const std::string> names,
            std::span<const Value> values)
      : InferCall(op, in, out, {}, names), values_(values) {}
  const Value* value(size_t i) override {
    return i < values_.size() && values_[i].index() != 0 ? &values_[i] : nullptr;
  }
  int64_t range_size(size_t lo, size_t hi) override {
    const auto l = integer(lo), h = integer(hi);
    return l && h ? *h - *l + 1 : -1;
  }

 private:
  std::span<const Value> values_;
};

double cells_of(const Meta& m) { return static_cast<double>(m.rows) * static_cast<double>(m.cols); }

// Cells that are not zero, as far as that is known or estimated.
double entries_of(const Meta& m) {
  if (m.nnz >= 0) return static_cast<double>(m.nnz);
  return m.density >= 0 ? m.density * cells_of(m) : cells_of(m);
}

bool is_sparse(const Meta& m) { return m.cols > 1 && entries_of(m) < kSparse * cells_of(m); }

Cost moved_bytes(std::span<const Meta> in, std::span<const Meta> out) {
  Cost cost;
  for (const Meta& m : in)
    if (m.kind == Kind::matrix) cost.bytes_read += stored_bytes(m);
  for (const Meta& m : out)
    if (m.kind == Kind::matrix) cost.bytes_written += stored_bytes(m);
  return cost;
}

}  // namespace

double stored_bytes(const Meta& m) {
  if (m.kind != Kind::matrix || !m.sizes_known()) return 8;
  if (!is_sparse(m)) return 8 * cells_of(m);
  return 12 * entries_of(m) + 8 * static_cast<double>(m.rows);
}

Cost stored_cells_cost(const InferCall& call, double flops) {
  Cost cost = moved_bytes(call.in, call.out);
  const Meta& x = call.in[0];
  if (x.sizes_known()) cost.flops = flops * (is_sparse(x) ? entries_of(x) : cells_of(x));
  return cost;
}

Cost cost_of(const Op& op, std::span<const Meta> in, std::span<const Meta> out, std::span<const Value> values,
             std::span<const std::string> names) {
  std::vector<Meta> outputs(out.begin(), out.end());
  if (op.cost != nullptr) return op.cost(CostInfer(op, in, outputs, names, values));
  return moved_bytes(in, out);
}

}  // namespace hopline
