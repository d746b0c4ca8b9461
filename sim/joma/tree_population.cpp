#include "attica/sim/joma/tree_population.hpp"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "attica/sim/networks/measures.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Leaf l is bit l of the number.
TreeSample numbered_sample(Index number, Index leaves, Index label) {
  TreeSample sample{.label = static_cast<int>(label), .leaves = {}};
  for (Index l = 0; l < leaves; ++l) sample.leaves.push_back(static_cast<int>(number >> l & 1));
  return sample;
}

}  // namespace

TreePopulation::TreePopulation(const LatentTreeSampler& sampler, MatrixXd law)
    : law_(std::move(law)) {
  const Index leaves = sampler.tree().leaves();
  std::vector<TreeSample> sequences, labelled;
  for (Index x = 0; x < law_.rows(); ++x) {
    sequences.push_back(numbered_sample(x, leaves, 0));
    for (Index k = 0; k < law_.cols(); ++k) {
      if (law_(x, k) > 0) labelled.push_back(numbered_sample(x, leaves, k));
    }
  }
  inputs_ = tree_task(sampler, 1, sequences).test.front();
  everywhere_ = inputs_;
  everywhere_.weights.clear();
  networks::set_all_sites(everywhere_);
  everywhere_.targets.assign(everywhere_.sites.size(), 0);
  labelled_ = tree_task(sampler, 1, labelled).test.front();
  labelled_.weights.clear();
  for (const double p : law_.reshaped<Eigen::RowMajor>()) {
    if (p > 0) labelled_.weights.push_back(p);
  }
}

double TreePopulation::loss(networks::Transformer<float>& network) const {
  const MatrixXd logits = network.logits(inputs_).cast<double>();
  const VectorXd largest = logits.rowwise().maxCoeff();
  const VectorXd log_sum =
      largest.array() + (logits.colwise() - largest).array().exp().rowwise().sum().log();
  return law_.rowwise().sum().dot(log_sum) - law_.cwiseProduct(logits).sum();
}

template <class T>
double TreePopulation::attention_entropy(networks::Transformer<T>& network, int layer) const {
  network.forward(everywhere_);
  const int heads = network.shape().heads;
  double sum = 0;
  for (Index x = 0; x < law_.rows(); ++x) {
    double of_heads = 0;
    for (int head = 0; head < heads; ++head) {
      of_heads +=
          networks::mean_row_entropy(network.attention(layer, head, static_cast<std::size_t>(x)));
    }
    sum += law_.row(x).sum() * of_heads / heads;
  }
  return sum;
}

template double TreePopulation::attention_entropy(networks::Transformer<float>&, int) const;
template double TreePopulation::attention_entropy(networks::Transformer<double>&, int) const;

std::unique_ptr<networks::TransformerPopulation<double>> TreePopulation::model(
    const networks::TransformerShape& shape) const {
  return networks::labelled_population(shape, inputs_, law_);
}

}  // namespace attica
