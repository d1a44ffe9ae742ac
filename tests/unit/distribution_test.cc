#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/ops/distribution_functions.h"
#include "tests/unit/op_testing.h"

namespace hopline {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Known {
  DistributionKind kind;
  double df1, df2, x, lower, upper;
};

// Computed with 420 decimal digits from the series of the incomplete gamma and beta functions.
constexpr Known kKnown[] = {
    {DistributionKind::normal, 1, 1, -38.4, 6.42285339593620507e-323, 1.00000000000000000e+00},
    {DistributionKind::normal, 1, 1, -30.25, 2.60864028574126045e-201, 1.00000000000000000e+00},
    {DistributionKind::normal, 1, 1, -12.7, 2.95648536485205005e-37, 1.00000000000000000e+00},
    {DistributionKind::normal, 1, 1, -5.5, 1.89895624658877179e-08, 9.99999981010437522e-01},
    {DistributionKind::normal, 1, 1, -1.0, 1.58655253931457046e-01, 8.41344746068542926e-01},
    {DistributionKind::normal, 1, 1, -0.001, 4.99601057786088931e-01, 5.00398942213911013e-01},
    {DistributionKind::normal, 1, 1, 0.3, 6.17911422188952675e-01, 3.82088577811047381e-01},
    {DistributionKind::normal, 1, 1, 1.959963984540054, 9.74999999999999978e-01, 2.50000000000000118e-02},
    {DistributionKind::normal, 1, 1, 4.0, 9.99968328758166880e-01, 3.16712418331199243e-05},
    {DistributionKind::normal, 1, 1, 8.1, 9.99999999999999778e-01, 2.74795939239822856e-16},
    {DistributionKind::normal, 1, 1, 25.0, 1.00000000000000000e+00, 3.05669670638256102e-138},
    {DistributionKind::chisq, 1, 1, 1e-12, 7.97884560802732402e-07, 9.99999202115439245e-01},
    {DistributionKind::chisq, 1, 1, 0.5, 5.20499877813046519e-01, 4.79500122186953481e-01},
    {DistributionKind::chisq, 1, 1, 3.841458820694124, 9.49999999999999956e-01, 5.00000000000000583e-02},
    {DistributionKind::chisq, 2, 1, 700.0, 1.00000000000000000e+00, 9.92959039626497958e-153},
    {DistributionKind::chisq, 3, 1, 1e-05, 8.41041650878703637e-09, 9.99999991589583526e-01},
    {DistributionKind::chisq, 5, 1, 1.2, 5.51226349978780825e-02, 9.44877365002121938e-01},
    {DistributionKind::chisq, 10, 1, 60.0, 9.99999996375699030e-01, 3.62430095206148823e-09},
    {DistributionKind::chisq, 100, 1, 60.0, 5.18891462548034328e-04, 9.99481108537451979e-01},
    {DistributionKind::chisq, 100, 1, 101.0, 5.46807776723631456e-01, 4.53192223276368544e-01},
    {DistributionKind::chisq, 100, 1, 300.0, 1.00000000000000000e+00, 7.41210085732287645e-22},
    {DistributionKind::chisq, 999, 1, 900.0, 1.13788129165811082e-02, 9.88621187083418840e-01},
    {DistributionKind::chisq, 999, 1, 1500.0, 1.00000000000000000e+00, 8.51313565549161231e-23},
    {DistributionKind::f, 1, 1, 1e-10, 6.36619772346360700e-06, 9.99993633802276571e-01},
    {DistributionKind::f, 1, 1, 5.0, 7.32279527198769986e-01, 2.67720472801230014e-01},
    {DistributionKind::f, 3, 7, 0.2, 1.06832044337510215e-01, 8.93167955662489743e-01},
    {DistributionKind::f, 3, 7, 4.35, 9.50078449664416569e-01, 4.99215503355834242e-02},
    {DistributionKind::f, 10, 200, 2.5, 9.92454643739636211e-01, 7.54535626036373971e-03},
    {DistributionKind::f, 200, 10, 0.6, 9.06990176165816259e-02, 9.09300982383418388e-01},
    {DistributionKind::f, 50, 50, 12.0, 9.99999999999998557e-01, 1.42040759619055635e-15},
    {DistributionKind::f, 2, 2, 1000000000.0, 9.99999999000000028e-01, 9.99999998999999913e-10},
    {DistributionKind::f, 301, 499, 1.01, 5.41773677815437615e-01, 4.58226322184562329e-01},
    {DistributionKind::f, 301, 499, 0.5, 5.19333637108813300e-11, 9.99999999948066653e-01},
    {DistributionKind::t, 1, 1, -1000000.0, 3.18309886183684554e-07, 9.99999681690113773e-01},
    {DistributionKind::t, 1, 1, 0.25, 5.77979130377369366e-01, 4.22020869622630690e-01},
    {DistributionKind::t, 2, 1, -3.0, 4.77329831333545632e-02, 9.52267016866645388e-01},
    {DistributionKind::t, 5, 1, 2.015, 9.49996913836596790e-01, 5.00030861634031681e-02},
    {DistributionKind::t, 30, 1, -9.5, 7.45049922343380581e-11, 9.99999999925495042e-01},
    {DistributionKind::t, 30, 1, 0.0001, 5.00039563218421246e-01, 4.99960436781578754e-01},
    {DistributionKind::t, 500, 1, -14.0, 4.11524746828882221e-38, 1.00000000000000000e+00},
    {DistributionKind::t, 500, 1, 1.96, 9.74724605090117047e-01, 2.52753949098829742e-02},
    {DistributionKind::t, 3, 1, 100000.0, 9.99999999999998890e-01, 1.10265779044662727e-15},
};

double relative_error(double found, double expected) {
  return found == expected ? 0 : std::fabs(found - expected) / std::fabs(expected);
}

TEST(DistributionTest, GivesKnownProbabilities) {
  for (const Known& k : kKnown) {
    const DistributionParameters d{k.kind, 0, 1, 1, k.df1, k.df2};
    const double allowed = k.lower < 1e-307 ? 0.1 : 4e-16;  // a denormal has few bits
    EXPECT_LE(relative_error(cumulative_probability(d, k.x, true), k.lower), allowed) << k.df1 << " " << k.x;
    EXPECT_LE(relative_error(cumulative_probability(d, k.x, false), k.upper), 4e-16) << k.df1 << " " << k.x;
  }
}

// Large parameters cost a digit.
constexpr Known kLarge[] = {
    {DistributionKind::f, 300000, 30, 0.7, 6.03290580983069091e-02, 9.39670941901693091e-01},
    {DistributionKind::f, 300000, 30, 1.6, 9.45082348681989814e-01, 5.49176513180102063e-02},
    {DistributionKind::f, 100000, 100001, 1.002, 6.23965327093385480e-01, 3.76034672906614520e-01},
    {DistributionKind::f, 100000, 100001, 0.99, 5.60195568131430302e-02, 9.43980443186856921e-01},
    {DistributionKind::f, 1, 300000, 3.0, 9.16734455467584253e-01, 8.32655445324157473e-02},
    {DistributionKind::f, 300000, 1, 3.0, 5.63703294916433895e-01, 4.36296705083566050e-01},
    {DistributionKind::f, 300000, 1, 0.2, 2.53480509295117735e-02, 9.74651949070488244e-01},
    {DistributionKind::f, 2, 300000, 9.0, 9.99876556872100641e-01, 1.23443127899349386e-04},
    {DistributionKind::f, 1, 300000, 0.01, 7.96556077337405022e-02, 9.20344392266259526e-01},
};

TEST(DistributionTest, GivesKnownProbabilitiesForManyDegreesOfFreedom) {
  for (const Known& k : kLarge) {
    const DistributionParameters d{k.kind, 0, 1, 1, k.df1, k.df2};
    EXPECT_LE(relative_error(cumulative_probability(d, k.x, true), k.lower), 1e-14) << k.df1 << " " << k.x;
    EXPECT_LE(relative_error(cumulative_probability(d, k.x, false), k.upper), 1e-14) << k.df1 << " " << k.x;
  }
}

// x leads back to p, as near as the neighbours of x allow.
TEST(DistributionTest, InvertsOverTheWholeRange) {
  for (const DistributionKind kind : {DistributionKind::normal, DistributionKind::exponential, DistributionKind::chisq,
                                      DistributionKind::f, DistributionKind::t})
    for (const double df1 : {1.0, 2.0, 7.0, 1000.0, 1e6})
      for (const double df2 : {1.0, 30.0, 5000.0})
        for (const double p : {1e-300, 1e-20, 1e-5, 0.1, 0.4999999, 0.5, 0.75, 0.999, 1 - 1e-12}) {
          const DistributionParameters d{kind, 2, 3, 0.5, df1, df2};
          const double x = inverse_probability(d, p);
          if (std::fabs(x) < 1e-290 || std::isinf(x)) continue;  // denormal or beyond double
          const double back = cumulative_probability(d, x, true);
          const double next = cumulative_probability(d, std::nextafter(x, kInf), true);
          EXPECT_LE(std::fabs(back - p), std::fabs(next - back) + 5e-15 * p)
              << static_cast<int>(kind) << " " << df1 << " " << df2 << " " << p;
        }
}

TEST(DistributionTest, KnowsTheEnds) {
  const DistributionParameters normal, chisq{DistributionKind::chisq, 0, 1, 1, 3, 1};
  EXPECT_EQ(inverse_probability(normal, 0), -kInf);
  EXPECT_EQ(inverse_probability(normal, 1), kInf);
  EXPECT_EQ(inverse_probability(normal, 0.5), 0);
  EXPECT_EQ(inverse_probability(chisq, 0), 0);
  EXPECT_EQ(inverse_probability(chisq, 1), kInf);
  EXPECT_EQ(cumulative_probability(normal, -kInf, true), 0);
  EXPECT_EQ(cumulative_probability(normal, kInf, true), 1);
  EXPECT_EQ(cumulative_probability(chisq, -1, true), 0);
  EXPECT_EQ(cumulative_probability(chisq, kInf, true), 1);
  EXPECT_TRUE(std::isnan(cumulative_probability(chisq, kNan, true)));
  const DistributionParameters t{DistributionKind::t, 0, 1, 1, 4, 1}, f{DistributionKind::f, 0, 1, 1, 4, 2};
  EXPECT_EQ(cumulative_probability(t, kInf, true), 1);
  EXPECT_EQ(cumulative_probability(t, -kInf, true), 0);
  EXPECT_EQ(cumulative_probability(t, 0, true), 0.5);
  EXPECT_EQ(cumulative_probability(f, kInf, false), 0);
}

struct DistributionOps : ::testing::Test, OpTest {
  double number(std::string_view name, std::vector<Value> in) { return std::get<double>(run(name, std::move(in))); }
  std::string error_of(std::string_view name, std::vector<Value> in) {
    try {
      run(name, std::move(in));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(DistributionOps, AgreeWithTheirShortForms) {
  const Value none;
  EXPECT_EQ(number("cdf", {1.5, std::string("normal"), 1.0, 2.0}), number("pnorm", {1.5, 1.0, 2.0}));
  EXPECT_EQ(number("cdf", {1.5, std::string("exp"), none, none, 3.0}), number("pexp", {1.5, 3.0}));
  EXPECT_EQ(number("cdf", {1.5, std::string("chisq"), none, none, none, 3.0}), number("pchisq", {1.5, 3.0}));
  EXPECT_EQ(number("cdf", {1.5, std::string("chisq"), none, none, none, 3.9}), number("pchisq", {1.5, 3.0}));
  EXPECT_EQ(number("cdf", {1.5, std::string("f"), none, none, none, none, 3.0, 4.0, false}),
            number("pf", {1.5, 3.0, 4.0, false}));
  EXPECT_EQ(number("cdf", {1.5, std::string("t"), none, none, none, int64_t{5}}), number("pt", {1.5, 5.0}));
  EXPECT_EQ(number("icdf", {0.3, std::string("t"), none, none, none, int64_t{5}}), number("qt", {0.3, 5.0}));
  EXPECT_NEAR(number("qnorm", {0.975}), 1.9599639845400545, 1e-15);
  EXPECT_EQ(number("qf", {0.5, 3.0, 3.0}), 1);
}

TEST_F(DistributionOps, SayWhatIsWrong) {
  const Value none;
  EXPECT_EQ(error_of("cdf", {1.0, std::string("gauss")}),
            "cdf: expected dist to be normal, exp, chisq, f or t, found gauss");
  EXPECT_EQ(error_of("cdf", {1.0, std::string("chisq")}), "cdf: this distribution needs df");
  EXPECT_EQ(error_of("cdf", {1.0, std::string("f"), none, none, none, none, 2.0}), "cdf: this distribution needs df2");
  EXPECT_EQ(error_of("pnorm", {1.0, 0.0, -1.0}), "pnorm: expected sd above 0, found -1");
  EXPECT_EQ(error_of("pexp", {1.0, 0.0}), "pexp: expected rate above 0, found 0");
  EXPECT_EQ(error_of("pt", {1.0, 0.5}), "pt: expected df of at least 1 and below 2^31, found 0.5");
  EXPECT_EQ(error_of("qnorm", {1.5}), "qnorm: expected a probability between 0 and 1, found 1.5");
  EXPECT_EQ(error_of("qnorm", {kNan}), "qnorm: expected a probability between 0 and 1, found nan");
}

}  // namespace
}  // namespace hopline
