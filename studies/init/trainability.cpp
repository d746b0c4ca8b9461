/// @file
/// @brief Study init-trainability: where in the plane of logit scale and skip strength tokens of a
/// transformer at initialisation stay apart, and attention open.

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "attica/core/parallel.hpp"
#include "attica/sim/init/reversal.hpp"
#include "attica/studies/init/model.hpp"

namespace attica::init_trainability {
namespace {

constexpr double kOpen = 0.5;  ///< participation from which on attention counts as condensed
constexpr double kLeastSkip = 0.01;
constexpr double kMostSkip = 100;
constexpr double kLeastBeta = 0.05;
constexpr double kMostBeta = 5;

/// Where a rising function of ln x is 0, by secants from two values of x; none if it is not found.
struct Crossed {
  double x = 0;
  double slope = 0;  ///< of the function, by ln x
};
std::optional<Crossed> crossed(const std::function<double(double)>& f,
                               double x,
                               double next,
                               double least,
                               double most,
                               double accuracy) {
  constexpr int kMost = 40;
  double y = f(x);
  for (int step = 0; step < kMost; ++step) {
    const double at = f(next);
    const double slope = (at - y) / std::log(next / x);
    if (!std::isfinite(slope) || slope <= 0) return std::nullopt;
    x = next;
    y = at;
    if (std::abs(y) < accuracy) return Crossed{x, slope};
    next = std::clamp(x * std::exp(-y / slope), least, most);
    if (next == x) return std::nullopt;
  }
  return std::nullopt;
}

class Trainability : public NetworkExperiment {
 public:
  explicit Trainability(Configuration& c)
      : NetworkExperiment(c),
        level_(c.real("model.level")),
        edges_(c.text("sim.place") == "edges"),
        trained_(c.text("sim.place") == "trained"),
        task_{.network = {},
              .batch = c.integer("sim.batch"),
              .eta = c.real("sim.eta"),
              .length = static_cast<std::uint64_t>(c.integer("sim.length"))} {
    require(level_ < 1 - c.real("model.cosine"),
            "model.level",
            level_,
            "below 1 - cosine, the distance of the input's tokens");
    require(c.real("model.cosine") > 0, "model.cosine", c.real("model.cosine"), "above 0");
  }

  std::size_t points() const override { return NetworkExperiment::points() + (edges_ ? 1 : 0); }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kParts = 8;
    TheoryResult result;
    if (!edges_) return result;
    std::vector<double> betas;
    for (std::size_t k = 0; k < NetworkExperiment::points(); ++k)
      betas.push_back(theory_at(k).beta);
    const std::vector<double> line = line_between(betas, AxisScale::linear, grid, kParts);
    const auto skips = parallel_map(line, [&](double beta) {
      InitialTransformer network = theory_at(0);
      network.beta = beta;
      return edge_skip(network);
    });
    Curves edge({}, "beta", {"edge_skip"});
    for (std::size_t k = 0; k < line.size(); ++k) {
      if (skips[k]) edge.add(line[k], std::vector<PredictedValue>{*skips[k]});
      if (!skips[k])
        result.warnings.push_back(
            fmt::format("beta = {:g}: no skip strength leaves the distance at the level", line[k]));
    }
    if (!edge.empty()) edge.into(result);
    const auto open = crossed(
        [&](double beta) {
          InitialTransformer network = theory_at(0);
          network.beta = beta;
          return attention_at(network, network.cosine).participation - kOpen;
        },
        2,
        2.5,
        kLeastBeta,
        kMostBeta,
        kExact);
    if (open) add_constant(result, "condensed_beta", {open->x});
    return result;
  }

 protected:
  double flops(std::size_t point) const override {
    if (trained_) {
      const InitialTransformer& n = theory_at(0);
      constexpr double kPasses = 6;  // a product forward and two back, of two operations an entry
      constexpr double kMatrices = 5;
      return kPasses * kMatrices * blocks() * n.dimension * n.dimension * n.context *
             static_cast<double>(task_.batch) * static_cast<double>(task_.length);
    }
    return edges_
               ? kTries * NetworkExperiment::flops(std::min(point, NetworkExperiment::points() - 1))
               : NetworkExperiment::flops(point);
  }

  Outcome run(const Replicate& replicate) const override {
    Outcome outcome;
    const StreamAddress address = replicate.address(StreamId::initialisation);
    if (trained_) {
      ReversalTask task = task_;
      task.network = network_at(replicate.point());
      const auto seen = train_reversal(task, address, [&] { return replicate.stopped(); });
      if (!seen) {
        outcome.status = "diverged";
        return replicate.stopped() ? Outcome{} : outcome;
      }
      Curves({}, "beta", {"distance", "left_half", "left"})
          .add(task.network.beta, {seen->distance, seen->left_half, seen->left})
          .into(outcome);
      return outcome;
    }
    if (!edges_) {
      RandomStream stream(address);
      const auto blocks = draw_forward(network_at(replicate.point()), stream);
      Curves({}, "beta", {"distance", "participation"})
          .add(network_at(replicate.point()).beta,
               {blocks.back().distance, blocks.front().participation})
          .into(outcome);
      return outcome;
    }
    // The same draws at every try: the network's own line.
    if (replicate.point() == NetworkExperiment::points()) {
      BlockNetwork network = network_at(0);
      network.blocks = 1;
      network.mlp = false;
      const auto open = crossed(
          [&](double beta) {
            network.beta = beta;
            RandomStream stream(address);
            return draw_forward(network, stream).front().participation - kOpen;
          },
          2,
          2.5,
          kLeastBeta,
          kMostBeta,
          kDrawn);
      if (open) add_constant(outcome, "condensed_beta", open->x);
      if (!open) outcome.status = "no line";
      return outcome;
    }
    BlockNetwork network = network_at(replicate.point());
    const auto edge = crossed(
        [&](double skip) {
          network.skip = network.mlp_skip = skip;
          RandomStream stream(address);
          return std::log(draw_forward(network, stream).back().distance / level_);
        },
        kStart,
        1.1 * kStart,
        kLeastSkip,
        kMostSkip,
        kDrawn);
    if (edge)
      Curves({}, "beta", {"edge_skip"})
          .add(network.beta, std::vector<double>{edge->x})
          .into(outcome);
    if (!edge) outcome.status = "no line";
    return outcome;
  }

 private:
  static constexpr double kStart = 1.5;
  static constexpr double kExact = 1e-9;
  static constexpr double kDrawn = 1e-4;
  static constexpr double kTries = 6;  ///< networks that a line takes

  /// Order 1 from where order 0 has its line. A network's own line is the mean's but for the
  /// curvature of the exponential: half of the squared relative spread.
  std::optional<PredictedValue> edge_skip(InitialTransformer network) const {
    constexpr double kApart = 0.7;  // times the input's cosine: tokens come closer in every block
    constexpr double kTogether = 0.999;
    std::optional<AttentionCurve> attention;
    if (!network.limit) attention.emplace(network, kApart * network.cosine, kTogether);
    BlockMoments last;
    const auto off = [&](int order) {
      return [&, order](double skip) {
        network.skip = network.mlp_skip = skip;
        const std::vector<BlockMoments> all =
            propagate(network, blocks(), order, attention ? &*attention : nullptr);
        last = all.back();
        return std::log(last.distance / level_);
      };
    };
    constexpr double kNear = 1.02;
    constexpr double kFirst = 1e-6;
    auto edge = crossed(off(0), kStart, 1.1 * kStart, kLeastSkip, kMostSkip, kFirst);
    if (edge && !network.limit)
      edge = crossed(off(1), edge->x, kNear * edge->x, kLeastSkip, kMostSkip, kFirst);
    if (!edge) return std::nullopt;
    const double spread = last.spread / last.distance;
    // What the interpolation's error of either property of attention changes of ln(1 - c).
    double error = kFirst;
    const double off_by = 1 + AttentionCurve::kAccuracy;
    for (const auto& [participation, shared] : {std::pair(off_by, 1.0), std::pair(1.0, off_by)}) {
      if (!attention) continue;
      const AttentionCurve curve = attention->scaled(participation, shared);
      const double moved = propagate(network, blocks(), 1, &curve).back().distance;
      error += std::abs(std::log(moved / last.distance));
    }
    return PredictedValue(edge->x,
                          edge->x * 0.5 * spread * spread / edge->slope,
                          network.limit || last.clones <= kClones,
                          edge->x * error / edge->slope);
  }

  double level_;
  bool edges_;    ///< the lines, or networks where model.skip says
  bool trained_;  ///< these after training
  ReversalTask task_;
};

/// On which side of both lines networks of the configured skip strength are, or whether they learn:
/// what a map shows.
std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> claims;
  if (const ObservedCurve* left = observed.curve("left", {})) {
    constexpr double kHalfLeft = 0.5;
    for (std::size_t k = 0; k < left->mean.x.size(); ++k) {
      claims.push_back(claim_below(fmt::format("learnt-at-{:g}", left->mean.x[k]),
                                   "less than half of the loss of guessing is left",
                                   left->values[k],
                                   kHalfLeft));
    }
    return claims;
  }
  if (c.text("sim.place") != "here") return claims;
  const double level = c.real("model.level");
  const ObservedCurve* distance = observed.curve("distance", {});
  const ObservedCurve* participation = observed.curve("participation", {});
  if (distance == nullptr || participation == nullptr) return claims;
  for (std::size_t k = 0; k < distance->mean.x.size(); ++k) {
    const double beta = distance->mean.x[k];
    claims.push_back(claim_above(fmt::format("apart-at-{:g}", beta),
                                 fmt::format("tokens end at a distance above {:g}", level),
                                 distance->values[k],
                                 level));
    claims.push_back(claim_below(fmt::format("open-at-{:g}", beta),
                                 "attention of the first block has a participation below 1/2",
                                 participation->values[k],
                                 kOpen));
  }
  return claims;
}

}  // namespace

Study study() {
  return described({.name = "init-trainability", .make = make<Trainability>, .claims = claims});
}

}  // namespace attica::init_trainability
