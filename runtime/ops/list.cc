#include "runtime/ops/list.h"

#include <algorithm>

#include "runtime/ops/call.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

struct Range {
  size_t begin = 0, end = 0;
};

std::string known_names(const List& list) {
  constexpr size_t kShown = 8;
  std::string out;
  size_t shown = 0;
  for (const std::string& n : list.names) {
    if (n.empty()) continue;
    if (shown == kShown) return out + ", ...";
    out += fmt::format("{}\"{}\"", shown++ > 0 ? ", " : "", n);
  }
  return out;
}

size_t position_of_name(const List& list, const std::string& name, const Span& span) {
  const auto at = std::find(list.names.begin(), list.names.end(), name);
  if (at != list.names.end() && !name.empty()) return static_cast<size_t>(at - list.names.begin());
  const std::string known = known_names(list);
  if (known.empty())
    fail(span, "no entry of that name: expected a position in a list without names, found \"{}\"", name);
  fail(span, "no entry of that name in the list: expected {}, found \"{}\"", known, name);
}

int64_t position_of_number(const Value& bound) {
  if (const auto* d = std::get_if<double>(&bound)) return to_integer(*d);
  if (const auto* b = std::get_if<bool>(&bound)) return *b ? 1 : 0;
  return std::get<int64_t>(bound);
}

// 0-based.
size_t position(const List& list, const Value& bound, const Span& span) {
  if (const auto* name = std::get_if<std::string>(&bound)) return position_of_name(list, *name, span);
  if (!is_number(kind_of(bound)) && kind_of(bound) != Kind::boolean)
    fail(span, "wrong list index: expected a position or a name, found {}", name(kind_of(bound)));
  const int64_t k = position_of_number(bound);
  const auto size = static_cast<int64_t>(list.entries.size());
  if (size == 0) fail(span, "list index out of range: the list is empty, found {}", k);
  if (k < 1 || k > size) fail(span, "list index out of range: expected 1 to {}, found {}", size, k);
  return static_cast<size_t>(k - 1);
}

Range range_of(const List& list, const Value& low, const Value& high, const Span& span) {
  if (low.index() == 0 && high.index() == 0) return {0, list.entries.size()};
  const size_t begin = position(list, low, span);
  const size_t end = high.index() == 0 ? begin : position(list, high, span);
  if (begin > end) fail(span, "wrong list index: expected a range from low to high, found {}:{}", begin + 1, end + 1);
  return {begin, end + 1};
}

ListRef slice(const List& list, Range range) {
  auto out = std::make_shared<List>();
  const auto begin = static_cast<ptrdiff_t>(range.begin), end = static_cast<ptrdiff_t>(range.end);
  out->entries.assign(list.entries.begin() + begin, list.entries.begin() + end);
  if (!list.names.empty()) out->names.assign(list.names.begin() + begin, list.names.begin() + end);
  return out;
}

// The list itself for writing when the caller is its only owner, else a copy with room to grow.
std::shared_ptr<List> own(ListRef list) {
  if (list.use_count() == 1) return std::const_pointer_cast<List>(std::move(list));
  auto copy = std::make_shared<List>();
  const size_t room = list->entries.size() + list->entries.size() / 4 + 4;
  copy->entries.reserve(room);
  copy->entries = list->entries;
  copy->names = list->names;
  return copy;
}

// A list of length 1 stands for its entry.
Value unwrap(Value value) {
  const auto* list = std::get_if<ListRef>(&value);
  if (list == nullptr || (*list)->entries.size() != 1) return value;
  return Value((*list)->entries.front());
}

void remove_range(List& list, Range range) {
  const auto begin = static_cast<ptrdiff_t>(range.begin), end = static_cast<ptrdiff_t>(range.end);
  list.entries.erase(list.entries.begin() + begin, list.entries.begin() + end);
  if (!list.names.empty()) list.names.erase(list.names.begin() + begin, list.names.begin() + end);
}

}  // namespace

ListRef index_list(const ListRef& list, const Value& low, const Value& high, const Span& span) {
  const Range range = range_of(*list, low, high, span);
  if (range.begin == 0 && range.end == list->entries.size()) return list;
  return slice(*list, range);
}

ListRef assign_list(ListRef list, Value value, const Value& low, const Value& high, const Span& span) {
  const Range range = range_of(*list, low, high, span);
  const size_t length = range.end - range.begin;
  if (length == 1) {
    const std::shared_ptr<List> out = own(std::move(list));
    out->entries[range.begin] = unwrap(std::move(value));
    return out;
  }
  const auto* given = std::get_if<ListRef>(&value);
  if (given == nullptr)
    fail(span, "wrong value for {} entries of a list: expected a list of that length, found {}", length,
         name(kind_of(value)));
  if ((*given)->entries.size() != length)
    fail(span, "wrong value for a range of list entries: expected a list of length {}, found length {}", length,
         (*given)->entries.size());
  const std::shared_ptr<List> out = own(std::move(list));
  std::copy((*given)->entries.begin(), (*given)->entries.end(),
            out->entries.begin() + static_cast<ptrdiff_t>(range.begin));
  return out;
}

ListRef append_to_list(ListRef list, Value value) {
  std::string name;
  if (const auto* given = std::get_if<ListRef>(&value); given != nullptr && (*given)->entries.size() == 1) {
    if (!(*given)->names.empty()) name = (*given)->names.front();
    value = Value((*given)->entries.front());
  }
  const std::shared_ptr<List> out = own(std::move(list));
  if (!name.empty() || !out->names.empty()) {
    out->names.resize(out->entries.size());
    out->names.push_back(std::move(name));
  }
  out->entries.push_back(std::move(value));
  return out;
}

namespace {

int64_t product(int64_t rows, int64_t cols) { return rows < 0 || cols < 0 ? -1 : rows * cols; }

void infer_list(InferCall& c) {
  int64_t entries = 0;
  for (const Meta& m : c.in) entries += m.kind == Kind::none ? 0 : 1;
  c.out[0] = {Kind::list, entries, 1, -1, -1};
}

void make_list(Call& c) {
  auto out = std::make_shared<List>();
  out->entries.reserve(c.in.size());
  const bool named = std::any_of(c.names.begin(), c.names.end(), [](const std::string& n) { return !n.empty(); });
  for (size_t i = 0; i < c.in.size(); ++i) {
    if (!c.has(i)) continue;
    out->entries.push_back(c.take_value(i));
    if (named) out->names.push_back(i < c.names.size() ? c.names[i] : std::string());
  }
  c.out[0] = ListRef(std::move(out));
}

void infer_remove(InferCall& c) {
  if (c.in[0].rows == 0) c.fail("cannot remove an entry: the list is empty");
  const auto at = c.in[0].rows >= 0 ? c.integer(1) : std::nullopt;
  if (at && (*at < 1 || *at > c.in[0].rows))
    c.fail("list index out of range: expected 1 to {}, found {}", c.in[0].rows, *at);
  c.out[0] = {Kind::list, c.in[0].rows > 0 ? c.in[0].rows - 1 : -1, 1, -1, -1};
  c.out[1] = {Kind::list, 1, 1, -1, -1};
}

void remove_entry(Call& c) {
  Value value = c.take_value(0);
  ListRef list = std::move(std::get<ListRef>(value));
  const Range range = range_of(*list, *c.in[1], *c.in[1], c.span);
  c.out[1] = slice(*list, range);
  const std::shared_ptr<List> rest = own(std::move(list));
  remove_range(*rest, range);
  c.out[0] = ListRef(rest);
}

void infer_size(InferCall& c) { c.out[0] = scalar_meta(Kind::integer); }
void run_nrow(Call& c) { c.out[0] = meta_of(*c.in[0]).rows; }
void run_ncol(Call& c) { c.out[0] = meta_of(*c.in[0]).cols; }
void run_length(Call& c) {
  const Meta m = meta_of(*c.in[0]);
  c.out[0] = product(m.rows, m.cols);
}

Cost no_cost(const InferCall&) { return {}; }

constexpr Kinds kSized = kMatrix | kFrame | kList;
constexpr Kernel kMakeList[] = {{"reference", nullptr, make_list}};
constexpr Kernel kRemove[] = {{"reference", nullptr, remove_entry}};
constexpr Kernel kNrow[] = {{"reference", nullptr, run_nrow}};
constexpr Kernel kNcol[] = {{"reference", nullptr, run_ncol}};
constexpr Kernel kLength[] = {{"reference", nullptr, run_length}};

constexpr Op kOps[] = {
    {.name = "list",
     .params = Params{param::optional("value", kAny)}.repeat_last(),
     .infer = infer_list,
     .cost = no_cost,
     .kernels = kMakeList,
     .doc = "A list of the given values; name=value gives an entry a name.",
     .example =
         "L = list(a=1, b=\"two\")\nprint(as.scalar(L[\"b\"]))  # expect: two\nprint(length(list()))  # expect: 0"},
    {.name = "remove",
     .params = {param::of("list", kList), param::of("index", kNumber | kString)},
     .outputs = 2,
     .laws = {.failure = Failure::by_data},
     .infer = infer_remove,
     .cost = no_cost,
     .kernels = kRemove,
     .doc = "[rest, entry]: the list without the entry of that position or name, and a list of that entry.",
     .example = "[L, e] = remove(list(7, 8, 9), 2)\nprint(length(L))  # expect: 2\nprint(as.scalar(e))  # expect: 8"},
    {.name = "nrow",
     .params = {param::of("X", kSized)},
     .infer = infer_size,
     .cost = no_cost,
     .kernels = kNrow,
     .doc = "Number of rows; of a list the number of its entries.",
     .example = "print(nrow(matrix(0, 2, 3)))  # expect: 2"},
    {.name = "ncol",
     .params = {param::of("X", kSized)},
     .infer = infer_size,
     .cost = no_cost,
     .kernels = kNcol,
     .doc = "Number of columns; 1 for a list.",
     .example = "print(ncol(matrix(0, 2, 3)))  # expect: 3"},
    {.name = "length",
     .params = {param::of("X", kSized)},
     .infer = infer_size,
     .cost = no_cost,
     .kernels = kLength,
     .doc = "Number of cells; of a list the number of its entries.",
     .example = "print(length(matrix(0, 2, 3)))  # expect: 6\nprint(length(list(1, 2)))  # expect: 2"},
};

}  // namespace

OpFamily list_ops() { return kOps; }

}  // namespace hopline
