#include "attica/sim/networks/measures.hpp"

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

template double attention_entropy(const Transformer<float>&, int, int);
template double attention_entropy(const Transformer<double>&, int, int);

}  // namespace attica::networks
