// Writes random DML programs that run: every expression is made for a kind, sizes and facts, so that shapes meet and
// nothing that may differ between variants decides what happens. Some programs end in an error on purpose.
#pragma once
#include <fmt/format.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/value.h"
#include "tests/random/rows.h"

namespace hopline::tests {

struct Type {
  Kind kind = Kind::unknown;     // unknown: an int or a double, as it happens
  int64_t rows = -1, cols = -1;  // of a matrix; -1: not known before it runs
  Facts facts = {};
  std::vector<std::pair<std::string, Type>> entries = {};  // of a list: names (all empty or none) and types
  bool is_matrix() const { return kind == Kind::matrix; }
  bool is_number() const { return kind == Kind::unknown || hopline::is_number(kind); }
};

// An expression: its text binds like a call or a name.
struct Made {
  std::string text;
  Type type;
};

class Writer {
 public:
  explicit Writer(uint64_t seed);
  std::string program();

 private:
  struct Variable {
    std::string name;
    Type type;
    bool fixed = false;  // a counter: read only
  };
  struct Input {
    std::string name;
    Type type;
    std::string fallback;  // "" when there is none
  };
  struct Routine {
    std::string name;
    std::vector<Input> inputs;
    std::vector<Type> outputs;
  };

  // --- chance
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(engine_) < p; }
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  size_t below(size_t n) { return static_cast<size_t>(between(0, static_cast<int64_t>(n) - 1)); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  int64_t size();  // of a new matrix

  // --- expressions of scalars: scalars.cc
  Made number(const Facts& need, int depth);
  Made condition(int depth);
  Made text(int depth);
  Made index(int64_t high);                                                 // a whole number in 1..high
  std::pair<std::string, std::string> bounds(int64_t length, int64_t all);  // low and high of a range of that length
  Made number_literal(const Facts& need);
  std::optional<Made> try_number(int depth);
  std::optional<Made> number_of_operator(int depth);
  std::optional<Made> number_of_matrix(int depth);
  std::optional<Made> number_of_variable();
  std::optional<Made> adapt(Made made, const Facts& need);
  std::optional<Made> adapt_once(const Made& made, const Facts& need);

  // --- expressions of matrices: matrices.cc
  Made matrix(int64_t rows, int64_t cols, const Facts& need, int depth);
  Made matrix_literal(int64_t rows, int64_t cols, const Facts& need);
  std::string cells_text(int64_t count, const Facts& need);
  Made random_matrix(int64_t rows, int64_t cols);
  std::optional<Made> try_matrix(int64_t rows, int64_t cols, int depth);
  std::optional<Made> cellwise_unary(int64_t rows, int64_t cols, int depth);
  std::optional<Made> cellwise_binary(int64_t rows, int64_t cols, int depth);
  std::optional<Made> part_of_variable(int64_t rows, int64_t cols);
  std::optional<Made> variable_of(int64_t rows, int64_t cols);
  std::optional<Made> reshaped(int64_t rows, int64_t cols, int depth);
  std::optional<Made> solved(int64_t rows, int64_t cols);

  // --- operators by their rows: row_calls.cc
  std::optional<Made> row_call(Kind kind, int64_t rows, int64_t cols, int depth);
  std::optional<Made> row_call(const Op& op, Kind kind, int64_t rows, int64_t cols, int depth);
  std::vector<RowArgument> draw_arguments(const Op& op, int64_t rows, int64_t cols);
  RowArgument draw_argument(const Op& op, size_t i, int64_t rows, int64_t cols);
  std::optional<Made> finish_call(const Op& op, std::vector<RowArgument> in, const Meta& out, int depth);

  // Operands put into a pattern of the table of rewrites: patterns.cc
  std::optional<Made> pattern(Kind kind, int64_t rows, int64_t cols, int depth);
  std::optional<Made> chain(int64_t rows, int64_t cols, int depth);  // of products
  // A matrix of sizes that the run decides: by data or by a counter. It has at least one row and one column.
  Made sized_by_run(int depth);
  std::optional<Made> resized(int depth);  // from a variable of such sizes

  // --- statements: statements.cc, loops.cc
  void statement(int depth);
  void body(int statements, int depth);
  void assign(int depth);
  void assign_matrix();
  void assign_number();
  void assign_other();
  void assign_part();
  void assign_unknown_size();
  void accumulate();
  void use_list();
  void call_several();
  void print_something();
  void print(const Made& made);
  void branch(int depth);
  void loop_for(int depth);
  void loop_while(int depth);
  void loop_parallel(int depth);
  void grow();
  void scalar_code(int depth);
  void decompose();
  void fail_perhaps();

  // --- functions: functions.cc
  void function();
  void recursive_function();
  std::optional<Made> call_of(Kind kind, int64_t rows, int64_t cols, int depth);
  std::string arguments_of(const Routine& routine, int depth);
  Type random_type();
  Made value_of(const Type& type, int depth);

  // --- scope and output
  std::string new_name(std::string_view letter) { return fmt::format("{}{}", letter, ++names_); }
  Variable* find(const std::string& name);
  void set(const std::string& name, Type type);
  std::vector<const Variable*> numbers() const;
  std::vector<const Variable*> matrices() const;
  // An assignment of `type` to a new or to an existing variable of this block; "" when it must be a new one.
  std::string target(const Type& type, std::string_view letter);
  bool is_open(const Variable& v) const { return !v.fixed && static_cast<size_t>(&v - variables_.data()) >= closed_; }
  bool is_outer(const Variable& v) const { return static_cast<size_t>(&v - variables_.data()) < outer_; }
  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  std::mt19937_64 engine_;
  std::vector<const Op*> rows_, unary_, binary_;
  std::vector<Variable> variables_;
  size_t outer_ = 0;   // variables below exist outside of this block: they keep to their types
  size_t closed_ = 0;  // variables below must not be assigned (in a parfor)
  std::vector<Routine> routines_;
  std::string out_;
  int names_ = 0, indent_ = 0;
  bool scalars_only_ = false, in_parfor_ = false, failed_ = false;
  bool may_fail_ = false;  // one statement of the program fails
};

}  // namespace hopline::tests
