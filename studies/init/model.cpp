#include "attica/studies/init/model.hpp"

namespace attica {
namespace {

/// What theory and simulation are both told.
template <class Network>
Network network_of(const Configuration& c, double beta) {
  Network n;
  const auto whole = [&](auto& field, const char* key) {
    field = static_cast<std::decay_t<decltype(field)>>(c.integer(key));
  };
  whole(n.context, "model.context");
  whole(n.dimension, "model.dimension");
  whole(n.heads, "model.heads");
  n.beta = beta;
  n.cosine = c.real("model.cosine");
  n.value_variance = c.real("model.value_variance");
  n.mlp_variance = c.real("model.mlp_variance");
  n.bias_variance = c.real("model.bias_variance");
  n.skip = c.real("model.skip");
  n.mlp_skip = c.declares("model.mlp_skip") ? c.real("model.mlp_skip") : n.skip;
  n.mlp = c.flag("model.mlp");
  return n;
}

}  // namespace

NetworkExperiment::NetworkExperiment(const Configuration& c) {
  for (const double beta : ascending(c.reals("sweep.beta"))) {
    theory_.push_back(network_of<InitialTransformer>(c, beta));
    theory_.back().limit = c.text("theory.level") == "limit";
    networks_.push_back(network_of<BlockNetwork>(c, beta));
    networks_.back().layer_norm = c.text("model.norm") == "layer";
    networks_.back().blocks = static_cast<int>(c.integer("train.blocks"));
  }
  const InitialTransformer& n = theory_.front();
  require(
      c.integer("model.dimension") % c.integer("model.heads") == 0 && n.dimension >= 2 * n.heads,
      "model.heads",
      n.heads,
      "a divisor of model.dimension that leaves heads of dimension 2 or more");
  require(n.skip > 0 || n.value_variance > 0,
          "model.skip",
          n.skip,
          "above 0 with model.value_variance = 0");
  require(!n.mlp || n.mlp_skip > 0 || n.mlp_variance > 0,
          "model.mlp_skip",
          n.mlp_skip,
          "above 0 with model.mlp_variance = 0");
}

void NetworkExperiment::require_simulable() const {
  const InitialTransformer& n = theory_.front();
  require(n.context < n.dimension,
          "model.context",
          n.context,
          "below model.dimension, which the tokens' own axes need");
  PointwiseExperiment::require_simulable();
}

double NetworkExperiment::flops(std::size_t point) const {
  const double t = theory_[point].context;
  const double d = theory_[point].dimension;
  // A random number is about twenty operations.
  return blocks() * d * t * (5 * 20 + 20 * t);
}

}  // namespace attica
