#include "attica/theory/language/floors.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;

namespace {

constexpr double kMostTerms = 1 << 25;

double entropy_term(double p) { return p > 0 ? -p * std::log(p) : 0; }

/// Entropy of a hidden symbol given `after` symbols that follow and see it, and what came before:
/// that of all of them, a sum along the chain, less that of what follows, whose probabilities are
/// sums over the hidden symbol.
class HiddenEntropy {
 public:
  HiddenEntropy(const TupleFrequencies& p, int order)
      : p_(p), order_(order), c_(static_cast<std::size_t>(p.symbols())) {
    limit_ = 1;
    for (int k = 1; k < order; ++k) limit_ *= c_;
  }

  /// @param length   symbols before the hidden one
  /// @param context  their number in base C
  double operator()(int length, std::size_t context, Index after) {
    const double all = along(length, static_cast<std::size_t>(after) + 1)[context];
    if (after == 0) return all;
    levels_.resize(static_cast<std::size_t>(after), {ArrayXd(p_.symbols()), contexts()});
    for (std::size_t a = 0; a < c_; ++a) {
      levels_[0].joint[static_cast<Index>(a)] = p_.row(length + 1, context)[a];
      levels_[0].contexts[a] = (context * c_ + a) % limit_;
    }
    return all - following(1, static_cast<std::size_t>(after), longer(length));
  }

 private:
  struct Level {
    ArrayXd joint;                      ///< of each hidden symbol and what followed so far
    std::vector<std::size_t> contexts;  ///< of the next site, one for each hidden symbol
  };
  std::vector<std::size_t> contexts() const { return std::vector<std::size_t>(c_); }
  int longer(int length) const { return std::min(length + 1, order_ - 1); }

  /// Entropy of so many symbols in a row, for every context of that length.
  const std::vector<double>& along(int length, std::size_t count) {
    std::vector<double>& known = along_[{length, count}];
    if (!known.empty()) return known;
    std::size_t size = 1;
    for (int k = 0; k < length; ++k) size *= c_;
    std::vector<double> sums(size);
    for (std::size_t context = 0; context < size; ++context) {
      const double* row = p_.row(length + 1, context);
      for (std::size_t a = 0; a < c_; ++a) sums[context] += entropy_term(row[a]);
    }
    if (count > 1) {
      const std::vector<double>& rest = along(longer(length), count - 1);
      for (std::size_t context = 0; context < size; ++context) {
        const double* row = p_.row(length + 1, context);
        for (std::size_t a = 0; a < c_; ++a) {
          sums[context] += row[a] * rest[(context * c_ + a) % limit_];
        }
      }
    }
    return along_[{length, count}] = std::move(sums);
  }

  /// Entropy of what follows from the symbol `depth` sites behind the hidden one on.
  double following(std::size_t depth, std::size_t after, int length) {
    const Level& here = levels_[depth - 1];
    if (depth == after) {
      ArrayXd total = ArrayXd::Zero(p_.symbols());
      for (std::size_t a = 0; a < c_; ++a) {
        total += here.joint[static_cast<Index>(a)] *
                 Eigen::Map<const ArrayXd>(p_.row(length + 1, here.contexts[a]), p_.symbols());
      }
      double sum = 0;
      for (const double p : total) sum += entropy_term(p);
      return sum;
    }
    double sum = 0;
    Level& below = levels_[depth];
    for (std::size_t b = 0; b < c_; ++b) {
      for (std::size_t a = 0; a < c_; ++a) {
        const std::size_t context = here.contexts[a];
        below.joint[static_cast<Index>(a)] =
            here.joint[static_cast<Index>(a)] * p_.row(length + 1, context)[b];
        below.contexts[a] = (context * c_ + b) % limit_;
      }
      sum += following(depth + 1, after, longer(length));
    }
    return sum;
  }

  const TupleFrequencies& p_;
  int order_;
  std::size_t c_;
  std::size_t limit_;  ///< C^(n-1)
  std::vector<Level> levels_;
  std::map<std::pair<int, std::size_t>, std::vector<double>> along_;
};

/// The law of the last min(k + 1, n - 1) symbols from that of the last min(k, n - 1).
std::vector<double> advanced(const TupleFrequencies& p, int order, std::vector<double> law, int k) {
  const auto c = static_cast<std::size_t>(p.symbols());
  const bool grows = k < order - 1;
  std::vector<double> next(grows ? law.size() * c : law.size(), 0.0);
  for (std::size_t context = 0; context < law.size(); ++context) {
    const double* row = p.row(std::min(k, order - 1) + 1, context);
    for (std::size_t a = 0; a < c; ++a) {
      next[(context * c + a) % next.size()] += law[context] * row[a];
    }
  }
  return next;
}

}  // namespace

bool floor_is_exact(Index symbols, int order) {
  return std::pow(static_cast<double>(symbols), 2 * order - 1) <= kMostTerms;
}

double masked_floor(const MarkovClone& chain, Index sites) {
  const int order = chain.order();
  require(floor_is_exact(chain.symbols(), order),
          "order",
          order,
          "an order n with C^(2n-1) <= 2^25 terms");
  const TupleFrequencies& p = chain.frequencies();
  HiddenEntropy entropy(p, order);
  std::vector<double> law = {1.0};  // of no symbol
  std::map<std::pair<int, Index>, std::vector<double>> known;
  double total = 0;
  for (int site = 0; site < static_cast<int>(sites); ++site) {
    const int length = std::min(site, order - 1);
    const Index after = std::min<Index>(order - 1, sites - 1 - site);
    // Sites away from the ends differ by the law of their contexts alone.
    std::vector<double>& of_context = known[{length, after}];
    for (std::size_t context = of_context.size(); context < law.size(); ++context) {
      of_context.push_back(entropy(length, context, after));
    }
    for (std::size_t context = 0; context < law.size(); ++context) {
      total += law[context] * of_context[context];
    }
    law = advanced(p, order, std::move(law), site);
  }
  return total / static_cast<double>(sites);
}

double masked_plateau(const MarkovClone& chain, const Windows& windows) {
  const Index sites = windows.cols();
  std::vector<double> p(static_cast<std::size_t>(chain.symbols()));
  double total = 0;
  for (Index k = 0; k < windows.rows(); ++k) {
    const Symbol* window = windows.row(k).data();
    for (Index i = 0; i < sites; ++i) {
      chain.conditional(window, sites, i, p.data());
      total -= std::log(p[window[i]]);
    }
  }
  return total / static_cast<double>(windows.size());
}

}  // namespace attica
