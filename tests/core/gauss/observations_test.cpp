#include "attica/core/gauss/observations.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"

using namespace attica;
using Eigen::MatrixXd;
using Words = std::vector<std::string>;

TEST_CASE("observations: centred, without constant columns, moments with divisor n",
          "[core][gauss]") {
  MatrixXd values(4, 3);
  values << 1, 7, 2, 2, 7, 0, 3, 7, -1, 6, 7, 3;
  const Observations data = centred_observations({{"a", "seven", "c"}, values}, false);
  CHECK(data.columns == Words{"a", "c"});
  CHECK(data.constants == Words{"seven"});
  CHECK(data.rows.col(0) == Eigen::Vector4d(-2, -1, 0, 3));
  // Of (-2, -1, 0, 3) and (1, -1, -2, 2): sums of squares 14 and 10, of products 5, of fourth
  // powers 98 and 34.
  CHECK(data.covariance().isApprox((MatrixXd(2, 2) << 3.5, 1.25, 1.25, 2.5).finished(), 1e-15));
  CHECK(data.excess_kurtosis()(0) == Approx(98 / 4.0 / (3.5 * 3.5) - 3));
  CHECK(data.excess_kurtosis()(1) == Approx(34 / 4.0 / (2.5 * 2.5) - 3));
  const MatrixXd unit = centred_observations({{"a", "seven", "c"}, values}, true).covariance();
  CHECK(unit(0, 0) == Approx(1));
  CHECK(unit(1, 0) == Approx(1.25 / std::sqrt(3.5 * 2.5)));
}

TEST_CASE("observations: kurtosis does not depend on the units of a column", "[core][gauss]") {
  const auto kurtosis = [](double unit) {
    MatrixXd values(5, 2);
    values << 1, 1, 2, 2, 3, 3, 7, 7, -4, -4;
    values.col(0) *= unit;
    return centred_observations({{"a", "b"}, values}, true).excess_kurtosis()(0);
  };
  CHECK(kurtosis(1e100) == Approx(kurtosis(1)));
  CHECK(kurtosis(1e-100) == Approx(kurtosis(1)));
}

TEST_CASE("observations: too few rows or columns are refused", "[core][gauss][input]") {
  CHECK_THROWS_WITH(centred_observations({{"a", "b"}, MatrixXd::Ones(1, 2)}, false),
                    "expected at least two rows of data");
  CHECK_THROWS_WITH(
      centred_observations({{"a", "b"}, (MatrixXd(2, 2) << 1, 2, 2, 2).finished()}, false),
      "expected at least two columns that vary");
}
