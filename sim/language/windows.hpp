#pragma once
/// @file
/// @brief Windows drawn from a text or from its clones, what a clone says of a hidden symbol, and
/// how far samples are from each other.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

#include "attica/core/language/chain.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @brief Draws so many windows.
using WindowSource = std::function<Windows(Eigen::Index count, RandomStream& stream)>;

/// @brief Windows at uniformly random places of a sequence, which the source keeps a reference to.
WindowSource text_source(const std::vector<Symbol>& sequence, Eigen::Index sites);
/// @brief Windows of a clone: exact, symbol after symbol.
WindowSource chain_source(const MarkovClone& chain, Eigen::Index sites);

/// @brief Windows, in each of which one site is hidden.
struct MaskedWindows {
  Windows windows;
  std::vector<std::int32_t> hidden;  ///< a site for every window

  Eigen::Index count() const { return windows.rows(); }
};

/// @brief With a random hidden site in each.
MaskedWindows hide_one(Windows windows, RandomStream& stream);

/// @brief Laws of the hidden symbols, one a row. @shape{M x C}
using Laws = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The same in single precision.
using ShortLaws = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Laws chain_laws(const MarkovClone& chain, const MaskedWindows& masked);

/// @brief Mean of -log q(the hidden symbol), nats.
double mean_loss(const Laws& q, const MaskedWindows& masked);
/// @brief Mean of -sum_a p(a) log q(a), nats.
double mean_cross_entropy(const Laws& p, const Laws& q);
/// @brief Mean of the entropies, nats.
double mean_entropy(const Laws& p);

/// @brief Total variation (1/2) sum |f - g| between the frequencies of the tuples at the sites
/// `pattern`, shifted over all places of the windows, in two samples.
/// @param pattern  ascending, first 0
double pattern_variation(const Windows& a,
                         const Windows& b,
                         Eigen::Index symbols,
                         const std::vector<Eigen::Index>& pattern);

/// @brief The mean over sites, each hidden in turn in all windows.
double mean_over_sites(const Windows& windows,
                       const std::function<double(const MaskedWindows&)>& mean);

}  // namespace attica
