/// @file
/// @brief Study init-gradients: gradients on their way back through the blocks of a transformer
/// with Gaussian weights.

#include "attica/theory/init/gradients.hpp"

#include "attica/studies/init/model.hpp"

namespace attica::init_gradients {
namespace {

const std::vector<std::string> kSeries = {
    "gradient", "gradient_overlap", "value_weight", "query_weight", "key_weight"};

class Gradients : public NetworkExperiment {
 public:
  using NetworkExperiment::NetworkExperiment;

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    for (std::size_t k = 0; k < points(); ++k) {
      const InitialTransformer& network = theory_at(k);
      const auto all = back_propagate(network, blocks());
      const double heads = 2 * network.heads / network.dimension;
      const double depth = 2.0 * blocks() / network.dimension;
      const double growth = gram_growth(network) * network.context / network.dimension;
      Curves curves(at(k), "block", kSeries);
      bool described = true;
      for (std::size_t l = 0; l < all.size(); ++l) {
        const BlockGradients& g = all[l];
        described = described && (network.limit || g.clones <= kClones);
        const double wide = heads + growth * static_cast<double>(l);
        const PredictedValue weight(
            g.query_weight, wide * g.query_weight, described && wide <= kWidest);
        curves.add(static_cast<double>(l + 1),
                   {{g.own, (heads + depth) * g.own, described},
                    {g.overlap, g.own / network.context * (0.1 + depth), described},
                    {g.value_weight, (heads + depth) * g.value_weight, described},
                    weight,
                    weight});
      }
      curves.into(result);
    }
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    RandomStream stream = replicate.stream(StreamId::initialisation);
    const auto blocks = draw_gradients(network_at(replicate.point()), stream);
    Curves curves(at(replicate.point()), "block", kSeries);
    for (std::size_t l = 0; l < blocks.size(); ++l) {
      const GradientMeasures& g = blocks[l];
      curves.add(static_cast<double>(l + 1),
                 {g.own, g.overlap, g.value_weight, g.query_weight, g.key_weight});
    }
    Outcome outcome;
    curves.into(outcome);
    return outcome;
  }

  double flops(std::size_t point) const override { return 3 * NetworkExperiment::flops(point); }

 private:
  /// Allowance of the weights of queries and keys beyond which they are not compared.
  static constexpr double kWidest = 0.3;
};

}  // namespace

Study study() { return described({.name = "init-gradients", .make = make<Gradients>}); }

}  // namespace attica::init_gradients
