#include "attica/core/potts/coding.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>

#include "attica/core/error.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "reference_values.hpp"

using namespace attica;
using attica::testing::reference_values;
using Catch::Matchers::WithinAbs;

TEST_CASE("coded_moments: match the reference", "[core][potts]") {
  const auto r = reference_values("potts")["potts"];
  const PottsModel model(cosine_couplings(4), cosine_colour_couplings(3), 1.2);
  const CodedMoments moments = coded_moments(enumerate(model).states, 3);
  for (std::size_t i = 0; i < 8; ++i) {
    const auto a = static_cast<Eigen::Index>(i);
    CHECK_THAT(moments.mean[a], WithinAbs(r["coded_mean"][i], 1e-13));
    for (std::size_t j = 0; j < 8; ++j) {
      CHECK_THAT(moments.covariance(a, static_cast<Eigen::Index>(j)),
                 WithinAbs(r["coded_cov"][i][j], 1e-13));
    }
  }
}

TEST_CASE("coded: distances are those of one-hot vectors", "[core][potts]") {
  const Sequences s = (Sequences(2, 2) << 0, 2, 1, 2).finished();
  const Eigen::MatrixXd z = coded(s, 3);
  CHECK_THAT((z.row(0) - z.row(1)).squaredNorm(), WithinAbs(2, 1e-14));
  CHECK_THROWS_AS(coded(s, 2), Error);
}
