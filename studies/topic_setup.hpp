#pragma once
/// @file
/// @brief What the studies of topic structure share: the [model] and [sim] sections, the recording
/// of curves, and the wording.

#include <string>
#include <vector>

#include "attica/sim/topic_network.hpp"
#include "attica/sim/topic_source.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/studies/study.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/topic_dynamics.hpp"

namespace attica {

/// Defaults in which the studies differ. A study has the optional keys whose default is set.
struct TopicDefaults {
  std::int64_t topics = 4;
  std::int64_t words = 2;
  std::int64_t topics_per_document = 2;
  Value length = Value("infinite");
  double keep_rate = 0.1;
  std::optional<double> penalty = {};
  std::optional<std::string> initialisation = {};
  std::optional<double> scale = {};
  std::optional<double> epsilon = {};
  std::optional<double> threshold = {};
};

/// @brief The parameters `model.*`; those named in `without` are left to the study.
std::vector<Parameter> topic_parameters(const TopicDefaults& defaults,
                                        const std::vector<std::string>& without = {});

/// @name Single parameters
/// @{
Parameter topic_times(const std::vector<double>& fallback);
/// model.value of a fixed value matrix, and model.value_scale.
std::vector<Parameter> fixed_value_parameters(const char* fallback);
/// sim.optimiser, momentum, beta1, beta2, adam_epsilon.
std::vector<Parameter> optimiser_parameters(double adam_epsilon);
/// sim.batch, queries.
std::vector<Parameter> batch_parameters(std::int64_t batch);
/// sim.data, documents.
std::vector<Parameter> data_parameters();
/// @}

/// @brief The settings of the [model] section. Keys that a study does not have keep their defaults.
/// @throws Error (input) naming the parameter
TopicSettings topic_settings(const Configuration& configuration);
/// @brief The same as a model of at least two topics.
TopicModel topic_model(const Configuration& configuration);
/// @brief Doubtful settings: τ = T, no second stage.
std::vector<std::string> topic_warnings(const TopicModel& model, bool second_stage);

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
/// The fixed W_V of model.value and model.value_scale.
Commutant fixed_value(const Configuration& configuration, const TopicModel& model);
networks::OptimiserOptions optimiser_options(const Configuration& configuration);
/// @brief What a step reads; fresh documents for a study without sim.data.
/// @throws Error (input) if the population is asked for and cannot be enumerated
TopicSourceOptions source_options(const Configuration& configuration, const TopicModel& model);
/// sim.steps, rising, distinct.
std::vector<std::uint64_t> recorded_steps(const Configuration& configuration);

/// @brief Curves with a common x.
class TopicCurves {
 public:
  TopicCurves(std::vector<std::string> names, Point point, std::string x_name);
  /// One value a name, in the order of the names.
  void record(double x, const std::vector<double>& values);
  void append_to(Outcome& outcome) const;
  /// As predictions that may be off by a share of their curve's largest value.
  void append_to(TheoryResult& result, double share_of_largest = 0) const;

 private:
  std::vector<Series> series_;
};

/// @brief An experiment whose pieces are loops over single runs.
class TopicExperiment : public Experiment {
 public:
  std::vector<Outcome> simulate(const Piece& piece) const final;
  /// One for a slow run; all at once for one without randomness, which is then made once.
  std::uint64_t replicates_per_piece(std::size_t point) const override {
    return deterministic(point) ? kAllReplicates : 1;
  }

 protected:
  /// @param replicate its number in the whole run
  virtual Outcome run(const Piece& piece, std::uint64_t replicate) const = 0;
  virtual bool deterministic(std::size_t /*point*/) const { return false; }

 private:
  static constexpr std::uint64_t kAllReplicates = 100000;
};

/// @brief Names of the series of a value matrix: all six in the order of CommutantClass, or those
/// that a run compares, of the words' rows (value_s only with v > 1, value_b only if masks are
/// shown).
std::vector<std::string> value_names();
std::vector<std::string> compared_value_names(const TopicModel& model);
/// The entries of W in the order of those names.
std::vector<double> all_values(const Commutant& w);
std::vector<double> compared_values(const TopicModel& model, const Commutant& w);
/// @brief How entries of W are compared where the theory of their mean is exact. The margin is the
/// precision asked of the runs: 0.5 % of the entry and, as some curves pass through zero,
/// kValueShare of the largest value of its own curve.
std::vector<AgreementRule> value_rules(const TopicModel& model, bool deterministic = false);
constexpr double kValueShare = 0.01;

std::vector<SeriesInfo> topic_series(const std::vector<std::string>& names);
Source topic_source(const std::string& used);
/// A setting that a theory does not cover.
struct Uncovered {
  std::string key;
  std::string value;
  std::string covered;  ///< what it would have to be

  /// @throws Error (input)
  [[noreturn]] void refuse() const;
};

/// The stream of a training step.
StreamAddress step_address(const Piece& piece, std::uint64_t replicate, std::uint64_t step);

}  // namespace attica
