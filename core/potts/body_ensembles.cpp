#include "attica/core/potts/body_ensembles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

namespace {

double binomial(Index n, int k) {
  double value = 1;
  for (int j = 0; j < k; ++j) value *= static_cast<double>(n - j) / (j + 1);
  return std::round(value);
}

double rms(const Eigen::VectorXd& v) { return v.norm() / std::sqrt(static_cast<double>(v.size())); }

ColourTensor zero_tensor(int order, Index colours) {
  require(order >= 2, "order", order, "at least 2");
  const double entries = std::pow(static_cast<double>(colours), order);
  require(entries <= static_cast<double>(kMostTensorEntries),
          "order",
          order,
          fmt::format("C^order <= {}", kMostTensorEntries));
  return {order, colours, Eigen::VectorXd::Zero(static_cast<Index>(entries))};
}

/// Replaces the tensor by its mean over one index, or by what deviates from that mean.
void project(ColourTensor& tensor, int index, bool deviation) {
  Index stride = 1;
  for (int k = index + 1; k < tensor.order; ++k) stride *= tensor.colours;
  for (Index block = 0; block < tensor.entries.size(); block += stride * tensor.colours) {
    for (Index offset = 0; offset < stride; ++offset) {
      const auto line = tensor.entries(Eigen::seqN(block + offset, tensor.colours, stride));
      const double mean = line.mean();
      for (Index a = 0; a < tensor.colours; ++a) {
        double& entry = tensor.entries[block + offset + a * stride];
        entry = deviation ? entry - mean : mean;
      }
    }
  }
}

}  // namespace

Hyperedges all_hyperedges(Index sites, int order) {
  require(order >= 2 && order <= sites,
          "order",
          order,
          fmt::format("between 2 and the number of sites, {}", sites));
  const double count = binomial(sites, order);
  require(count <= kMostHyperedges,
          "sites",
          static_cast<double>(sites),
          fmt::format("at most {:g} hyperedges (here {:g})", kMostHyperedges, count));
  Hyperedges edges;
  edges.sites.resize(static_cast<Index>(count), order);
  edges.couplings.setZero(edges.sites.rows());
  std::vector<std::int32_t> edge(static_cast<std::size_t>(order));
  std::iota(edge.begin(), edge.end(), 0);
  for (Index e = 0; e < edges.sites.rows(); ++e) {
    std::copy(edge.begin(), edge.end(), edges.sites.row(e).begin());
    // The next set: raise the last site that can be, and let its followers follow.
    int k = order - 1;
    while (k >= 0 && edge[static_cast<std::size_t>(k)] == sites - order + k) --k;
    if (k < 0) break;
    ++edge[static_cast<std::size_t>(k)];
    for (auto m = static_cast<std::size_t>(k) + 1; m < edge.size(); ++m) edge[m] = edge[m - 1] + 1;
  }
  return edges;
}

Hyperedges random_hyperedges(const Hyperedges& all, Index count, RandomStream& stream) {
  const Index total = all.sites.rows();
  require(count >= 1 && count <= total,
          "hyperedges",
          static_cast<double>(count),
          fmt::format("between 1 and {}", total));
  std::vector<Index> chosen(static_cast<std::size_t>(total));
  std::iota(chosen.begin(), chosen.end(), Index{0});
  for (Index k = 0; k < count; ++k) {  // the first `count` of a random order
    const auto other = k + static_cast<Index>(stream.below(static_cast<std::uint64_t>(total - k)));
    std::swap(chosen[static_cast<std::size_t>(k)], chosen[static_cast<std::size_t>(other)]);
  }
  chosen.resize(static_cast<std::size_t>(count));
  std::sort(chosen.begin(), chosen.end());
  return {all.sites(chosen, Eigen::all), all.couplings(chosen)};
}

double edges_per_site(const Hyperedges& edges, Index sites) {
  return static_cast<double>(edges.sites.size()) / static_cast<double>(sites);
}

Eigen::VectorXd cosine_body_couplings(const Hyperedges& edges) {
  Eigen::VectorXd couplings(edges.sites.rows());
  for (Index e = 0; e < edges.sites.rows(); ++e) {
    const Eigen::RowVectorXd edge = edges.sites.row(e).cast<double>();
    couplings[e] = std::cos(1 + 0.5 * edge.sum() + 0.8 * edge.prod());
  }
  return couplings;
}

ColourTensor gaussian_tensor(int order, Index colours, RandomStream& stream) {
  ColourTensor tensor = zero_tensor(order, colours);
  for (double& entry : tensor.entries) entry = stream.normal();
  // The mean over permutations is the mean over all entries with the same sorted indices.
  std::map<std::vector<std::int32_t>, std::pair<double, int>> classes;
  const auto sorted = [](std::vector<std::int32_t> indices) {
    std::sort(indices.begin(), indices.end());
    return indices;
  };
  tensor.for_entries([&](Index n, const std::vector<std::int32_t>& indices) {
    auto& [sum, count] = classes[sorted(indices)];
    sum += tensor.entries[n];
    ++count;
  });
  tensor.for_entries([&](Index n, const std::vector<std::int32_t>& indices) {
    const auto& [sum, count] = classes.at(sorted(indices));
    tensor.entries[n] = sum / count;
  });
  tensor.entries /= rms(tensor.entries);
  return tensor;
}

ColourTensor cosine_tensor(int order, Index colours) {
  ColourTensor tensor = zero_tensor(order, colours);
  tensor.for_entries([&](Index n, const std::vector<std::int32_t>& indices) {
    double sum = 0;
    double squares = 0;
    double product = 1;
    for (const std::int32_t a : indices) {
      sum += a;
      squares += static_cast<double>(a) * a;
      product *= a;
    }
    const double pairs = (sum * sum - squares) / 2;
    tensor.entries[n] = std::sin(1 + 0.9 * sum + 1.7 * pairs + 0.6 * product);
  });
  return tensor;
}

ColourTensor pure_part(const ColourTensor& tensor, int r) {
  ColourTensor sum = zero_tensor(tensor.order, tensor.colours);
  for (std::uint32_t subset = 0; subset < (1U << tensor.order); ++subset) {
    if (std::popcount(subset) != r) continue;
    ColourTensor part = tensor;
    for (int index = 0; index < tensor.order; ++index) {
      project(part, index, (subset >> index & 1U) != 0);
    }
    sum.entries += part.entries;
  }
  return sum;
}

ColourTensor graded(const ColourTensor& tensor, const std::vector<double>& weights) {
  require(weights.size() == static_cast<std::size_t>(tensor.order),
          "order_weights",
          static_cast<double>(weights.size()),
          fmt::format("{} weights, for the parts of 1 to {} indices", tensor.order, tensor.order));
  ColourTensor sum = zero_tensor(tensor.order, tensor.colours);
  for (int r = 1; r <= tensor.order; ++r) {
    const double weight = weights[static_cast<std::size_t>(r - 1)];
    require(std::isfinite(weight), "order_weights", weight, "finite numbers");
    if (weight == 0) continue;
    const ColourTensor part = pure_part(tensor, r);
    const double size = rms(part.entries);
    constexpr double kNothing = 1e-12;
    require(size > kNothing * rms(tensor.entries),
            "order_weights",
            weight,
            fmt::format("0 for the part of {} indices, which the tensor does not have", r));
    sum.entries += (weight / size) * part.entries;
  }
  return sum;
}

}  // namespace attica
