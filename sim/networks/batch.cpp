#include "attica/sim/networks/batch.hpp"

#include <algorithm>
#include <numeric>

#include "attica/core/error.hpp"

namespace attica::networks {

void set_equal_lengths(Batch& batch, int length) {
  require(length >= 1 && batch.tokens.size() % static_cast<std::size_t>(length) == 0,
          "length",
          length,
          "a divisor of the number of tokens");
  const std::size_t sequences = batch.tokens.size() / static_cast<std::size_t>(length);
  batch.offsets.resize(sequences + 1);
  for (std::size_t b = 0; b <= sequences; ++b) {
    batch.offsets[b] = static_cast<std::int32_t>(b) * length;
  }
}

void set_all_sites(Batch& batch) {
  batch.sites.resize(batch.tokens.size());
  std::iota(batch.sites.begin(), batch.sites.end(), 0);
}

Batch part_of(const Batch& batch, std::size_t first, std::size_t end) {
  const std::int32_t from = batch.offsets[first];
  const std::int32_t to = batch.offsets[end];
  Batch part{.tokens = {batch.tokens.begin() + from, batch.tokens.begin() + to}};
  for (std::size_t b = first; b <= end; ++b) part.offsets.push_back(batch.offsets[b] - from);
  const auto first_site = std::ranges::lower_bound(batch.sites, from);
  const auto end_site = std::ranges::lower_bound(batch.sites, to);
  const auto of_sites = [&](const auto& values) {
    const auto begin = values.begin() + (first_site - batch.sites.begin());
    return std::vector(begin, begin + (end_site - first_site));
  };
  for (auto site = first_site; site != end_site; ++site) part.sites.push_back(*site - from);
  part.targets = of_sites(batch.targets);
  if (!batch.weights.empty()) part.weights = of_sites(batch.weights);
  return part;
}

std::vector<std::size_t> parts(const Batch& batch) {
  constexpr std::size_t kRowsTogether = 800;
  const std::size_t all = batch.sequences();
  const std::size_t wanted = (batch.tokens.size() + kRowsTogether - 1) / kRowsTogether;
  const std::size_t count = std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(all, 1));
  std::vector<std::size_t> ends;
  for (std::size_t k = 1; k <= count; ++k) ends.push_back(k * all / count);
  return ends;
}

void validate(const Batch& batch, const TransformerShape& shape) {
  const auto rows = static_cast<std::int32_t>(batch.tokens.size());
  require(batch.sequences() >= 1 && batch.offsets.front() == 0 && batch.offsets.back() == rows,
          "offsets",
          static_cast<double>(batch.offsets.size()),
          "0, ..., number of tokens");
  for (std::size_t b = 0; b < batch.sequences(); ++b) {
    const std::int32_t length = batch.offsets[b + 1] - batch.offsets[b];
    require(length >= 1 && length <= shape.length,
            "offsets",
            length,
            "sequences of 1 .. shape.length tokens");
  }
  for (const std::int32_t token : batch.tokens) {
    require(token >= 0 && token < shape.vocabulary, "tokens", token, "0 <= token < vocabulary");
  }
  std::int32_t before = -1;
  for (const std::int32_t site : batch.sites) {
    require(site > before && site < rows, "sites", site, "strictly ascending rows of the batch");
    before = site;
  }
  require(batch.targets.size() == batch.sites.size(),
          "targets",
          static_cast<double>(batch.targets.size()),
          "one per site");
  for (const std::int32_t target : batch.targets) {
    require(target >= 0 && target < shape.outputs, "targets", target, "0 <= target < outputs");
  }
  require(batch.weights.empty() || batch.weights.size() == batch.sites.size(),
          "weights",
          static_cast<double>(batch.weights.size()),
          "none, or one per site");
}

}  // namespace attica::networks
