// A value of a DML variable.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/data/kind.h"
#include "runtime/data/matrix_block.h"

namespace hopline {

class FrameBlock;  // frames come with their own issue
struct List;
using FrameRef = std::shared_ptr<const FrameBlock>;
using ListRef = std::shared_ptr<const List>;

// The alternatives stand in the order of Kind, from none on.
using Value = std::variant<std::monostate, bool, int64_t, double, std::string, MatrixRef, FrameRef, ListRef>;

// Ordered entries; `names` is empty (unnamed) or as long as `entries`; an unnamed entry of a named list has the name
// "".
struct List {
  std::vector<Value> entries;
  std::vector<std::string> names;
  List() = default;
  explicit List(std::vector<Value> e, std::vector<std::string> n = {}) : entries(std::move(e)), names(std::move(n)) {}
  List(const List&) = default;
  List(List&&) = default;
  List& operator=(const List&) = default;
  List& operator=(List&&) = default;
  ~List();  // frees lists within lists without recursion
};

inline Kind kind_of(const Value& v) { return static_cast<Kind>(v.index() + 1); }
static_assert(std::variant_size_v<Value> == static_cast<size_t>(Kind::list));

// Kind, sizes and the count of non-zeros, as far as the value knows it.
Meta meta_of(const Value& value);

}  // namespace hopline
