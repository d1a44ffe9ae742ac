#include "planner/rewrite/rules.h"

namespace hopline {

namespace {

constexpr Exactness kReassociates = Exactness::reassociating;

bool one_row(const Match& m) { return m.rows("X") == 1; }
bool one_column(const Match& m) { return m.cols("X") == 1; }
bool is_wide_square(const Match& m) { return m.cols("X") > 1 && m.cols("X") == m.rows("X"); }

// A replacement is never worse than its pattern. Tests run every row on random operands.
constexpr Rule kRules[] = {
    // Transposes that cancel, or that an aggregate does not see.
    {"double_transpose", "t(t(X))", "X"},
    {"double_reverse", "rev(rev(X))", "X"},
    {"sum_transpose", "sum(t(X))", "sum(X)", kReassociates},
    {"mean_transpose", "mean(t(X))", "mean(X)", kReassociates},
    {"min_transpose", "min(t(X))", "min(X)"},
    {"max_transpose", "max(t(X))", "max(X)"},
    {"prod_transpose", "prod(t(X))", "prod(X)", kReassociates},
    {"sum_reverse", "sum(rev(X))", "sum(X)", kReassociates},
    {"mean_reverse", "mean(rev(X))", "mean(X)", kReassociates},
    {"prod_reverse", "prod(rev(X))", "prod(X)", kReassociates},
    {"min_reverse", "min(rev(X))", "min(X)"},
    {"max_reverse", "max(rev(X))", "max(X)"},
    {"row_sums_transpose", "rowSums(t(X))", "t(colSums(X))", kReassociates},
    {"row_means_transpose", "rowMeans(t(X))", "t(colMeans(X))", kReassociates},
    {"row_mins_transpose", "rowMins(t(X))", "t(colMins(X))"},
    {"row_maxs_transpose", "rowMaxs(t(X))", "t(colMaxs(X))"},
    {"col_sums_transpose", "colSums(t(X))", "t(rowSums(X))", kReassociates},
    {"col_means_transpose", "colMeans(t(X))", "t(rowMeans(X))", kReassociates},
    {"col_mins_transpose", "colMins(t(X))", "t(rowMins(X))"},
    {"col_maxs_transpose", "colMaxs(t(X))", "t(rowMaxs(X))"},
    // Aggregates of aggregates.
    {"sum_row_sums", "sum(rowSums(X))", "sum(X)", kReassociates},
    {"sum_col_sums", "sum(colSums(X))", "sum(X)", kReassociates},
    {"min_row_mins", "min(rowMins(X))", "min(X)"},
    {"min_col_mins", "min(colMins(X))", "min(X)"},
    {"max_row_maxs", "max(rowMaxs(X))", "max(X)"},
    {"max_col_maxs", "max(colMaxs(X))", "max(X)"},
    // The sum of -0.0 alone is 0.0.
    {"row_sums_column", "rowSums(X)", "X", kReassociates, one_column},
    {"row_means_column", "rowMeans(X)", "X", kReassociates, one_column},
    {"row_mins_column", "rowMins(X)", "X", Exactness::exact, one_column},
    {"row_maxs_column", "rowMaxs(X)", "X", Exactness::exact, one_column},
    {"row_prods_column", "rowProds(X)", "X", Exactness::exact, one_column},
    {"col_prods_row", "colProds(X)", "X", Exactness::exact, one_row},
    {"col_sums_row", "colSums(X)", "X", kReassociates, one_row},
    {"col_means_row", "colMeans(X)", "X", kReassociates, one_row},
    {"col_mins_row", "colMins(X)", "X", Exactness::exact, one_row},
    {"col_maxs_row", "colMaxs(X)", "X", Exactness::exact, one_row},
    {"cumsum_row", "cumsum(X)", "X", Exactness::exact, one_row},
    {"cumprod_row", "cumprod(X)", "X", Exactness::exact, one_row},
    {"cummin_row", "cummin(X)", "X", Exactness::exact, one_row},
    {"cummax_row", "cummax(X)", "X", Exactness::exact, one_row},
    {"reverse_row", "rev(X)", "X", Exactness::exact, one_row},
    {"sum_diagonal", "sum(diag(X))", "trace(X)", kReassociates, is_wide_square},
    {"trace_transpose", "trace(t(X))", "trace(X)"},
    // Neutral operands.
    {"times_one", "X * 1", "X"},
    {"over_one", "X / 1", "X"},
    {"minus_zero", "X - 0", "X"},
    {"power_one", "X ^ 1", "X"},
    {"double_minus", "-(-X)", "X"},
    {"abs_abs", "abs(abs(X))", "abs(X)"},
    {"abs_minus", "abs(-X)", "abs(X)"},
    {"floor_floor", "floor(floor(X))", "floor(X)"},
    {"ceil_ceil", "ceil(ceil(X))", "ceil(X)"},
    {"abs_comparison", "abs(X > Y)", "X > Y"},
    {"sign_comparison", "sign(X > Y)", "X > Y"},
    // Scalars move to where there is less to do.
    {"sum_scaled", "sum(s * X)", "s * sum(X)", kReassociates},
    {"trace_scaled", "trace(s * X)", "s * trace(X)", kReassociates},
    // Products that never write a transpose.
    {"trace_product", "trace(X %*% Y)", "sum(X * t(Y))", kReassociates},
    {"product_of_transposes", "t(t(X) %*% t(Y))", "Y %*% X", kReassociates},
    {"tsmm", "t(X) %*% X", "tsmm(X)", kReassociates},
    {"tsmmr", "X %*% t(X)", "tsmmr(X)", kReassociates},
    {"tmm", "t(X) %*% Y", "tmm(X, Y)", kReassociates},
    {"mmt", "X %*% t(Y)", "mmt(X, Y)", kReassociates},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace hopline
