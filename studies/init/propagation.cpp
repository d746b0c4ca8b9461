/// @file
/// @brief Study init-propagation: how alike tokens become on their way through the blocks of a
/// transformer with Gaussian weights.

#include <fmt/format.h>

#include "attica/studies/init/model.hpp"

namespace attica::init_propagation {
namespace {

const std::vector<std::string> kSeries = {"distance", "participation", "shared"};

class Propagation : public NetworkExperiment {
 public:
  explicit Propagation(Configuration& c)
      : NetworkExperiment(c), order_(static_cast<int>(c.integer("theory.order"))) {
    if (theory_at(0).limit) order_ = 0;
    require(order_ == 0 || c.real("model.cosine") > 0,
            "model.cosine",
            c.real("model.cosine"),
            "above 0 with theory.order = 1, which follows ln(c/(1-c))");
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    for (std::size_t k = 0; k < points(); ++k) {
      const InitialTransformer& network = theory_at(k);
      // At order 0 the first order says how far off it is.
      const bool shifts = network.cosine > 0 && !network.limit;
      const std::vector<BlockMoments> first = propagate(network, blocks(), shifts ? 1 : 0);
      Curves curves(at(k), "block", kSeries);
      Curves spread(at(k), "block", {"network_spread"});
      bool described = true;
      for (std::size_t l = 0; l < first.size(); ++l) {
        const BlockMoments& m = first[l];
        const auto block = static_cast<double>(l + 1);
        described = described && (network.limit || m.clones <= kClones);
        const bool mean_field = order_ == 0;
        const auto told = [&](double value, double shift, bool exact) {
          return PredictedValue(
              mean_field ? value + shift : value, exact ? 0 : std::abs(shift), described);
        };
        curves.add(block,
                   {told(m.distance, m.distance_shift, !mean_field),
                    told(m.participation, m.participation_shift, false),
                    told(m.shared, m.shared_shift, false)});
        spread.add(block, {{mean_field ? 0 : m.spread, 0, false}});
      }
      curves.into(result);
      spread.into(result);
      if (!described) {
        result.warnings.push_back(
            fmt::format("beta = {:g}: attention condenses so much that tokens become clones of one "
                        "another; the "
                        "later blocks are not compared",
                        theory_at(k).beta));
      }
    }
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    RandomStream stream = replicate.stream(StreamId::initialisation);
    const auto blocks = draw_forward(network_at(replicate.point()), stream);
    Curves curves(at(replicate.point()), "block", kSeries);
    Curves spread(at(replicate.point()), "block", {"spread"});
    for (std::size_t l = 0; l < blocks.size(); ++l) {
      const auto block = static_cast<double>(l + 1);
      curves.add(block, {blocks[l].distance, blocks[l].participation, blocks[l].shared});
      spread.add(block, {blocks[l].spread});
    }
    Outcome outcome;
    curves.into(outcome);
    spread.into(outcome);
    return outcome;
  }

 private:
  int order_;
};

}  // namespace

Study study() { return described({.name = "init-propagation", .make = make<Propagation>}); }

}  // namespace attica::init_propagation
