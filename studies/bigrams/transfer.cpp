/// @file
/// @brief Study bigrams-transfer: training from a value matrix learned on a correlated bigram law.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/studies/bigrams/model.hpp"
#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/l1.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica::bigrams_transfer {
namespace {

using Eigen::MatrixXd;

const std::vector<std::string> kNames = {"excess_loss", "alpha_V", "alpha_A", "d_A"};

/// Samples at which the signal of A, 0 at the start, is a half, on a line between two records.
Crossing half_signal() { return {0.5, 0, 0}; }

class Transfer : public PointwiseExperiment {
 public:
  explicit Transfer(const Configuration& c)
      : setup_(bigram_setup(c)),
        theta_(c.real("sim.theta")),
        trained_(c.text("sim.pretraining") == "trained"),
        pretraining_length_(c.integer("sim.pretraining_length")),
        seed_(c.seed()),
        correlations_(c.has("model.correlation") ? std::vector<double>{c.real("model.correlation")}
                                                 : c.reals("sweep.correlation")),
        sparsity_(c.has("model.source_sparsity") ? c.integer("model.source_sparsity")
                                                 : setup_.model.sparsity()),
        several_(c.has("sweep.source_context")),
        starts_([this] { return all_starts(); }) {
    if (!setup_.sampled() && setup_.sampling != BigramSampling::dense) {
      require_sequences(c, "\"none\" or \"dense\"");
    }
    const double spread = c.real("model.source_contrast");
    require(spread == 0 || spread >= 1, "model.source_contrast", spread, "0, or 1 and more");
    const std::optional<double> contrast = spread > 0 ? std::optional(spread) : std::nullopt;
    const BigramModel& model = setup_.model;
    diagnostics_ = setup_.diagnostics;
    warnings_ = setup_.warnings;
    for (const char* key : {"sweep.source_context", "model.source_sparsity"}) {
      if (c.has(key) && !trained_) {
        throw Error(ErrorKind::input,
                    fmt::format("{}: only a source that is trained on has one; add --set "
                                "'sim.pretraining=\"trained\"'",
                                key));
      }
    }
    const std::vector<std::int64_t> contexts = several_
                                                   ? ascending(c.integers("sweep.source_context"))
                                                   : std::vector<std::int64_t>{model.context()};
    for (const std::int64_t t : contexts) {
      require(sparsity_ <= t,
              several_ ? "sweep.source_context" : "model.source_sparsity",
              static_cast<double>(several_ ? t : sparsity_),
              "source_sparsity <= source_context");
    }
    const auto tokens = c.has("model.source_tokens") ? c.integer("model.source_tokens")
                                                     : static_cast<std::int64_t>(model.tokens());
    List floors;
    for (const double rho : correlations_) {
      sources_.push_back(restricted_chain(source_chain(c, model, rho, contrast), tokens));
      for (const std::int64_t t : contexts) {
        places_.push_back({.source = sources_.size() - 1, .context = t});
      }
      // Hat gradients keep Vμ: ½|Vμ - μ|² stays in the loss.
      const MatrixXd start = embedded(sources_.back(), sources_.back().transition);
      floors.push_back(
          Value(0.5 * (start * model.stationary() - model.stationary()).squaredNorm()));
      constexpr const char* kMirror =
          "correlation {} is not positive: runs end in the mirror solution";
      constexpr const char* kCollapse =
          "l1 = {} is above theta rho K_P q_min = {:.3g} at correlation {}: the threshold takes "
          "the "
          "support away";
      const double signal = theta_ * rho * model.k_p() * model.smallest_weight();
      if (rho <= 0) {
        warnings_.push_back(fmt::format(kMirror, rho));
      } else if (setup_.lambda >= signal) {
        warnings_.push_back(fmt::format(kCollapse, setup_.lambda, signal, rho));
      }
    }
    diagnostics_.emplace_back("loss_floor", std::move(floors));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    const bool l1 = setup_.lambda > 0;
    if (l1 && !has_mean_field(setup_, grid)) return result;
    // Of sources of several contexts a curve a correlation, else one of all correlations.
    std::vector<Curves> halves;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      if (halves.empty() || (several_ && places_[k].source != places_[k - 1].source))
        halves.push_back(half_curve(k));
      const MatrixXd& start = starts_.get()[k].value;
      if (l1) {
        L1MeanField field(setup_.model, setup_.rates, setup_.batch, setup_.lambda, start);
        field.keep_laws();
        add_curves(k, std::move(field), grid, result, halves.back());
      } else {
        add_curves(k,
                   BigramRecursion(setup_.model, setup_.rates, setup_.batch, start),
                   grid,
                   result,
                   halves.back());
      }
    }
    for (const Curves& half : halves) {
      if (!half.empty()) half.into(result);
    }
    return result;
  }

  std::size_t points() const override { return places_.size(); }
  void require_simulable() const override { setup_.require_memory(); }

 protected:
  double flops(std::size_t) const override {
    return setup_.flops(static_cast<double>(setup_.steps.back() + 1));
  }

  Outcome run(const Replicate& replicate) const override {
    const auto trainer =
        make_trainer(setup_,
                     setup_.lambda > 0 ? BigramAlgorithm::l1 : BigramAlgorithm::sgd_hat,
                     starts_.get()[replicate.point()].value,
                     replicate.address());
    Curves curves = curves_at(replicate.point());
    Crossing half = half_signal();
    const BigramTrainingEnd end =
        run_stages(*trainer,
                   {.boost = false,
                    .lambda = setup_.lambda,
                    .steps = setup_.steps.back(),
                    .stop = replicate.piece.stop},
                   [&](std::int64_t n) {
                     if (std::ranges::binary_search(setup_.steps, n)) {
                       const BigramState state = trainer->state();
                       curves.add(trainer->samples(), observables(kNames, state));
                       half.see(trainer->samples(), state.alpha_a);
                     }
                     return true;
                   });
    Outcome outcome;
    curves.into(outcome);
    Curves halves = half_curve(replicate.point());
    add_half(replicate.point(), half, halves);
    if (!halves.empty()) halves.into(outcome);
    if (several_) {
      Curves(half_point(replicate.point()), half_name(), {"source_samples"})
          .add(half_x(replicate.point()), {starts_.get()[replicate.point()].samples})
          .into(outcome);
    }
    record_end(outcome, end.status, *trainer);
    return outcome;
  }

 private:
  /// A source, and the context in which it is trained on.
  struct Place {
    std::size_t source;
    std::int64_t context;
  };
  /// A start of V, and how many sequences of the source it took.
  struct Start {
    MatrixXd value;
    double samples = 0;
  };

  double correlation(std::size_t k) const { return correlations_[places_[k].source]; }
  Point half_point(std::size_t k) const {
    return several_ ? Point{{"correlation", correlation(k)}} : Point{};
  }
  std::string half_name() const { return several_ ? "source_context" : "correlation"; }
  double half_x(std::size_t k) const {
    return several_ ? static_cast<double>(places_[k].context) : correlation(k);
  }

  Curves curves_at(std::size_t k) const {
    Point point{{"correlation", correlation(k)}};
    if (several_) point.emplace_back("source_context", static_cast<double>(places_[k].context));
    return {point, "samples", kNames};
  }

  void add_half(std::size_t k, const Crossing& half, Curves& halves) const {
    if (half.at()) halves.add(half_x(k), std::vector<PredictedValue>{*half.at()});
  }
  Curves half_curve(std::size_t k) const { return {half_point(k), half_name(), {"half_samples"}}; }

  template <class Field>
  void add_curves(
      std::size_t k, Field field, TheoryGrid grid, TheoryResult& result, Curves& halves) const {
    const BigramModel& model = setup_.model;
    constexpr bool kL1 = std::is_same_v<Field, L1MeanField>;
    Curves curves = curves_at(k);
    Crossing half = half_signal();
    bool finite = true;  // until above the stability limit it is no more
    at_steps(
        steps_between(setup_.steps, grid),
        [&] { field.step(); },
        [&](double n) {
          BigramState s = field.state();
          double allowed = 0;
          if constexpr (kL1) {
            s.excess_loss += field.fluctuation_loss();
            allowed = kColumnSums * s.excess_loss;
          }
          for (const double y : observables(kNames, s)) finite = finite && std::isfinite(y);
          if (!finite) return;
          curves.add(n * setup_.batch,
                     {{s.excess_loss,
                       curve_allowance(s.excess_loss, model.initial_loss() - model.bayes_loss()) +
                           allowed},
                      {s.alpha_v, curve_allowance(s.alpha_v, 1)},
                      {s.alpha_a, curve_allowance(s.alpha_a, 1)},
                      {s.d_a, curve_allowance(s.d_a, model.k_q())}});
          // As the simulation sees it: on lines between recorded steps.
          if (std::ranges::binary_search(setup_.steps, static_cast<std::int64_t>(n)))
            half.see(n * setup_.batch, s.alpha_a);
        });
    curves.into(result);
    add_half(k, half, halves);
  }

  /// The target's start from V of a source, whose tokens are the target's first ones.
  MatrixXd embedded(const BigramChain& source, const MatrixXd& value) const {
    const BigramModel& model = setup_.model;
    if (source.tokens() == model.tokens()) return transfer_start(model, theta_, value);
    return transfer_start(model, theta_, embedded_value(source, value, model.stationary()));
  }

  /// The starts of V: of the sources' laws as they are, or as training on the sources finds them.
  std::vector<Start> all_starts() const {
    std::vector<Start> starts;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const BigramChain& source = sources_[places_[k].source];
      Start start = trained_ ? pretrained(k) : Start{.value = source.transition, .samples = 0};
      start.value = embedded(source, start.value);
      starts.push_back(std::move(start));
    }
    return starts;
  }

  /// V̂ after training from scratch on source k, in all stages, with an attention pattern of its
  /// own.
  Start pretrained(std::size_t k) const {
    setup_.require_memory();
    constexpr double kBoosted = 0.5;  // stage 1 ends at K_V = θ² K_P
    constexpr double kShrink = 0.1;  // λ = 0.1 K_P q_min, and entries cut before it sets in: 0.1/Q
    constexpr std::uint64_t kOwnStreams = 1000000;
    const BigramChain& source = sources_[places_[k].source];
    const Eigen::Index t = places_[k].context;
    RandomStream stream({.seed = seed_, .id = StreamId::model, .point = 3});
    BigramSetup setup = setup_;
    setup.model = BigramModel(
        source,
        t,
        sparsity_,
        random_attention(source.tokens(), t, sparsity_, AttentionWeights::uniform, stream));
    const auto trainer = make_trainer(setup,
                                      BigramAlgorithm::l1,
                                      stationary_value(setup.model),
                                      {.seed = seed_, .point = kOwnStreams + k});
    const RoundedRun run =
        run_and_round(*trainer,
                      {.theta = kBoosted,
                       .boost_cap = setup.boosting().boosting_limit(kBoosted),
                       .lambda = kShrink * setup.model.k_p() * setup.model.smallest_weight(),
                       .cut = kShrink / static_cast<double>(sparsity_),
                       .steps = pretraining_length_,
                       .measure_every = pretraining_length_},
                      [](std::int64_t) { return true; });
    if (run.status == BigramStatus::converged) return {run.result.value, trainer->samples()};
    constexpr const char* kWhy =
        "training on the source of correlation {} ended as '{}': raise sim.batch or change "
        "sim.seed";
    throw Error(ErrorKind::numerical, fmt::format(kWhy, correlation(k), describe(run.status)));
  }

  BigramSetup setup_;
  double theta_;
  bool trained_;
  std::int64_t pretraining_length_;
  std::uint64_t seed_;
  std::vector<double> correlations_;
  std::int64_t sparsity_;             ///< of the source
  bool several_;                      ///< contexts of the source
  std::vector<BigramChain> sources_;  ///< one a correlation
  std::vector<Place> places_;         ///< every source in every context
  Lazy<std::vector<Start>> starts_;
};

}  // namespace

Study study() { return described({.name = "bigrams-transfer", .make = make<Transfer>}); }

}  // namespace attica::bigrams_transfer
