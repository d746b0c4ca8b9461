#include "attica/sim/gauss/labels.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include "attica/core/random.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Eigen::Index;
using Eigen::MatrixXd;

namespace gauss_labels_test {

MatrixXd normals(Index rows, Index columns, std::uint64_t seed) {
  RandomStream stream({.seed = seed});
  return MatrixXd::NullaryExpr(rows, columns, [&](Index, Index) { return stream.normal(); });
}

TEST_CASE("LabelFits: the augmented least-squares problem by QR", "[sim]") {
  for (const Index samples : {5, 9, 30}) {
    const Index n = 9;
    const MatrixXd x = normals(samples, n, 1);
    const MatrixXd y = normals(samples, 3, 2);
    const LabelFits fits(x, y);
    for (const double lambda : {1e-3, 0.4, 20.0}) {
      MatrixXd augmented(samples + n, n);
      augmented << x, std::sqrt(lambda * static_cast<double>(samples)) * MatrixXd::Identity(n, n);
      MatrixXd targets = MatrixXd::Zero(samples + n, 3);
      targets.topRows(samples) = y;
      const MatrixXd expected = augmented.colPivHouseholderQr().solve(targets);
      const MatrixXd weights = fits.weights(lambda);
      CHECK((weights - expected).norm() <= 1e-9 * expected.norm());
      const Eigen::VectorXd errors = fits.train_errors(weights);
      for (Index t = 0; t < 3; ++t) {
        CHECK_THAT(errors(t),
                   Catch::WithinRel((y.col(t) - x * expected.col(t)).squaredNorm() /
                                        static_cast<double>(samples),
                                    1e-7));
      }
    }
  }
}

TEST_CASE("LabelFits: without penalty the limit of small ones", "[sim]") {
  for (const Index samples : {5, 30}) {
    const LabelFits fits(normals(samples, 9, 3), normals(samples, 2, 4));
    const MatrixXd limit = fits.weights(0);
    CHECK((limit - fits.weights(1e-10)).norm() <= 1e-6 * limit.norm());
    if (samples < 9) CHECK(fits.train_errors(limit).maxCoeff() <= 1e-20);
  }
}

TEST_CASE("LabelFits: a site as label is the site's row of the attention matrix", "[sim]") {
  const MatrixXd z = normals(12, 8, 5);
  const RidgeFits sites(z, MatrixXd::Identity(8, 8));
  const MatrixXd weights = LabelFits(z.leftCols(7), z.rightCols(1)).weights(0.3);
  CHECK((sites.attention(0.3).row(7).head(7).transpose() - weights).norm() <=
        1e-12 * weights.norm());
}

TEST_CASE("LabelFits: bad input is named", "[sim]") {
  CHECK(refused([] { LabelFits(MatrixXd::Ones(3, 2), MatrixXd::Ones(4, 1)); }) == "labels");
  const LabelFits fits(MatrixXd::Ones(3, 2), MatrixXd::Ones(3, 1));
  CHECK(refused([&] { static_cast<void>(fits.weights(-1)); }) == "lambda");
  CHECK_THROWS_AS(fits.weights(1e-300), Error);
}

}  // namespace gauss_labels_test
