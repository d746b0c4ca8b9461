#include "attica/sim/topics/attention_share.hpp"

namespace attica {

AttentionShare::AttentionShare(TopicSource& source,
                               std::uint64_t first,
                               std::uint64_t batches,
                               TopicNetwork& network)
    : source_(source), first_(first), batches_(batches), scores_(network.scores()) {
  start_ = mean_loss(network, scores_);
}

double AttentionShare::of(TopicNetwork& network) const {
  const double now = mean_loss(network, network.scores());
  if (!(start_ > now)) return 1;
  return (mean_loss(network, scores_) - now) / (start_ - now);
}

double AttentionShare::mean_loss(TopicNetwork& network, const Eigen::MatrixXd& scores) const {
  double sum = 0;
  for (std::uint64_t k = 0; k < batches_; ++k) sum += network.loss(source_(first_ + k), scores);
  return sum / static_cast<double>(batches_);
}

}  // namespace attica
