#include "attica/core/language/chain.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

TupleFrequencies::TupleFrequencies(const std::vector<Symbol>& sequence, Index symbols, int order)
    : symbols_(symbols) {
  require(order >= 1 && std::pow(static_cast<double>(symbols), order) <= kMostEntries,
          "order",
          order,
          "an order n >= 1 whose table has C^n <= 2^24 entries");
  const auto c = static_cast<std::size_t>(symbols);
  const std::vector<double> uniform(c, 1 / static_cast<double>(symbols));  // p_0
  std::size_t contexts = 1;
  for (int m = 1; m <= order; ++m, contexts *= c) {
    std::vector<double> table(contexts * c, 0.0);
    std::size_t tuple = 0;
    for (std::size_t k = 0; k < sequence.size(); ++k) {
      tuple = tuple % contexts * c + sequence[k];  // drops the oldest symbol
      if (k + 1 >= static_cast<std::size_t>(m)) table[tuple] += 1;
    }
    const std::vector<double>& before = m == 1 ? uniform : tables_.back();
    const std::size_t shorter = std::max<std::size_t>(1, contexts / c);
    for (std::size_t context = 0; context < contexts; ++context) {
      double* row = table.data() + context * c;
      const double* back = before.data() + context % shorter * c;
      double total = 0;
      for (std::size_t a = 0; a < c; ++a) total += row[a];
      for (std::size_t a = 0; a < c; ++a) {
        row[a] = (row[a] + kBackOff * back[a]) / (total + kBackOff);
      }
    }
    tables_.push_back(std::move(table));
  }
}

MarkovClone::MarkovClone(std::shared_ptr<const TupleFrequencies> frequencies, int order)
    : frequencies_(std::move(frequencies)), order_(order) {
  require(order >= 1 && order <= frequencies_->order(),
          "order",
          order,
          "an order of which frequencies were counted");
}

const double* MarkovClone::next(const Symbol* window, Index k) const {
  const Index before = std::min<Index>(k, order_ - 1);
  std::size_t context = 0;
  for (Index j = k - before; j < k; ++j) {
    context = context * static_cast<std::size_t>(symbols()) + window[j];
  }
  return frequencies_->row(static_cast<int>(before) + 1, context);
}

void MarkovClone::conditional(const Symbol* window, Index sites, Index site, double* p) const {
  const auto c = static_cast<std::size_t>(symbols());
  std::copy_n(next(window, site), c, p);
  for (Index k = site + 1; k < std::min<Index>(site + order_, sites); ++k) {
    // The context of site k with symbol 0 at `site`, and what a symbol there adds to its number.
    const Index before = std::min<Index>(k, order_ - 1);
    std::size_t context = 0;
    std::size_t stride = 1;
    for (Index j = k - before; j < k; ++j) {
      context = context * c + (j == site ? 0 : window[j]);
      if (j > site) stride *= c;
    }
    const auto m = static_cast<int>(before) + 1;
    for (std::size_t a = 0; a < c; ++a) {
      p[a] *= frequencies_->row(m, context + a * stride)[window[k]];
    }
  }
  double total = 0;
  for (std::size_t a = 0; a < c; ++a) total += p[a];
  for (std::size_t a = 0; a < c; ++a) p[a] /= total;
}

}  // namespace attica
