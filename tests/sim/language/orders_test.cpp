#include "attica/sim/language/orders.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/language/product_chain.hpp"

using namespace attica;
using namespace attica::testing;
using Eigen::Index;

namespace language_orders_test {

Described described(const MarkovClone& by, Index count) {
  RandomStream stream({.seed = 12, .id = StreamId::self_test});
  Described d{.masked = hide_one(chain_source(product_chain(3), kSites)(count, stream), stream),
              .laws = {}};
  d.laws = chain_laws(by, d.masked);
  return d;
}

PairShare share_of(int order) {
  const Described training = described(product_chain(order), 20000);
  const Described test = described(product_chain(order), 4000);
  PairModel pairs(training.masked.windows.cols(), training.laws.cols());
  return pair_share(
      pairs, training, test, {.steps = 800}, 512, {.seed = 13, .id = StreamId::self_test});
}

TEST_CASE("pair_share: 1 for a chain of order 2, less for order 3", "[sim][language]") {
  const PairShare two = share_of(2);
  CHECK(two.context > 0.1);
  // What is left is the error of the fit: 240 weights.
  CHECK(two.share() > 0.98);
  const PairShare three = share_of(3);
  CHECK(three.context > two.context);
  CHECK(three.share() < 0.9);
}

TEST_CASE("pair_share: without context there is nothing to share", "[sim][language]") {
  CHECK(share_of(1).context == Approx(0).margin(1e-12));
}

TEST_CASE("blurred: the ends are one symbol's law and the predictor itself", "[sim][language]") {
  const Described d = described(product_chain(3), 3000);
  const Eigen::VectorXd u =
      Eigen::Map<const Eigen::VectorXd>(product_chain(1).frequencies().row(1, 0), kSymbols);
  const Laws none = blurred(d.laws, u, 0);
  for (Index k = 0; k < none.rows(); ++k) {
    REQUIRE((none.row(k).transpose() - u).cwiseAbs().maxCoeff() < 1e-12);
  }
  CHECK((blurred(d.laws, u, 1) - d.laws).cwiseAbs().maxCoeff() < 1e-12);
  const double half = mean_loss(blurred(d.laws, u, 0.5), d.masked);
  CHECK(blur_of_loss(d.laws, u, d.masked, half) == Approx(0.5).margin(1e-6));
  CHECK(blur_of_loss(d.laws, u, d.masked, 10) == 0);
  CHECK(blur_of_loss(d.laws, u, d.masked, 0) == 1);
}

TEST_CASE("saturation and crossing: by hand", "[sim][language]") {
  CHECK(saturation({3, 2, 1.05, 1.01, 1, 2}, 0.05) == 2);
  CHECK(saturation({1, 2, 3}, 0.05) == 0);
  CHECK(crossing({1, 2, 3}, {2, 2, 2}) == std::optional<std::size_t>(2));
  CHECK_FALSE(crossing({1, 1}, {2, 1}));
}

}  // namespace language_orders_test
