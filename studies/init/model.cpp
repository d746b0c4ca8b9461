#include "attica/studies/init/model.hpp"

namespace attica {

InitialTransformer initial_transformer_of(const Configuration& c, double beta) {
  const auto real = [&](const char* key) { return static_cast<double>(c.integer(key)); };
  require(c.integer("model.dimension") % c.integer("model.heads") == 0 &&
              c.integer("model.dimension") / c.integer("model.heads") >= 2,
          "model.heads",
          real("model.heads"),
          "a divisor of model.dimension that leaves heads of dimension 2 or more");
  return {.context = real("model.context"),
          .dimension = real("model.dimension"),
          .heads = real("model.heads"),
          .beta = beta,
          .cosine = c.real("model.cosine"),
          .value_variance = c.real("model.value_variance"),
          .mlp_variance = c.real("model.mlp_variance"),
          .bias_variance = c.real("model.bias_variance"),
          .skip = c.real("model.skip"),
          .mlp_skip = c.real("model.mlp_skip"),
          .mlp = c.flag("model.mlp"),
          .limit = c.text("theory.level") == "limit"};
}

BlockNetwork block_network_of(const Configuration& c, double beta) {
  return {.tokens = c.integer("model.context"),
          .dimension = c.integer("model.dimension"),
          .heads = c.integer("model.heads"),
          .beta = beta,
          .cosine = c.real("model.cosine"),
          .value_variance = c.real("model.value_variance"),
          .mlp_variance = c.real("model.mlp_variance"),
          .bias_variance = c.real("model.bias_variance"),
          .skip = c.real("model.skip"),
          .mlp_skip = c.real("model.mlp_skip"),
          .mlp = c.flag("model.mlp"),
          .layer_norm = c.text("model.norm") == "layer",
          .blocks = static_cast<int>(c.integer("train.blocks"))};
}

NetworkExperiment::NetworkExperiment(const Configuration& c)
    : betas_(ascending(c.reals("sweep.beta"))),
      blocks_(static_cast<int>(c.integer("train.blocks"))) {
  // Without values and skip, or without hidden units and skip, a half block leaves nothing.
  require(c.real("model.skip") > 0 || c.real("model.value_variance") > 0,
          "model.skip",
          c.real("model.skip"),
          "above 0 with model.value_variance = 0");
  require(!c.flag("model.mlp") || c.real("model.mlp_skip") > 0 || c.real("model.mlp_variance") > 0,
          "model.mlp_skip",
          c.real("model.mlp_skip"),
          "above 0 with model.mlp_variance = 0");
  for (const double beta : betas_) {
    theory_.push_back(initial_transformer_of(c, beta));
    networks_.push_back(block_network_of(c, beta));
  }
}

void NetworkExperiment::require_simulable() const {
  const BlockNetwork& n = networks_.front();
  require(n.tokens < n.dimension,
          "model.context",
          static_cast<double>(n.tokens),
          "below model.dimension, which the tokens' own axes need");
  PointwiseExperiment::require_simulable();
}

double NetworkExperiment::flops(std::size_t point) const {
  const BlockNetwork& n = networks_[point];
  const auto t = static_cast<double>(n.tokens);
  const auto d = static_cast<double>(n.dimension);
  // A random number is about twenty operations.
  return n.blocks * (5 * d * d * (2 * t + 20) + 4 * t * t * d);
}

}  // namespace attica
