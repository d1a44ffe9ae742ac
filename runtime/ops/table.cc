#include <algorithm>
#include <unordered_map>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/ops/families.h"

namespace hopline {

std::span<const OpFamily> op_families() {
  static const OpFamily kFamilies[] = {
      structural_ops(), elementwise_ops(), ternary_ops(), aggregate_ops(), cumulative_ops(), matmul_ops(),
      linalg_ops(),     reorg_ops(),       index_ops(),   datagen_ops(),   order_ops(),      selection_ops(),
      distinct_ops(),   table_ops(),       grouped_ops(), quantile_ops(),  moment_ops(),     distribution_ops(),
      text_ops(),       cast_ops(),        list_ops(),    file_ops(),
  };
  return kFamilies;
}

namespace {

using Index = std::unordered_map<std::string_view, std::vector<const Op*>>;

const Index& index() {
  static const Index kIndex = [] {
    Index by_name;
    for (const OpFamily& family : op_families())
      for (const Op& row : family) {
        by_name[row.name].push_back(&row);
        for (std::string_view alias : row.aliases)
          if (!alias.empty()) by_name[alias].push_back(&row);
      }
    return by_name;
  }();
  return kIndex;
}

}  // namespace

const Op* find_op(std::string_view name, size_t arguments) {
  const auto rows = index().find(name);
  if (rows == index().end()) return nullptr;
  for (const Op* row : rows->second)
    if (arguments >= row->params.required() && (row->params.variadic || arguments <= row->params.count)) return row;
  return nullptr;
}

const Op* find_op(std::string_view name) {
  const auto rows = index().find(name);
  return rows == index().end() ? nullptr : rows->second.front();
}

std::span<const Op* const> find_ops(std::string_view name) {
  const auto rows = index().find(name);
  return rows == index().end() ? std::span<const Op* const>() : rows->second;
}

const Op& op(std::string_view name, size_t arguments) {
  const Op* row = find_op(name, arguments);
  HOPLINE_CHECK(row != nullptr);
  return *row;
}

}  // namespace hopline
