#pragma once
/// @file
/// @brief What the studies of language share: a text, its windows, and its clones that are Markov
/// chains.

#include <memory>
#include <string>
#include <vector>

#include "attica/core/language/chain.hpp"
#include "attica/core/language/text.hpp"
#include "attica/sim/language/windows.hpp"
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
  std::vector<std::string> warnings() const;

 private:
  SymbolKind kind_;
  Eigen::Index sites_;
  LanguageText text_;
  std::vector<int> orders_;
  Lazy<std::shared_ptr<const TupleFrequencies>> frequencies_;
};

/// @brief model.file, model.symbols, model.vocabulary, model.sites, model.chain_orders.
std::vector<Parameter> language_parameters(const List& orders);

/// @brief Refuses tables of laws, windows times symbols, that would take more than 4 GB.
/// @param tables how many of them a run holds
/// @throws Error (input) naming the parameter
void require_laws(Eigen::Index windows,
                  int tables,
                  Eigen::Index symbols,
                  const std::string& parameter);

/// @brief `chain-2`, the name of a clone.
std::string chain_name(int order);

/// @brief `floor` and `plateau`, then a study's own.
std::vector<SeriesInfo> language_series(const std::vector<SeriesInfo>& own);

}  // namespace attica
