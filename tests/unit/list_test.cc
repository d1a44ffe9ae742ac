#include "runtime/ops/list.h"

#include <gtest/gtest.h>

#include "tests/unit/op_testing.h"

namespace hopline {

namespace {

Value num(int64_t v) { return v; }
Value str(const char* t) { return std::string(t); }
ListRef list(std::vector<Value> entries, std::vector<std::string> names = {}) {
  return std::make_shared<const List>(std::move(entries), std::move(names));
}
ListRef abc() { return list({num(1), num(2), num(3)}, {"a", "b", "c"}); }

template <class F>
std::string failure(const F& f) {
  try {
    f();
    return "no error";
  } catch (const Error& e) {
    return e.what();
  }
}

struct ListTest : testing::Test, OpTest {};

}  // namespace

TEST_F(ListTest, MakesListsWithNames) {
  const Value v = apply(ctx, op("list", 2), {num(1), str("x")}, {"a", "b"}).front();
  const List& l = *std::get<ListRef>(v);
  EXPECT_EQ(l.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(std::get<ListRef>(run("list", {}))->entries.size(), 0u);
  EXPECT_TRUE(std::get<ListRef>(run("list", {num(1)}))->names.empty());
}

TEST_F(ListTest, IndexesByPositionNameAndRange) {
  const ListRef l = abc();
  EXPECT_EQ(index_list(l, num(2), num(2), {})->entries, (std::vector<Value>{num(2)}));
  EXPECT_EQ(index_list(l, 2.9, 2.9, {})->names, (std::vector<std::string>{"b"}));
  EXPECT_EQ(index_list(l, str("c"), str("c"), {})->entries, (std::vector<Value>{num(3)}));
  EXPECT_EQ(index_list(l, str("a"), str("b"), {})->names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(index_list(l, num(2), str("c"), {})->entries, (std::vector<Value>{num(2), num(3)}));
  EXPECT_EQ(index_list(l, {}, {}, {}), l);
}

TEST_F(ListTest, RefusesWrongIndexes) {
  const ListRef l = abc();
  const auto index = [](const ListRef& of, Value low, Value high) {
    return failure([&] { index_list(of, low, high, {}); });
  };
  EXPECT_EQ(index(l, num(4), num(4)), "list index out of range: expected 1 to 3, found 4");
  EXPECT_EQ(index(l, num(0), num(1)), "list index out of range: expected 1 to 3, found 0");
  EXPECT_EQ(index(l, num(3), num(2)), "wrong list index: expected a range from low to high, found 3:2");
  EXPECT_EQ(index(l, str("z"), str("z")),
            "no entry of that name in the list: expected \"a\", \"b\", \"c\", found \"z\"");
  EXPECT_EQ(index(list({num(1)}), str("z"), str("z")),
            "no entry of that name: expected a position in a list without names, found \"z\"");
  EXPECT_EQ(index(list({}), num(1), num(1)), "list index out of range: the list is empty, found 1");
  EXPECT_EQ(index(l, list({}), list({})), "wrong list index: expected a position or a name, found list");
}

TEST_F(ListTest, ReplacesEntries) {
  const ListRef l = abc();
  const ListRef changed = assign_list(l, str("x"), num(2), num(2), {});
  EXPECT_EQ(changed->entries, (std::vector<Value>{num(1), str("x"), num(3)}));
  EXPECT_EQ(l->entries[1], num(2));
  EXPECT_EQ(changed->names, l->names);
  EXPECT_EQ(assign_list(l, list({str("y")}), str("c"), str("c"), {})->entries[2], str("y"));
  EXPECT_EQ(assign_list(l, list({num(8), num(9)}), num(1), num(2), {})->entries,
            (std::vector<Value>{num(8), num(9), num(3)}));
  EXPECT_EQ(kind_of(assign_list(l, list({num(8), num(9)}), num(1), num(1), {})->entries[0]), Kind::list);
  EXPECT_EQ(failure([&] { assign_list(l, num(1), num(1), num(2), {}); }),
            "wrong value for 2 entries of a list: expected a list of that length, found int");
  EXPECT_EQ(failure([&] {
              assign_list(l, list({num(1), num(2), num(3)}), num(1), num(2), {});
            }),
            "wrong value for a range of list entries: expected a list of length 2, found length 3");
}

TEST_F(ListTest, WritesASingleOwnerInPlace) {
  ListRef l = abc();
  const List* before = l.get();
  l = assign_list(std::move(l), num(7), num(1), num(1), {});
  EXPECT_EQ(l.get(), before);
  l = append_to_list(std::move(l), num(4));
  EXPECT_EQ(l.get(), before);
  const ListRef other = l;
  l = append_to_list(std::move(l), num(5));
  EXPECT_NE(l.get(), before);
  EXPECT_EQ(other->entries.size(), 4u);
}

TEST_F(ListTest, AListNeverHoldsItself) {
  ListRef l = list({num(1), num(2)});
  Value same = l;
  l = assign_list(std::move(l), std::move(same), num(1), num(1), {});
  EXPECT_EQ(std::get<ListRef>(l->entries[0])->entries[0], num(1));
}

TEST_F(ListTest, AppendsAndUnfoldsListsOfOne) {
  EXPECT_EQ(append_to_list(list({num(1)}), num(2))->entries, (std::vector<Value>{num(1), num(2)}));
  const ListRef named = append_to_list(abc(), list({num(4)}, {"d"}));
  EXPECT_EQ(named->entries.size(), 4u);
  EXPECT_EQ(named->names.back(), "d");
  EXPECT_EQ(append_to_list(abc(), num(4))->names.back(), "");
  EXPECT_EQ(append_to_list(list({num(1)}), list({num(2)}, {"b"}))->names, (std::vector<std::string>{"", "b"}));
  EXPECT_EQ(kind_of(append_to_list(list({}), list({num(1), num(2)}))->entries[0]), Kind::list);
}

TEST_F(ListTest, RemovesEntries) {
  const std::vector<Value> out = apply(ctx, op("remove", 2), {abc(), str("b")});
  EXPECT_EQ(std::get<ListRef>(out[0])->names, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(std::get<ListRef>(out[1])->entries, (std::vector<Value>{num(2)}));
  EXPECT_EQ(failure([&] {
              apply(ctx, op("remove", 2), {abc(), num(5)});
            }),
            "list index out of range: expected 1 to 3, found 5");
  EXPECT_EQ(failure([&] {
              apply(ctx, op("remove", 2), {list({}), num(1)});
            }),
            "cannot remove an entry: the list is empty");
}

TEST_F(ListTest, TellsSizes) {
  EXPECT_EQ(run("nrow", {dense(2, 3, {1, 2, 3, 4, 5, 6})}), num(2));
  EXPECT_EQ(run("ncol", {dense(2, 3, {1, 2, 3, 4, 5, 6})}), num(3));
  EXPECT_EQ(run("length", {new_zeros(ctx, 100000, 1000000)}), num(100000000000));
  EXPECT_EQ(run("length", {abc()}), num(3));
  EXPECT_EQ(run("nrow", {abc()}), num(3));
  EXPECT_EQ(run("ncol", {abc()}), num(1));
}

TEST_F(ListTest, FreesDeepListsWithoutRecursion) {
  Value v = num(1);
  for (int i = 0; i < 1000000; ++i) v = list({std::move(v)});
  v = {};
}

}  // namespace hopline
