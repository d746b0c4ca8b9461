#pragma once
/// @file
/// @brief What the studies of multilayer transformers share: data, training and what is recorded.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "attica/sim/joma_deep.hpp"
#include "attica/studies/joma_setup.hpp"

namespace attica {

/// @brief The parameters of all deep studies. Those without default follow from the data: text if
/// `model.file` is given, else a latent tree.
std::vector<Parameter> deep_parameters();

/// @brief Fills in what was left open (layers, width, steps, ...) as the measured presets have it.
/// @throws Error (input) naming the parameter
void complete_deep(Configuration& configuration);

/// @brief Transformers trained on text or on a latent tree, one point per learning rate.
class DeepExperiment : public Experiment {
 public:
  /// @param learning_rates one point each; in the points of the series if `named`
  DeepExperiment(const Configuration& configuration,
                 std::vector<double> learning_rates,
                 bool named);

  TheoryResult theory(TheoryGrid grid) const override;
  std::size_t points() const override { return rates_.size(); }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 1; }
  std::vector<Outcome> simulate(const Piece& piece) const override;
  Table diagnostics() const override { return diagnostics_; }
  std::vector<std::string> warnings() const override;

 private:
  /// Reads the text or draws the validation set; once, when first needed.
  void prepare() const;
  Outcome run(double rate, const StreamAddress& address, const Piece& piece) const;

  Configuration configuration_;
  std::vector<double> rates_;
  bool named_;
  bool text_;
  DeepNetwork network_;
  std::vector<std::uint64_t> steps_;
  Table diagnostics_;
  std::optional<VocabularyText> words_;
  mutable std::once_flag once_;
  mutable DeepTask task_;
  mutable double reference_loss_ = 0;  ///< unigram loss, or Bayes loss on the validation set
};

/// @brief The moving average over five records after the start; shorter curves as they are.
std::vector<double> smoothed(const std::vector<double>& curve);
/// @brief (H_end - H_min) / (H_0 - H_min) with the smoothed curve's end and minimum; 0 if it never
/// falls.
double bounce_statistic(const std::vector<double>& curve);

/// @brief All values of a replicate at one series and point, in the order of x.
std::vector<std::vector<double>> curves_of(const Observed& observed,
                                           const std::string& series,
                                           const Point& point);

/// @brief Claims that the network has learnt: below the unigram loss (text), or within 0.05 nats of
/// the Bayes loss (tree).
ClaimResult learning_claim(const Configuration& configuration,
                           const Observed& observed,
                           const Point& point);

/// @brief Series of all deep studies.
std::vector<SeriesInfo> deep_series();

}  // namespace attica
