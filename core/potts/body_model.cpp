#include "attica/core/potts/body_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "attica/core/error.hpp"
#include "attica/core/softmax.hpp"

namespace attica {

using Eigen::Index;

namespace {

void check_tensor(const ColourTensor& tensor) {
  require(tensor.colours >= 2 && tensor.colours <= 255,
          "colours",
          static_cast<double>(tensor.colours),
          "2 <= C <= 255");
  require(tensor.order >= 2, "order", tensor.order, "at least 2");
  const double entries = std::pow(static_cast<double>(tensor.colours), tensor.order);
  require(entries <= static_cast<double>(kMostTensorEntries),
          "order",
          tensor.order,
          fmt::format("C^order <= {}", kMostTensorEntries));
  require(static_cast<double>(tensor.entries.size()) == entries,
          "colour_couplings",
          static_cast<double>(tensor.entries.size()),
          fmt::format("C^order = {} entries", entries));
  const double scale = tensor.entries.cwiseAbs().maxCoeff();
  if (!tensor.entries.allFinite()) {
    throw invalid_parameter("colour_couplings", "not finite", "finite entries");
  }
  constexpr double kAsymmetry = 1e-10;
  std::vector<std::int32_t> sorted;
  tensor.for_entries([&](Index n, const std::vector<std::int32_t>& indices) {
    sorted = indices;
    std::sort(sorted.begin(), sorted.end());
    Index at = 0;
    for (const std::int32_t a : sorted) at = at * tensor.colours + a;
    if (std::abs(tensor.entries[n] - tensor.entries[at]) > kAsymmetry * scale) {
      throw invalid_parameter("colour_couplings",
                              fmt::format("asymmetric at ({})", fmt::join(indices, ", ")),
                              "a tensor that no permutation of its indices changes");
    }
  });
}

void check_edges(Index sites, int order, const Hyperedges& edges) {
  require(order <= sites, "order", order, fmt::format("at most the number of sites, {}", sites));
  require(edges.sites.cols() == order,
          "hyperedges",
          static_cast<double>(edges.sites.cols()),
          "as many sites an edge as the order");
  require(edges.couplings.size() == edges.sites.rows(),
          "couplings",
          static_cast<double>(edges.couplings.size()),
          "one for every hyperedge");
  if (!edges.couplings.allFinite()) throw invalid_parameter("couplings", "not finite", "numbers");
  for (Index e = 0; e < edges.sites.rows(); ++e) {
    std::vector<std::int32_t> edge(edges.sites.row(e).begin(), edges.sites.row(e).end());
    std::sort(edge.begin(), edge.end());
    const bool inside = edge.front() >= 0 && edge.back() < sites;
    if (!inside || std::adjacent_find(edge.begin(), edge.end()) != edge.end()) {
      throw invalid_parameter("hyperedges",
                              fmt::format("edge {} = ({})", e, fmt::join(edge, ", ")),
                              fmt::format("different sites from 0 to {}", sites - 1));
    }
  }
}

}  // namespace

BodyModel::BodyModel(Index sites, Hyperedges edges, ColourTensor tensor, double beta)
    : sites_(sites), edges_(std::move(edges)), tensor_(std::move(tensor)), beta_(beta) {
  require(sites >= 2, "sites", static_cast<double>(sites), "at least 2");
  require(std::isfinite(beta), "beta", beta, "a finite number");
  check_tensor(tensor_);
  check_edges(sites, tensor_.order, edges_);
  const double energy = (beta * edges_.couplings).cwiseAbs().sum() *
                        (tensor_.entries.size() > 0 ? tensor_.entries.cwiseAbs().maxCoeff() : 0);
  require(std::isfinite(energy), "beta", beta, "finite energies beta J U: nearer to 0");
  std::vector<std::vector<Index>> edges_of(static_cast<std::size_t>(sites));
  for (Index e = 0; e < edges_.sites.rows(); ++e) {
    for (const std::int32_t i : edges_.sites.row(e)) {
      edges_of[static_cast<std::size_t>(i)].push_back(e);
    }
  }
  first_.push_back(0);
  for (Index i = 0; i < sites; ++i) {
    for (const Index e : edges_of[static_cast<std::size_t>(i)]) {
      strengths_.push_back(beta * edges_.couplings[e]);
      for (const std::int32_t j : edges_.sites.row(e)) {
        if (j != i) others_.push_back(j);
      }
    }
    first_.push_back(strengths_.size());
  }
}

std::optional<double> BodyModel::common_strength() const {
  const Eigen::VectorXd& couplings = edges_.couplings;
  if (couplings.size() == 0 || (couplings.array() != couplings[0]).any()) return std::nullopt;
  double all = 1;
  for (int k = 0; k < order(); ++k) all *= static_cast<double>(sites_ - k) / (k + 1);
  if (static_cast<double>(couplings.size()) != std::round(all)) return std::nullopt;
  std::set<std::vector<std::int32_t>> different;
  for (Index e = 0; e < edges_.sites.rows(); ++e) {
    std::vector<std::int32_t> edge(edges_.sites.row(e).begin(), edges_.sites.row(e).end());
    std::sort(edge.begin(), edge.end());
    different.insert(std::move(edge));
  }
  if (std::ssize(different) != couplings.size()) return std::nullopt;
  return beta_ * couplings[0];
}

void BodyModel::site_logits(const std::uint8_t* sequence, Index site, double* logits) const {
  const Index colours = tensor_.colours;
  Eigen::Map<Eigen::VectorXd> h(logits, colours);
  h.setZero();
  const auto others_per_edge = static_cast<std::size_t>(tensor_.order - 1);
  const auto i = static_cast<std::size_t>(site);
  for (std::size_t t = first_[i]; t < first_[i + 1]; ++t) {
    Index at = 0;
    for (std::size_t k = 0; k < others_per_edge; ++k) {
      at = at * colours + sequence[others_[t * others_per_edge + k]];
    }
    h += strengths_[t] * tensor_.entries.segment(at * colours, colours);
  }
}

double BodyModel::reduced_energy(const std::uint8_t* sequence) const {
  double sum = 0;
  for (Index e = 0; e < edges_.sites.rows(); ++e) {
    Index at = 0;
    for (const std::int32_t j : edges_.sites.row(e)) at = at * tensor_.colours + sequence[j];
    sum += edges_.couplings[e] * tensor_.entries[at];
  }
  return -beta_ * sum;
}

PottsEnumeration enumerate(const BodyModel& model) {
  return enumerate_states(model.sites(), model.colours(), [&](const std::uint8_t* sequence) {
    return model.reduced_energy(sequence);
  });
}

MaskedPopulation::MaskedPopulation(std::vector<MaskedSite> sites) : sites_(std::move(sites)) {
  double sum = 0;
  for (const MaskedSite& site : sites_) {
    for (Index n = 0; n < site.weights.size(); ++n) {
      for (const double log_p : site.log_conditionals.col(n)) {
        if (std::isfinite(log_p)) sum -= site.weights[n] * std::exp(log_p) * log_p;
      }
    }
  }
  bayes_loss_ = sum / static_cast<double>(sites_.size());
}

MaskedPopulation MaskedPopulation::enumerated(const BodyModel& model, const PottsEnumeration& all) {
  const Index colours = model.colours();
  const Index states = all.states.sequences.rows();
  std::vector<MaskedSite> sites;
  Index stride = states;  // between states that differ in site i alone
  for (Index i = 0; i < model.sites(); ++i) {
    stride /= colours;
    MaskedSite site{Sequences(states / colours, model.sites()),
                    Eigen::VectorXd(states / colours),
                    Eigen::MatrixXd(colours, states / colours)};
    Index row = 0;
    for (Index n = 0; n < states; ++n) {
      if (all.states.sequences(n, i) != 0) continue;
      site.contexts.row(row) = all.states.sequences.row(n);
      site.weights[row] = 0;
      for (Index a = 0; a < colours; ++a) site.weights[row] += all.states.weights[n + a * stride];
      model.site_logits(site.contexts.row(row).data(), i, site.log_conditionals.col(row).data());
      ++row;
    }
    log_softmax_columns(site.log_conditionals);
    sites.push_back(std::move(site));
  }
  return MaskedPopulation(std::move(sites));
}

MaskedPopulation MaskedPopulation::sampled(const BodyModel& model, const Sequences& sequences) {
  require_sequences(sequences, model.sites(), model.colours());
  const WeightedSequences sample = equally_weighted(sequences);
  std::vector<MaskedSite> sites;
  for (Index i = 0; i < model.sites(); ++i) {
    MaskedSite site{sample.sequences,
                    sample.weights,
                    Eigen::MatrixXd(model.colours(), sample.sequences.rows())};
    for (Index n = 0; n < site.contexts.rows(); ++n) {
      model.site_logits(site.contexts.row(n).data(), i, site.log_conditionals.col(n).data());
    }
    log_softmax_columns(site.log_conditionals);
    sites.push_back(std::move(site));
  }
  return MaskedPopulation(std::move(sites));
}

}  // namespace attica
