#include "runtime/data/value.h"

#include "runtime/data/growing_rows.h"

namespace hopline {

std::string_view name(Kind kind) {
  constexpr std::string_view kNames[] = {"unknown", "nothing", "boolean", "int", "double",
                                         "string",  "matrix",  "frame",   "list"};
  return kNames[static_cast<size_t>(kind)];
}

Meta meta_of(const Value& value) {
  if (const auto* m = std::get_if<MatrixRef>(&value)) return (*m)->meta();
  if (const auto* l = std::get_if<ListRef>(&value))
    return {Kind::list, static_cast<int64_t>((*l)->entries.size()), 1, -1, -1};
  return scalar_meta(kind_of(value));
}

List::~List() {
  std::vector<ListRef> nested;
  const auto collect = [&nested](std::vector<Value>& entries) {
    for (Value& v : entries)
      if (auto* l = std::get_if<ListRef>(&v); l != nullptr && l->use_count() == 1) nested.push_back(std::move(*l));
  };
  collect(entries);
  while (!nested.empty()) {
    const ListRef list = std::move(nested.back());
    nested.pop_back();
    if (list.use_count() == 1) collect(std::const_pointer_cast<List>(list)->entries);
  }
}

int64_t MatrixBlock::bytes() const {
  if (const GrowingRows* rows = growing()) return rows->bytes();
  if (const auto* d = std::get_if<Dense>(&store_)) return static_cast<int64_t>(d->cells.bytes());
  if (const auto* s = std::get_if<Csr>(&store_))
    return static_cast<int64_t>(s->offsets.bytes() + s->columns.bytes() + s->values.bytes());
  return 0;
}

}  // namespace hopline
