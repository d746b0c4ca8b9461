#include "attica/sim/networks/distinct_sequences.hpp"

namespace attica::networks {

DistinctSequences::DistinctSequences(Batch& batch, double share) : batch_(batch), share_(share) {
  for (auto* all : {&batch.tokens, &batch.sites, &batch.targets}) all->clear();
  batch.offsets.assign(1, 0);
  batch.weights.clear();
}

void DistinctSequences::add(std::span<const std::int32_t> tokens, std::int32_t target) {
  key_.assign(reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes());
  key_.append(reinterpret_cast<const char*>(&target), sizeof target);
  const auto [place, is_new] = places_.try_emplace(key_, batch_.weights.size());
  if (is_new) {
    batch_.tokens.insert(batch_.tokens.end(), tokens.begin(), tokens.end());
    batch_.offsets.push_back(static_cast<std::int32_t>(batch_.tokens.size()));
    batch_.sites.push_back(batch_.offsets.back() - 1);
    batch_.targets.push_back(target);
    batch_.weights.push_back(0);
  }
  batch_.weights[place->second] += share_;
}

}  // namespace attica::networks
