#pragma once
/// @file
/// @brief What the studies of sparse contextual bigrams share: the [model] and [sim] sections,
/// trainers, and the recording of curves.

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attica/core/bigram_instances.hpp"
#include "attica/sim/bigram_sgd.hpp"
#include "attica/sim/bigram_surrogate.hpp"
#include "attica/sim/bigram_training.hpp"
#include "attica/studies/study.hpp"
#include "attica/theory/bigram_flow.hpp"

namespace attica {

/// Defaults in which the studies differ.
struct BigramDefaults {
  std::int64_t tokens = 3;
  std::int64_t context = 1000;
  std::int64_t sparsity = 2;
  double eta = 0.05;
  std::int64_t batch = 64;
  double l1 = 0;
  std::vector<std::int64_t> steps = {};  ///< empty: the study records no curve
  std::string surrogate = "none";
  std::int64_t replicates = 20;
  std::vector<std::string> algorithms = {
      "sgd_hat"};                                    ///< that the study knows; the first by default
  std::vector<std::string> starts = {"stationary"};  ///< likewise
};

/// @brief The parameters `model.*` and `sim.*` of a bigram study.
std::vector<Parameter> bigram_parameters(const BigramDefaults& defaults);

/// @brief A bigram study's problem as configured.
struct BigramSetup {
  BigramModel model;
  BigramRates rates;
  double batch = 1;
  double lambda = 0;
  /// of η_A, at V = P with this batch; see attention_rate_limit
  double rate_limit = std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> steps;
  std::string surrogate;
  BigramAlgorithm algorithm = BigramAlgorithm::sgd_hat;
  Eigen::MatrixXd start;  ///< of V
  std::vector<std::string> warnings;
  Table diagnostics;

  /// @brief Vμ - μ of the start; hat gradients leave it as it is.
  Eigen::VectorXd mismatch() const { return start * model.stationary() - model.stationary(); }
  BigramStepSizes sizes() const { return {rates.value, rates.attention, batch}; }
};

/// @throws Error of kind input naming model.context where A, with so many bytes per entry, is
/// larger than 2 GB
void require_entries(const BigramModel& model, double bytes);

/// What is asked of the learning rates.
enum class RateCheck {
  batch,    ///< what descent needs; a warning where eta_A is above the limit of this batch at V = P
  descent,  ///< refused where no solution is stable under whole steps on the population loss
  none,     ///< V is held fixed, or attention is no linear one: the study has limits of its own
};

/// @throws Error of kind input naming the key unless rate < limit: no solution of descent on the
/// population loss is stable from there on
void require_stable_rate(const std::string& key, double rate, double limit);

/// @brief Whether the noise of A has a bounded mean square at V = P, η_A being below the stability
/// limit: without it the stages after boosting have no mean field, but runs.
/// @throws Error (numerical) in place of false where the theory alone is asked for
bool has_mean_field(const BigramSetup& setup, TheoryGrid grid);

/// @brief Whether K_P and K_Q are above 0 (beyond rounding): there is something to learn.
bool has_signal(const BigramModel& model);
/// @throws Error of kind input naming what to change, without a signal
void require_signal(const BigramModel& model);

/// What to do with laws without a signal (K_P or K_Q is 0): there is no theory of them.
enum class NoSignal { refuse, warn };

/// @throws Error of kind input naming the parameter
BigramSetup bigram_setup(const Configuration& configuration,
                         RateCheck rate_check = RateCheck::batch,
                         NoSignal no_signal = NoSignal::refuse);

/// @brief The chain of the [model] section alone.
BigramChain configured_chain(const Configuration& configuration, Table& diagnostics);

/// @brief A run on real samples (float), or the surrogate of that name.
std::unique_ptr<BigramTrainer> make_trainer(const BigramSetup& setup,
                                            BigramAlgorithm algorithm,
                                            const Eigen::MatrixXd& start,
                                            const Piece& piece,
                                            std::uint64_t replicate);

/// @brief Curves of a training run, a value of each at every recorded step.
class BigramRecorder {
 public:
  /// @param names of `loss`, `excess_loss`, `alpha_V`, `alpha_A`, `d_V`, `d_A`, `distance_V`,
  /// `distance_A` (both squared, μ-weighted)
  BigramRecorder(std::vector<std::string> names, Point point, std::string x_name = "step");
  void record(double x, const BigramState& state);
  void append_to(Outcome& outcome) const;

 private:
  std::vector<Series> series_;
};

/// @brief SeriesInfo of those names.
std::vector<SeriesInfo> bigram_series(const std::vector<std::string>& names);

/// @brief A prediction with empty x and y.
Prediction bigram_prediction(const std::string& name, Point point, const std::string& x_name);

/// @brief Numbers of steps, rising, as x values.
std::vector<double> as_reals(std::span<const std::int64_t> steps);

/// @brief Allowance for what a mean field of a training curve neglects: 1 % of the curve's largest
/// value, its scale, but at most 15 % of the value itself, so that small values are tested too. The
/// largest deviation known is that of d_A early in the boosting stage, 10 % (docs/bigrams.md).
double curve_allowance(double value, double full_scale);

/// @brief Share of V's noise that its covariance of leading order may be off by: 1/(N-1), at most
/// a half. @param tokens N >= 2
double value_noise_order(std::int64_t tokens);

/// @brief Roughly geometric whole numbers from `first` to `last`, each once.
std::vector<std::int64_t> geometric_steps(std::int64_t first, std::int64_t last, int count);

/// @brief The paper that poses the problem, and what is used of it.
Source bigram_source(const std::string& used);

/// @brief Says how the run of an outcome ended. Only converged runs keep their series: the others
/// are counted, not averaged. Divergence is a failure.
void record_end(Outcome& outcome, BigramStatus status, const BigramTrainer& trainer);

}  // namespace attica
