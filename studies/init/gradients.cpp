/// @file
/// @brief Study init-gradients: gradients on their way back through the blocks of a transformer
/// with Gaussian weights.

#include "attica/theory/init/gradients.hpp"

#include <cmath>

#include "attica/studies/init/model.hpp"

namespace attica::init_gradients {
namespace {

const std::vector<std::string> kSeries = {
    "gradient", "gradient_overlap", "value_weight", "query_weight", "key_weight"};

class Gradients : public NetworkExperiment {
 public:
  explicit Gradients(Configuration& c)
      : NetworkExperiment(c), order_(theory_at(0).limit || theory_at(0).cosine == 0 ? 0 : 1) {}

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    for (std::size_t k = 0; k < points(); ++k) {
      const InitialTransformer& network = theory_at(k);
      const auto all = back_propagate(network, blocks(), order_);
      const double dimension = network.dimension;
      const double heads = network.heads / dimension;  // 1/d_k
      const double depth = blocks() / dimension;
      const double growth = gram_growth(network) * network.context / dimension;
      // What the next order leaves, and what leading order does.
      const double tokens = order_ == 1 ? heads / 2 + depth / 2 : 2 * heads + 2 * depth;
      const double overlaps = order_ == 1 ? depth : 0.1 + 2 * depth;
      Curves curves(at(k), "block", kSeries);
      bool described = true;
      for (std::size_t l = 0; l < all.size(); ++l) {
        const BlockGradients& g = all[l];
        described = described && (network.limit || g.clones <= kClones);
        const double grown = growth * static_cast<double>(l);
        const double wide = order_ == 1 ? tokens + grown * grown / 4 : 2 * heads + grown;
        const auto weight = [&](double value) {
          return PredictedValue(value, wide * value, described && wide <= kWidest);
        };
        curves.add(static_cast<double>(l + 1),
                   {{g.own, tokens * g.own, described},
                    {g.overlap,
                     g.own / network.context * overlaps + order_ * tokens * std::abs(g.overlap),
                     described},
                    {g.value_weight, tokens * g.value_weight, described},
                    weight(g.query_weight),
                    weight(g.key_weight)});
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

  int order_;  ///< in 1/d of the theory
};

}  // namespace

Study study() { return described({.name = "init-gradients", .make = make<Gradients>}); }

}  // namespace attica::init_gradients
