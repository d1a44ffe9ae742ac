#include "planner/rewrite/matrix_chain.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hopline {

namespace {

constexpr size_t kLongest = 64;        // the program is cubic in the length; a longer chain stays as written
constexpr double kWorthwhile = 0.999;  // of the cost as written

const Op& product() {
  static const Op& row = op("%*%", 2);
  return row;
}

double density(const Hop* hop) {
  if (hop->meta.nnz == 0) return 0;
  return hop->meta.density >= 0 ? hop->meta.density : 1;
}

// A product of two neighbouring parts: what it costs and how dense it is.
struct Part {
  double cost = 0, density = 1;
  size_t split = 0;
};

Part join(const Part& a, const Part& b, double m, double k, double n) {
  const double both = a.density * b.density;
  return {a.cost + b.cost + m * k * n * std::max(both, 1e-9), 1 - std::pow(1 - both, k), 0};
}

std::vector<int> count_consumers(const Region& region) {
  std::vector<int> out(region.dag.size());
  std::vector<bool> seen(region.dag.size());
  std::vector<const Hop*> stack;
  for (const Root& root : region.roots) {
    if (root.effect || root.output >= 0) ++out[root.hop->id];
    stack.push_back(root.hop);
  }
  while (!stack.empty()) {
    const Hop* hop = stack.back();
    stack.pop_back();
    if (seen[hop->id]) continue;
    seen[hop->id] = true;
    for (const Hop* in : hop->in) {
      ++out[in->id];
      stack.push_back(in);
    }
  }
  return out;
}

class Chain {
 public:
  Chain(std::vector<const Hop*> leaves, Builder& builder, const Span& span)
      : leaves_(std::move(leaves)), builder_(builder), span_(span) {}

  bool sizes_known() const {
    return std::all_of(leaves_.begin(), leaves_.end(), [](const Hop* h) { return h->meta.sizes_known(); });
  }

  // Fills in the best order; returns its cost.
  double solve() {
    const size_t n = leaves_.size();
    best_.assign(n * n, {});
    for (size_t i = 0; i < n; ++i) best_[i * n + i].density = density(leaves_[i]);
    for (size_t length = 2; length <= n; ++length)
      for (size_t i = 0; i + length <= n; ++i) {
        const size_t j = i + length - 1;
        Part& part = best_[i * n + j];
        part.cost = std::numeric_limits<double>::infinity();
        for (size_t s = i; s < j; ++s) {
          Part candidate = join(best_[i * n + s], best_[(s + 1) * n + j], rows(i), cols(s), cols(j));
          candidate.split = s;
          if (candidate.cost < part.cost) part = candidate;
        }
      }
    return best_[n - 1].cost;
  }

  const Hop* build(size_t i, size_t j) {
    if (i == j) return leaves_[i];
    const size_t s = best_[i * leaves_.size() + j].split;
    return builder_.make(product(), {build(i, s), build(s + 1, j)}, span_);
  }

 private:
  double rows(size_t i) const { return static_cast<double>(leaves_[i]->meta.rows); }
  double cols(size_t i) const { return static_cast<double>(leaves_[i]->meta.cols); }
  std::vector<const Hop*> leaves_;
  std::vector<Part> best_;
  Builder& builder_;
  Span span_;
};

// Leaves of the chain below `top`, left to right, and its cost as written.
struct Found {
  std::vector<const Hop*> leaves;
  Part part;
};

Found find_chain(const Hop* hop, const Hop* top, const std::vector<int>& consumers) {
  if (!hop->is(product()) || (hop != top && consumers[hop->id] != 1)) return {{hop}, {0, density(hop), 0}};
  Found left = find_chain(hop->in[0], top, consumers), right = find_chain(hop->in[1], top, consumers);
  const auto size = [](int64_t n) { return static_cast<double>(n); };
  left.part = join(left.part, right.part, size(hop->meta.rows), size(hop->in[0]->meta.cols), size(hop->meta.cols));
  left.leaves.insert(left.leaves.end(), right.leaves.begin(), right.leaves.end());
  return left;
}

}  // namespace

std::vector<Fired> order_matrix_chains(Region& region, Context& context) {
  std::vector<Fired> fired;
  if (!is_on("matrix_chain", Exactness::reassociating, context.config)) return fired;
  const size_t size = region.dag.size();
  const std::vector<int> consumers = count_consumers(region);
  std::vector<bool> inner(size);  // part of a longer chain
  std::vector<int> length(size, 1);
  for (size_t id = 0; id < size; ++id) {
    const Hop& hop = region.dag[id];
    if (!hop.is(product()) || consumers[id] == 0) continue;
    length[id] = 0;
    for (const Hop* in : hop.in) {
      const bool joins = in->is(product()) && consumers[in->id] == 1;
      if (joins) inner[in->id] = true;
      length[id] += joins ? length[in->id] : 1;
    }
  }
  Builder builder(region.dag, context, nullptr);
  std::vector<const Hop*> now(size);
  for (size_t id = 0; id < size; ++id) {
    const Hop* hop = &region.dag[id];
    std::vector<const Hop*> in;
    bool changed = false;
    for (const Hop* i : hop->in) {
      in.push_back(now[i->id]);
      changed = changed || in.back() != i;
    }
    now[id] = changed ? region.dag.make(*hop, std::move(in)) : hop;
    if (!hop->is(product()) || inner[id] || length[id] < 3 || length[id] > static_cast<int>(kLongest)) continue;
    Found found = find_chain(hop, hop, consumers);
    for (const Hop*& leaf : found.leaves) leaf = now[leaf->id];
    const size_t n = found.leaves.size();
    Chain chain(std::move(found.leaves), builder, hop->span);
    if (!chain.sizes_known() || chain.solve() >= kWorthwhile * found.part.cost) continue;
    now[id] = chain.build(0, n - 1);
    fired.push_back({"matrix_chain", hop->span});
  }
  for (Root& root : region.roots) root.hop = now[root.hop->id];
  return fired;
}

}  // namespace hopline
