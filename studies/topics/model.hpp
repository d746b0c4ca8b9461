#pragma once
/// @file
/// @brief What the studies of topic structure share: the [model] and [sim] sections, recorded
/// times, and the wording.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attica/sim/topics/network.hpp"
#include "attica/sim/topics/source.hpp"
#include "attica/sim/topics/stages.hpp"
#include "attica/studies/kit.hpp"
#include "attica/studies/training_end.hpp"

namespace attica {

enum class TopicLoss;
struct AttentionOnset;
struct TopicState;

/// @brief The settings of the [model] section. Keys that a study does not have keep their defaults.
/// @throws Error (input) naming the parameter
TopicSettings topic_settings(const Configuration& configuration);
/// @brief The same as a model of at least two topics.
TopicModel topic_model(const Configuration& configuration);
/// @brief The same with documents of N tokens.
TopicModel at_length(TopicSettings settings, std::int64_t tokens);
/// @brief Doubtful settings: τ = T, no second stage.
std::vector<std::string> topic_warnings(const TopicModel& model, bool second_stage);

TopicLoss loss_named(std::string_view word);
TopicLoss topic_loss(const Configuration& configuration);
networks::Loss network_loss(TopicLoss loss);
/// @throws Error (input) if the study's theory is for the squared loss only
void require_squared(const Configuration& configuration);
/// The penalty, 0 for a study without.
double topic_penalty(const Configuration& configuration);
AttentionStart attention_start(const Configuration& configuration);
/// @throws Error (input) unless the flow from this start is known: identity or split
TopicState flow_start(const Configuration& configuration);
/// model.scale or, unset, 1/sqrt(inner dimension).
double attention_scale(const Configuration& configuration, const TopicModel& model);
/// The fixed W_V of model.value and model.value_scale in a model.
std::function<Commutant(const TopicModel&)> fixed_value(const Configuration& configuration);
networks::OptimiserOptions optimiser_options(const Configuration& configuration);
/// @brief What a step reads; fresh documents for a study without sim.data.
/// @throws Error (input) if the population is asked for and cannot be enumerated
TopicSourceOptions source_options(const Configuration& configuration, const TopicModel& model);

/// @brief `values`, and for a run n more from `low` on in equal steps; rising, each once.
std::vector<double> line_from(double low, std::vector<double> values, int n, TheoryGrid grid);

/// @brief `sim.times`, and the steps at which a run records them.
/// @param per_step time that a step covers; > 0
/// @throws Error (input) naming sim.eta or sim.times if the last time is less than half a step
/// away, or more than 1e9 steps
RecordedTimes recorded_times(const Configuration& configuration, double per_step);
/// @brief As configured or, for a run, as realised with n more between.
std::vector<double> line_of(const RecordedTimes& times, int n, TheoryGrid grid);

/// @brief A step η with ησ at most 1 %, σ the rate of growth, and η not above `largest`: whole
/// steps grow like (1 + ησ)^n, slower than e^{σηn} by half of ησ.
double small_step(const AttentionOnset& onset, double largest);

/// @brief What a training run has recorded, and how it ended. Curves without values are left out.
Outcome recorded_run(const std::vector<Curves>& curves, const networks::TrainingResult& end);

/// @brief The rows of a matrix, for a heat map: x is the column.
template <class Result>
void add_matrix(Result& result, const std::string& name, const Eigen::MatrixXd& matrix) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    Curves row({{"row", static_cast<double>(i)}}, "column", {name});
    for (Eigen::Index j = 0; j < matrix.cols(); ++j)
      row.add(static_cast<double>(j), {matrix(i, j)});
    row.into(result);
  }
}

/// @brief Names of the series of a value matrix: all six in the order of CommutantClass, or those
/// that a run compares, of the words' rows (value_s only with v > 1, value_b only if masks are
/// shown).
std::vector<std::string> value_names();
std::vector<std::string> compared_value_names(const TopicModel& model);
/// The entries of W in the order of those names.
std::vector<double> all_values(const Commutant& w);
std::vector<double> compared_values(const TopicModel& model, const Commutant& w);
/// Margins of the entries of W, relative to each.
struct ValueMargins {
  double d = 0;
  double g = 0;
  double b = 0;
  double s = 0;
};
/// @brief How entries of W are compared where the theory of their mean is exact. The margins are
/// the precision asked of the runs: relative to the entry and, as some curves pass through zero,
/// what the theory's curves allow (`Curves::allow_share`).
std::vector<AgreementRule> value_rules(const TopicModel& model,
                                       const ValueMargins& relative,
                                       bool deterministic = false);
/// The layers of a figure of those entries.
std::vector<Layer> value_layers(const Configuration& configuration);

/// norm_V, norm_K, norm_Q, and the layers of a figure of them.
std::vector<std::string> norm_names();
std::vector<Layer> norm_layers();

Panel gram_panel(const std::string& title);

/// A setting that a theory does not cover.
struct Uncovered {
  std::string key;
  std::string value;
  std::string covered;  ///< what it would have to be

  /// @throws Error (input)
  [[noreturn]] void refuse() const;
};
/// @brief The first of some settings that is none of the words that a theory covers.
std::optional<Uncovered> first_uncovered(
    const Configuration& configuration,
    const std::vector<std::pair<const char*, std::vector<std::string>>>& covered);

/// @brief For each run with a first stage: t_KQ > 2 t_V. A run whose attention was not learnt by
/// its end says no.
std::vector<bool> separate_stages(const Observed& observed, const Point& point = {});

}  // namespace attica
