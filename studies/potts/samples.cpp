/// @file
/// @brief Study potts-samples: how many masked sequences factored attention and one and two layers
/// of softmax attention need for an excess loss, trained with early stopping.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "attica/sim/potts/masked_samples.hpp"
#include "attica/solvers/statistics/exponents.hpp"
#include "attica/solvers/statistics/isotonic.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/theory/potts/factored_flow.hpp"

namespace attica::potts_samples {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr int kMostLayers = 2;  ///< of softmax attention; 0 layers: factored attention

Point of_model(int layers) {
  constexpr std::array kNames = {"factored", "one softmax layer", "two softmax layers"};
  return {{"model", kNames.at(static_cast<std::size_t>(layers))}};
}

class Samples : public PointwiseExperiment {
 public:
  explicit Samples(Configuration& c)
      : sites_(c.integer("model.sites")),
        masked_([family = PottsFamily(c).enumerable()] { return MaskedSamples(family.model(0)); }),
        samples_(c.reals("sweep.samples")),
        targets_(c.reals("sweep.epsilon")),
        sets_(c.integer("sim.sets")),
        starts_(c.integer("sim.starts")),
        eta_(c.real("sim.eta")),
        eta_factored_(c.real("sim.eta_factored")),
        length_(c.integer("sim.length")) {
    for (int layers = 1; layers <= kMostLayers; ++layers) {
      plans_.push_back(
          {.shape = masked_transformer(
               sites_, c.integer("model.colours"), layers, c.integer<int>("sim.width")),
           .optimiser = {},
           .deviation = c.real("sim.deviation"),
           .recorded = {}});
      networks::validate(plans_.back().shape);
    }
    std::ranges::sort(samples_);
    for (const double m : samples_)
      require(m == std::round(m), "sweep.samples", m, "a whole number of sequences");
    require(samples_.size() >= 2, "sweep.samples", samples_.front(), "two or more numbers");
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    const MaskedSamples& masked = masked_.get();
    const LearningTail tail = factored_tail(masked.model(), masked.states());
    const auto d = static_cast<double>(tail.rank);  // of the parameters
    TheoryResult result;
    Curves excess(of_model(0), "samples", {"excess_loss"});
    // The next order is a relative correction of order d/M. Couplings and values are of order one:
    // where samples leave their least visible direction undetermined by more than a third, the loss
    // is no parabola, and what has not been learned from values of 0 costs less.
    constexpr double kMost = 0.05;
    constexpr double kUndetermined = 1.0 / 3;
    const auto compared = [&](double m) {
      return d / m <= kMost && 1 <= m * tail.least_curvature * kUndetermined * kUndetermined;
    };
    for (const double m : samples_) excess.add(m, {{d / (2 * m), 0, compared(m)}});
    excess.into(result);
    Curves reached(of_model(0), "epsilon", {"samples_to_reach"});
    // A replicate whose losses miss a target has no samples that reach it: the mean of the others
    // is compared where three standard deviations of a replicate's loss (chi-squared, of relative
    // variance 2/d a set) keep it among the numbers of samples.
    const double missed = 1 + 3 * std::sqrt(2 / (d * static_cast<double>(sets_)));
    for (const double epsilon : targets_) {
      const double m = d / (2 * epsilon);
      const bool inside = m > samples_.front() * missed && m * missed < samples_.back();
      reached.add(epsilon, {{m, 0, inside && compared(m)}});
    }
    reached.into(result);
    add_constant(result, "slope", {-1, 0, std::ranges::all_of(samples_, compared)}, of_model(0));
    result.diagnostics = {{"bayes_loss", masked.bayes_loss()},
                          {"parameters_factored", static_cast<std::int64_t>(tail.rank)},
                          {"least_curvature", tail.least_curvature}};
    return result;
  }

  /// Factored attention, and networks of one layer and two.
  std::size_t points() const override { return kMostLayers + 1; }

 protected:
  double flops(std::size_t point) const override { return point == 0 ? 1e9 : 1e10; }

  Outcome run(const Replicate& replicate) const override {
    const auto layers = static_cast<int>(replicate.point());
    const MaskedSamples& masked = masked_.get();
    const std::unique_ptr<PopulationModel> model =
        layers == 0 ? std::make_unique<FactoredMasked>(masked) : masked.network(plan(layers).shape);
    const std::int64_t sets = layers == 0 ? sets_ : 1;
    Outcome outcome;
    Curves excess(of_model(layers), "samples", {"excess_loss"});
    std::vector<double> means;
    for (std::size_t k = 0; k < samples_.size(); ++k) {
      double mean = 0;
      for (std::int64_t set = 0; set < sets; ++set) {
        const auto step = static_cast<std::uint64_t>(set) * samples_.size() + k;
        const auto stream = [&](StreamId id) {
          StreamAddress address = replicate.address(id);
          address.step = step;
          return address;
        };
        const auto count = static_cast<std::int64_t>(samples_[k]);
        const VectorXd shown = masked.draw(count, RandomStream(stream(StreamId::data)));
        const VectorXd held_out = masked.draw(count, RandomStream(stream(StreamId::selection)));
        StoppedTraining lowest;
        for (const VectorXd& start : starts(layers, stream(StreamId::initialisation))) {
          const StoppedTraining end = stopped_early(
              *model, start, shown, held_out, layers == 0 ? eta_factored_ : eta_, length_, [&] {
                return replicate.stopped();
              });
          if (end.held_out < lowest.held_out) lowest = end;
        }
        if (lowest.diverged && !replicate.stopped())
          return {.series = {},
                  .status = "diverged",
                  .failed = true,
                  .message = "no step lowers the held-out loss: sim.eta is too large"};
        mean += (lowest.population - masked.bayes_loss()) / static_cast<double>(sets);
      }
      excess.add(samples_[k], {mean});
      means.push_back(mean);
    }
    excess.into(outcome);
    add_constant(outcome, "slope", log_log_line(samples_, means).slope, of_model(layers));
    Curves reached(of_model(layers), "epsilon", {"samples_to_reach"});
    Curves cap(of_model(layers), "epsilon", {"samples_cap"});
    for (const double epsilon : targets_) {
      const Reached at = reach(samples_, means, epsilon);
      if (at.before) continue;
      cap.add(epsilon, {samples_.back()});
      if (std::isfinite(at.at)) reached.add(epsilon, {at.at});
    }
    if (!cap.empty()) cap.into(outcome);
    if (!reached.empty()) reached.into(outcome);
    return outcome;
  }

 private:
  const TransformerTraining& plan(int layers) const {
    return plans_[static_cast<std::size_t>(layers - 1)];
  }

  std::vector<VectorXd> starts(int layers, const StreamAddress& address) const {
    if (layers > 0)
      return {networks::trained_values(initial_transformer(plan(layers), address).parameters())};
    // Uniform attention, then random attention, and values of 0. Where both are random one start in
    // twenty to one in five ends in a minimum of another sign; of 1400 uniform ones none did at L =
    // 4, one in 200 at L = 5.
    constexpr double kDeviation = 0.3;
    const Index colours = masked_.get().model().colours();
    const Index pairs = sites_ * (sites_ - 1);
    std::vector<VectorXd> all(static_cast<std::size_t>(starts_),
                              VectorXd::Zero(pairs + colours * colours));
    all.front().head(pairs).setConstant(1 / static_cast<double>(sites_ - 1));
    RandomStream stream(address);
    for (std::size_t k = 1; k < all.size(); ++k) {
      for (Index i = 0; i < pairs; ++i) all[k][i] = kDeviation * stream.normal();
    }
    return all;
  }

  Index sites_;
  Lazy<MaskedSamples> masked_;
  std::vector<double> samples_;
  std::vector<double> targets_;
  std::int64_t sets_;
  std::int64_t starts_;
  double eta_;
  double eta_factored_;
  std::int64_t length_;
  std::vector<TransformerTraining> plans_;  ///< of one layer, of two
};

std::vector<ExponentClaim> exponents(const Configuration& /*c*/) {
  return {{.name = "factored",
           .series = "excess_loss",
           .x_name = "samples",
           .only = of_model(0),
           .exponent = -1,
           .meaning = "d/2M: parameters of a well-specified model"}};
}

/// The slopes of the networks, and their losses over those of factored attention, run by run: few
/// means of runs that may end in several minima have narrow intervals.
/// None where the factored ones have no theory: what is not learned cannot be missed.
std::vector<ClaimResult> claims(const Configuration& /*c*/, const Observed& observed) {
  for (const Prediction& p : observed.theory) {
    if (p.series.name == "excess_loss" && !p.compared.empty() && !p.compared.back()) return {};
  }
  constexpr double kSteep = -0.6;
  constexpr double kStuck = 10;
  constexpr double kTimes = 3;
  const auto slopes = [&](int layers) {
    const std::vector<double> all = observed.last("slope", of_model(layers));
    const double mean =
        std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
    double square = 0;
    for (const double x : all) square += (x - mean) * (x - mean);
    const auto n = static_cast<double>(all.size());
    return fmt::format(
        "slope {:.3f}, standard error {:.3f}", mean, std::sqrt(square / (n - 1) / n));
  };
  const auto over_factored = [&](int layers, double times) {
    std::vector<bool> above;
    for (const auto& [network, factored] :
         last_of_both(observed, "excess_loss", of_model(layers), "excess_loss", of_model(0)))
      above.push_back(network > times * factored);
    return above;
  };
  std::vector<bool> flatter;
  for (const auto& [one, two] : last_of_both(observed, "slope", of_model(1), "slope", of_model(2)))
    flatter.push_back(one > two);
  std::vector<bool> steep;
  for (const double slope : observed.last("slope", of_model(2))) steep.push_back(slope < kSteep);
  return {claim_rate("one-layer-slope",
                     "one layer: the slope of ln excess loss against ln M is above that of two",
                     flatter,
                     slopes(1),
                     kHalf),
          claim_rate("two-layers-slope",
                     "two layers: the slope of ln excess loss against ln M is below -0.6",
                     steep,
                     slopes(2),
                     kHalf),
          claim_rate("one-layer-stuck",
                     "one layer: excess loss at the largest M over ten times that of factored "
                     "attention",
                     over_factored(1, kStuck),
                     "",
                     kHalf),
          claim_rate("two-layers-cost",
                     "two layers: excess loss at the largest M over three times that of factored "
                     "attention",
                     over_factored(2, kTimes),
                     "",
                     kHalf)};
}

}  // namespace

Study study() {
  return described(
      {.name = "potts-samples", .make = make<Samples>, .claims = claims, .exponents = exponents});
}

}  // namespace attica::potts_samples
