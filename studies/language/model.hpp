#pragma once
/// @file
/// @brief What the studies of language share: a text, its windows, and its clones that are Markov
/// chains.

#include <memory>
#include <string>
#include <vector>

#include "attica/core/language/chain.hpp"
#include "attica/core/language/text.hpp"
#include "attica/sim/language/masked.hpp"
#include "attica/sim/language/pairs.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

/// @brief The text of a configuration, read and checked; chains are counted when first needed.
class LanguageProblem {
 public:
  /// @throws Error (input) naming the parameter
  explicit LanguageProblem(const Configuration& configuration);
  LanguageProblem(const LanguageProblem&) = delete;  // what is lazy points into the text
  LanguageProblem& operator=(const LanguageProblem&) = delete;

  const LanguageText& text() const { return text_; }
  SymbolKind kind() const { return kind_; }
  Eigen::Index symbols() const { return text_.size(); }
  Eigen::Index sites() const { return sites_; }
  /// Orders of the chains, rising.
  const std::vector<int>& orders() const { return orders_; }
  MarkovClone chain(int order) const { return {frequencies_.get(), order}; }
  /// All windows of the held-out text, or many of them, evenly spaced.
  Windows held_out() const;

  /// @brief Predictions `floor` (where it is exact) and `plateau` of every chain, against the
  /// order.
  TheoryResult theory() const;
  Table diagnostics() const;
  const std::vector<std::string>& warnings() const { return text_.warnings; }
  /// @brief Warns if pairs have more weights than the text has symbols to fit them to.
  void warn_of_pairs(std::vector<std::string>& warnings) const;
  /// @brief Warns if training shows each window of the text with each site hidden more than once.
  void warn_of_repetition(std::uint64_t steps,
                          Eigen::Index batch,
                          std::vector<std::string>& warnings) const;

 private:
  SymbolKind kind_;
  Eigen::Index sites_;
  LanguageText text_;
  std::vector<int> orders_;
  Lazy<std::shared_ptr<const TupleFrequencies>> frequencies_;
};

/// @brief Refuses tables of laws, windows times symbols, that would take more than 4 GB.
/// @param tables how many of them a run holds
/// @throws Error (input) naming the parameter
void require_laws(Eigen::Index windows,
                  int tables,
                  Eigen::Index symbols,
                  const std::string& parameter);

/// @brief w = L (C - 1) (1 + (L - 1) (C - 1)), the weights of pairs that matter.
double pair_weights(Eigen::Index sites, Eigen::Index symbols);

/// @brief Pairs fitted to windows of a source.
/// @param address of the windows of the first step; those of step n have `stride` n added to it
PairModel fitted_pairs(const LanguageProblem& problem,
                       const WindowSource& source,
                       const PairFit& fit,
                       Eigen::Index batch,
                       StreamAddress address,
                       std::uint64_t stride = 1,
                       const std::function<bool()>& stop = {});

/// @brief The factored network of order 2^N + 1, N layers, as the studies fit it.
MaskedTraining factored_clone(std::int64_t steps, int layers = 1);
/// @brief It, fitted to windows of a source: first one layer, then the next is added, which does
/// nothing at first, and all are trained again, and so on.
/// @param address whose seed, point and replicate count
/// @return the networks of 1 to N layers
std::vector<MaskedNetwork> fitted_factored(const LanguageProblem& problem,
                                           const WindowSource& source,
                                           const MaskedTraining& training,
                                           const StreamAddress& address,
                                           const std::function<bool()>& stop = {});

/// What is said where the factored network predicts the held-out text no better than pairs, or than
/// one layer fewer.
inline constexpr const char* kNoClone =
    "the factored network predicts the held-out text no better than pairs or one layer fewer: it "
    "is no clone of its order; a longer text or a larger sim.factored_length is needed";

/// @brief `chain-2`, the name of a clone.
std::string chain_name(int order);
/// @brief A clone in a legend.
std::string clone_label(const std::string& clone);

}  // namespace attica
