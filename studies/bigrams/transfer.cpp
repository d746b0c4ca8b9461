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
    List floors;
    for (const double rho : correlations_) {
      sources_.push_back(source_chain(c, model, rho, contrast));
      // Hat gradients keep Vμ: ½|Vμ - μ|² stays in the loss.
      const MatrixXd start = transfer_start(model, theta_, sources_.back().transition);
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
    Curves halves = half_curve();
    for (std::size_t k = 0; k < correlations_.size(); ++k) {
      const MatrixXd& start = starts_.get()[k];
      if (l1) {
        L1MeanField field(setup_.model, setup_.rates, setup_.batch, setup_.lambda, start);
        field.keep_laws();
        add_curves(k, std::move(field), grid, result, halves);
      } else {
        add_curves(k,
                   BigramRecursion(setup_.model, setup_.rates, setup_.batch, start),
                   grid,
                   result,
                   halves);
      }
    }
    if (!halves.empty()) halves.into(result);
    return result;
  }

  std::size_t points() const override { return correlations_.size(); }
  void require_simulable() const override { setup_.require_memory(); }

 protected:
  double flops(std::size_t) const override {
    return setup_.flops(static_cast<double>(setup_.steps.back() + 1));
  }

  Outcome run(const Replicate& replicate) const override {
    const auto trainer =
        make_trainer(setup_,
                     setup_.lambda > 0 ? BigramAlgorithm::l1 : BigramAlgorithm::sgd_hat,
                     starts_.get()[replicate.point()],
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
    Curves halves = half_curve();
    add_half(replicate.point(), half, halves);
    if (!halves.empty()) halves.into(outcome);
    record_end(outcome, end.status, *trainer);
    return outcome;
  }

 private:
  Curves curves_at(std::size_t k) const {
    return {{{"correlation", correlations_[k]}}, "samples", kNames};
  }

  void add_half(std::size_t k, const Crossing& half, Curves& halves) const {
    if (half.at())
      halves.add(correlations_[k], std::vector<PredictedValue>{PredictedValue(*half.at())});
  }
  static Curves half_curve() { return {{}, "correlation", {"half_samples"}}; }

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

  /// The starts of V: of the sources' laws as they are, or as training on the sources finds them.
  std::vector<MatrixXd> all_starts() const {
    std::vector<MatrixXd> starts;
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      starts.push_back(
          transfer_start(setup_.model, theta_, trained_ ? pretrained(k) : sources_[k].transition));
    }
    return starts;
  }

  /// V̂ after training from scratch on source k, in all stages, with an attention pattern of its
  /// own.
  MatrixXd pretrained(std::size_t k) const {
    setup_.require_memory();
    constexpr double kBoosted = 0.5;  // stage 1 ends at K_V = θ² K_P
    constexpr double kShrink = 0.1;  // λ = 0.1 K_P q_min, and entries cut before it sets in: 0.1/Q
    constexpr std::uint64_t kOwnStreams = 1000000;
    const Eigen::Index n = setup_.model.tokens();
    const Eigen::Index t = setup_.model.context();
    const Eigen::Index q = setup_.model.sparsity();
    RandomStream stream({.seed = seed_, .id = StreamId::model, .point = 3});
    BigramSetup setup = setup_;
    setup.model = BigramModel(
        sources_[k], t, q, random_attention(n, t, q, AttentionWeights::uniform, stream));
    const auto trainer = make_trainer(setup,
                                      BigramAlgorithm::l1,
                                      stationary_value(setup.model),
                                      {.seed = seed_, .point = kOwnStreams + k});
    const RoundedRun run =
        run_and_round(*trainer,
                      {.theta = kBoosted,
                       .boost_cap = setup.boosting().boosting_limit(kBoosted),
                       .lambda = kShrink * setup.model.k_p() * setup.model.smallest_weight(),
                       .cut = kShrink / static_cast<double>(q),
                       .steps = pretraining_length_,
                       .measure_every = pretraining_length_},
                      [](std::int64_t) { return true; });
    if (run.status == BigramStatus::converged) return run.result.value;
    constexpr const char* kWhy =
        "training on the source of correlation {} ended as '{}': raise sim.batch or change "
        "sim.seed";
    throw Error(ErrorKind::numerical, fmt::format(kWhy, correlations_[k], describe(run.status)));
  }

  BigramSetup setup_;
  double theta_;
  bool trained_;
  std::int64_t pretraining_length_;
  std::uint64_t seed_;
  std::vector<double> correlations_;
  std::vector<BigramChain> sources_;
  Lazy<std::vector<MatrixXd>> starts_;
};

}  // namespace

Study study() { return described({.name = "bigrams-transfer", .make = make<Transfer>}); }

}  // namespace attica::bigrams_transfer
