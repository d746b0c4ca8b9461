#include "attica/sim/trees/masked_leaves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attica {

using Eigen::Index;

WindowSource filtered_source(const FilteredTree& tree, int level) {
  return [sampler = FilteredSampler(tree, level), sites = tree.leaves()](Index count,
                                                                         RandomStream& stream) {
    Windows windows(count, sites);
    std::vector<int> leaves;
    for (Index k = 0; k < count; ++k) {
      sampler.draw(stream, leaves);
      for (Index m = 0; m < sites; ++m) {
        windows(k, m) = static_cast<Symbol>(leaves[static_cast<std::size_t>(m)]);
      }
    }
    return windows;
  };
}

Eigen::MatrixXd network_table(MaskedNetwork& network, const FilteredTree& tree) {
  const Index q = tree.alphabet;
  const Index sites = tree.leaves();
  const auto sequences = static_cast<Index>(tree.sequences());
  Eigen::MatrixXd table(sequences, sites);
  MaskedWindows masked{.windows = Windows(sequences / q, sites), .hidden = {}};
  Index stride = sequences;
  for (Index m = 0; m < sites; ++m) {
    stride /= q;
    masked.hidden.assign(static_cast<std::size_t>(sequences / q), static_cast<std::int32_t>(m));
    std::vector<Index> numbers;
    for (Index x = 0; x < sequences; ++x) {
      if (x / stride % q != 0) continue;
      Index rest = x;
      for (Index j = sites; j-- > 0; rest /= q) {
        masked.windows(std::ssize(numbers), j) = static_cast<Symbol>(rest % q);
      }
      numbers.push_back(x);
    }
    const Laws laws = network_laws(network, masked);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      for (Index a = 0; a < q; ++a) {
        table(numbers[k] + a * stride, m) =
            std::log(std::max(laws(static_cast<Index>(k), a), std::numeric_limits<double>::min()));
      }
    }
  }
  return table;
}

}  // namespace attica
