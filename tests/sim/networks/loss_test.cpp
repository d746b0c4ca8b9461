#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "attica/sim/networks/layers.hpp"

using namespace attica::networks;

TEMPLATE_TEST_CASE("loss_backward: cross-entropy and its gradient of many rows, with a stride",
                   "[sim][networks]",
                   float,
                   double) {
  using T = TestType;
  // Sums of at most 2000 exponentials, in 16 lanes; logits of order 10 lose a digit in the
  // exponent.
  const double tolerance = 1000 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const Index rows : {1, 64, 65, 150}) {
    for (const Index classes : {2, 4, 20, 21, 100, 128, 2000}) {
      for (const Index stride : {classes, classes + 3}) {
        RowMatrix<T> logits(rows, stride);
        std::vector<std::int32_t> targets;
        std::vector<double> weights;
        for (Index i = 0; i < rows; ++i) {
          targets.push_back(static_cast<std::int32_t>((7 * i) % classes));
          weights.push_back((1 + 0.5 * std::sin(static_cast<double>(i))) /
                            static_cast<double>(rows));
          for (Index c = 0; c < stride; ++c) {
            logits(i, c) = static_cast<T>(10 * std::sin(static_cast<double>(3 * i + 5 * c)));
          }
        }
        logits(0, 1) = T(1000);  // no exponential of it exists
        RowMatrix<T> result = logits;
        const MatrixView<T> view{result.data(), rows, classes, stride};
        const double loss = loss_backward<T>(Loss::cross_entropy, view, targets, weights);

        double expected = 0;
        for (Index i = 0; i < rows; ++i) {
          const auto s = static_cast<std::size_t>(i);
          const Eigen::ArrayXd f =
              logits.row(i).head(classes).transpose().template cast<double>().array();
          const double partition = (f - f.maxCoeff()).exp().sum();
          expected += weights[s] * (std::log(partition) + f.maxCoeff() - f[targets[s]]);
          Eigen::ArrayXd gradient = weights[s] * (f - f.maxCoeff()).exp() / partition;
          gradient[targets[s]] -= weights[s];
          const Eigen::ArrayXd found =
              result.row(i).head(classes).transpose().template cast<double>().array();
          REQUIRE((found - gradient).abs().maxCoeff() <= tolerance * weights[s]);
        }
        REQUIRE(loss == Approx(expected).epsilon(tolerance));
        REQUIRE(result.rightCols(stride - classes) == logits.rightCols(stride - classes));

        result(rows - 1, classes - 1) = std::numeric_limits<T>::quiet_NaN();
        REQUIRE(std::isnan(loss_backward<T>(Loss::cross_entropy, view, targets, weights)));
      }
    }
  }
}
