#include "attica/sim/networks/measures.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica::networks {

template <class T>
double attention_entropy(const Transformer<T>& network, int layer, int head) {
  double sum = 0;
  Index queries = 0;
  for (std::size_t b = 0; b < network.sequences(); ++b) {
    const auto weights = network.attention(layer, head, b);
    sum += row_entropies(weights);
    queries += weights.rows;
  }
  return queries == 0 ? 0 : sum / static_cast<double>(queries);
}

template <class T>
std::vector<double> block_norms(const Parameters<T>& parameters) {
  std::vector<double> norms;
  for (const Block& b : parameters.blocks()) {
    norms.push_back(std::sqrt(ArrayMap<const T>(parameters.values().data() + b.offset, b.size())
                                  .template cast<double>()
                                  .square()
                                  .sum()));
  }
  return norms;
}

template <class T>
double mean_square_displacement(const Parameters<T>& parameters,
                                std::span<const T> start,
                                std::string_view pattern) {
  require(start.size() == parameters.values().size(),
          "start",
          static_cast<double>(start.size()),
          "as many values as the parameters have");
  double sum = 0;
  for (const Block* b : parameters.matching(pattern)) {
    const ArrayMap<const T> now(parameters.values().data() + b->offset, b->size());
    const ArrayMap<const T> then(start.data() + b->offset, b->size());
    sum += (now.template cast<double>() - then.template cast<double>()).square().sum() /
           static_cast<double>(b->rows);
  }
  return sum;
}

#define ATTICA_MEASURES(T)                                            \
  template double attention_entropy(const Transformer<T>&, int, int); \
  template std::vector<double> block_norms(const Parameters<T>&);     \
  template double mean_square_displacement(                           \
      const Parameters<T>&, std::span<const T>, std::string_view);

ATTICA_MEASURES(float)
ATTICA_MEASURES(double)
#undef ATTICA_MEASURES

}  // namespace attica::networks
