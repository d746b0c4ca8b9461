#include "attica/sim/potts/body_sampler.hpp"

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

BodySampler::BodySampler(const BodyModel& model, Index chains, const StreamAddress& address)
    : model_(model), states_(chains, model.sites()) {
  require(chains >= 1, "chains", static_cast<double>(chains), "at least 1");
  for (Index k = 0; k < chains; ++k) {
    StreamAddress own = address;
    own.step = static_cast<std::uint64_t>(k);
    RandomStream& stream = streams_.emplace_back(own);
    for (std::uint8_t& colour : states_.row(k)) {
      colour = static_cast<std::uint8_t>(stream.below(static_cast<std::uint64_t>(model.colours())));
    }
  }
}

void BodySampler::sweep(std::int64_t count) {
  Eigen::VectorXd weights(model_.colours());
  for (Index k = 0; k < states_.rows(); ++k) {
    RandomStream& stream = streams_[static_cast<std::size_t>(k)];
    std::uint8_t* state = states_.row(k).data();
    for (std::int64_t n = 0; n < count; ++n) {
      for (Index i = 0; i < model_.sites(); ++i) {
        model_.site_logits(state, i, weights.data());
        weights = (weights.array() - weights.maxCoeff()).exp();
        double left = stream.uniform() * weights.sum();
        Index colour = 0;
        while (colour + 1 < weights.size() && left >= weights[colour]) left -= weights[colour++];
        state[i] = static_cast<std::uint8_t>(colour);
      }
    }
  }
}

Eigen::VectorXd BodySampler::reduced_energies() const {
  Eigen::VectorXd energies(states_.rows());
  for (Index k = 0; k < states_.rows(); ++k) {
    energies[k] = model_.reduced_energy(states_.row(k).data());
  }
  return energies;
}

}  // namespace attica
