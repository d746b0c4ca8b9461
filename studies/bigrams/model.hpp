#pragma once
/// @file
/// @brief What the studies of sparse contextual bigrams share: the [model] and [sim] sections,
/// trainers, observables, and groups of runs.

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attica/core/bigrams/instances.hpp"
#include "attica/sim/bigrams/runs.hpp"
#include "attica/sim/bigrams/training.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

class BoostingTheory;

inline constexpr double kBigramMemory = 2e9;  ///< bytes that a matrix of a study may have

/// @brief A bigram study's problem as configured.
struct BigramSetup {
  BigramModel model;
  BigramRates rates = {};
  double batch = 1;
  double lambda = 0;
  std::vector<std::int64_t> steps = {};
  BigramSampling sampling = BigramSampling::sequences;
  BigramAlgorithm algorithm = BigramAlgorithm::sgd_hat;
  Eigen::MatrixXd start = {};  ///< of V
  /// of η_A, at V = P with this batch; see attention_rate_limit
  double rate_limit = std::numeric_limits<double>::infinity();
  std::vector<std::string> warnings = {};
  Table diagnostics = {};

  double context() const { return static_cast<double>(model.context()); }
  bool sampled() const { return sampling == BigramSampling::sequences; }
  BoostingTheory boosting() const;
  /// @brief Vμ - μ of the start; hat gradients leave it as it is.
  Eigen::VectorXd mismatch() const { return start * model.stationary() - model.stationary(); }
  /// @brief Work of so many steps on sequences in floating-point operations.
  double flops(double length) const;
  /// @throws Error (input) naming model.context where training stores more than 2 GB
  void require_memory() const;
};

/// @throws Error of kind input naming model.context where A, with so many bytes per entry, is
/// larger than 2 GB
void require_entries(const BigramModel& model, double bytes, const std::string& instead = "");

/// What is asked of the learning rates.
enum class RateCheck {
  batch,    ///< what descent needs; a warning where eta_A is above the limit of this batch at V = P
  descent,  ///< refused where no solution is stable under whole steps on the population loss
  none,     ///< V is held fixed, or attention is no linear one: the study has limits of its own
};

/// What to do with laws without a signal (K_P or K_Q is 0): there is no theory of them.
enum class NoSignal { refuse, warn };

/// @throws Error of kind input naming the parameter
BigramSetup bigram_setup(const Configuration& configuration,
                         RateCheck rate_check = RateCheck::batch,
                         NoSignal no_signal = NoSignal::refuse);

/// @throws Error of kind input naming the key unless rate < limit: no solution of descent on the
/// population loss is stable from there on
void require_stable_rate(const std::string& key, double rate, double limit);
/// @brief For captions: whether runs draw real sequences or are a surrogate.
std::string sampling_sentence(const Configuration& c);
/// @throws Error of kind input unless real sequences are drawn
void require_sequences(const Configuration& c, const std::string& expected);

/// @brief Whether the noise of A has a bounded mean square at V = P, η_A being below the stability
/// limit: without it the stages after boosting have no mean field, but runs.
/// @throws Error (numerical) in place of false where the theory alone is asked for
bool has_mean_field(const BigramSetup& setup, TheoryGrid grid);

/// @brief Whether K_P and K_Q are above 0 (beyond rounding): there is something to learn.
bool has_signal(const BigramModel& model);
/// @throws Error of kind input naming what to change, without a signal
void require_signal(const BigramModel& model);

/// @brief The bigram law of a source task, from a stream of its own: with the target's stationary
/// law, or one of its own of this contrast.
BigramChain source_chain(const Configuration& c,
                         const BigramModel& model,
                         double correlation,
                         std::optional<double> contrast = {});

/// Rate of softmax attention's logits in SGD: η_w = 0.003 T² η_V. At T² η_A noise makes a winner of
/// one position per column.
inline constexpr double kSoftmaxRate = 0.003;

/// @brief A run on real samples (float), or the configured surrogate.
/// @param address its id follows from what is drawn
std::unique_ptr<BigramTrainer> make_trainer(const BigramSetup& setup,
                                            BigramAlgorithm algorithm,
                                            const Eigen::MatrixXd& start,
                                            StreamAddress address);
/// @brief Says how the run of an outcome ended. Only converged runs keep their series: the others
/// are counted, not averaged. Divergence is a failure.
void record_end(Outcome& outcome, BigramStatus status, const BigramTrainer& trainer);
Outcome diverged_outcome(std::int64_t step);

/// @name Runs in one replicate, each its own stream: their spread is one observation.
/// @{
inline constexpr int kGroup = 50;
StreamAddress member_address(const Replicate& replicate, int member);
double group_flops(const BigramSetup& setup, double steps);
/// @}

/// @brief Values of observables: `loss`, `excess_loss`, `alpha_V`, `alpha_A`, `d_V`, `d_A`,
/// `distance_V`, `distance_A` (both squared, μ-weighted).
std::vector<double> observables(const std::vector<std::string>& names, const BigramState& state);

/// @brief Makes steps, and looks at where each of the rising `steps` ends.
template <class Step, class Look>
void at_steps(const std::vector<std::int64_t>& steps, const Step& step, const Look& look) {
  std::int64_t made = 0;
  for (const std::int64_t next : steps) {
    for (; made < next; ++made) step();
    look(static_cast<double>(next));
  }
}

/// @brief Where a curve that is seen point by point first reaches a level, from above or below, on
/// a line between two of its points.
class Crossing {
 public:
  /// @param x,y the curve's first point
  Crossing(double level, double x, double y) : level_(level), x_(x), y_(y) {}
  /// @brief The next point, of larger x.
  void see(double x, double y) {
    if (!at_ && (y - level_) * (y_ - level_) <= 0) at_ = x - (x - x_) * (level_ - y) / (y_ - y);
    x_ = x;
    y_ = y;
  }
  /// @brief None as long as it was not reached.
  const std::optional<double>& at() const { return at_; }

 private:
  double level_;
  double x_;
  double y_;
  std::optional<double> at_ = {};
};

/// @brief Allowance for what a mean field of a training curve neglects: 1 % of the curve's largest
/// value, its scale, but at most `of_value` of the value itself, so that small values are tested
/// too.
double curve_allowance(double value, double full_scale, double of_value = 0.06);
/// With l1 fluctuating column sums are counted in linear response, with V at its mean: 1.5(7) % of
/// the excess loss too much at T = 1000 (600 runs), 0.6 to 2.5(4) % at the defaults of
/// bigrams-regularisation (2000 runs of three instances).
inline constexpr double kColumnSums = 0.05;

/// @brief Share of V's noise that the surrogate, whose covariance is of leading order, may be off
/// by: 1/(N-1), at most a half; 0 for sequences.
double surrogate_noise_order(const Configuration& c);

}  // namespace attica
