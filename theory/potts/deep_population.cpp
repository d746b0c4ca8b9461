#include "attica/theory/potts/deep_population.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd packed_layers(const DeepLayers& layers) {
  Index size = 0;
  for (const FactoredAttention& l : layers) size += l.attention.size() + l.values.size();
  VectorXd x(size);
  Index at = 0;
  for (const FactoredAttention& l : layers) {
    for (const MatrixXd* map : {&l.attention, &l.values}) {
      x.segment(at, map->size()) = map->reshaped();
      at += map->size();
    }
  }
  return x;
}

DeepPopulation::DeepPopulation(const MaskedPopulation& population,
                               Index colours,
                               Index layers,
                               bool residual)
    : sites_(std::ssize(population.sites())),
      colours_(colours),
      layers_(layers),
      residual_(residual) {
  Index rows = 0;
  for (const MaskedSite& site : population.sites()) {
    first_.push_back(rows);
    rows_.push_back(site.contexts);
    rows += site.weights.size();
  }
  first_.push_back(rows);
  weights_.resize(rows * colours_);
  for (Index i = 0; i < sites_; ++i) {
    const MaskedSite& site = population.sites()[static_cast<std::size_t>(i)];
    const Index begin = first_[static_cast<std::size_t>(i)];
    for (Index n = 0; n < site.weights.size(); ++n) {
      weights_.segment((begin + n) * colours_, colours_) =
          site.weights[n] / static_cast<double>(sites_) *
          site.log_conditionals.col(n).array().exp();
    }
    for (Index n = 0; n < site.weights.size(); n += kLanes) {
      const Index count = std::min(kLanes, site.weights.size() - n);
      blocks_.push_back({i, begin + n, count});
      const std::size_t at = inputs_.size();
      inputs_.resize(at + static_cast<std::size_t>(sites_ * colours_), Lanes::Zero());
      for (Index k = 0; k < count; ++k) {
        for (Index j = 0; j < sites_; ++j) {
          const Index state = j + sites_ * site.contexts(n + k, j);
          if (j != i) inputs_[at + static_cast<std::size_t>(state)][k] = 1;
        }
      }
    }
  }
  weights_ /= weights_.sum();
}

namespace {

struct AnyShape {
  static constexpr Index kSites = 0;
  static constexpr Index kColours = 0;
};
template <Index L>
struct ThreeColours {
  static constexpr Index kSites = L;
  static constexpr Index kColours = 3;
};

}  // namespace

/// What one block of contexts goes through.
struct DeepPopulation::Work {
  Work(Index layers, Index states, Index colours, Index parameters)
      : x(static_cast<std::size_t>(layers * states)),
        y(x.size()),
        z(x.size()),
        pull_x(static_cast<std::size_t>(states)),
        pull_y(pull_x),
        pull(static_cast<std::size_t>(colours)),
        gradient(static_cast<std::size_t>(parameters), Lanes::Zero()) {}

  std::vector<Lanes> x, y, z;  ///< of every layer: site j of colour c at j + L c; last layer: y, z
                               ///< of the masked site
  std::vector<Lanes> pull_x, pull_y, pull;
  std::vector<Lanes> gradient;  ///< as the parameters
};

template <class Shape>
void DeepPopulation::pass_block(std::size_t block,
                                const VectorXd& theta,
                                const VectorXd* weights,
                                Shape /*shape*/,
                                Work& work,
                                VectorXd& losses) const {
  const Index sites = Shape::kSites > 0 ? Shape::kSites : sites_;
  const Index colours = Shape::kColours > 0 ? Shape::kColours : colours_;
  const Index states = sites * colours;
  const Index size = sites * sites + colours * colours;
  const Index depth = layers_;
  const auto [masked, first, count] = blocks_[block];
  std::copy_n(&inputs_[block * static_cast<std::size_t>(states)], states, work.x.data());
  for (Index l = 0; l + 1 < depth; ++l) {
    const double* attention = theta.data() + l * size;
    const double* values = attention + sites * sites;
    const Lanes* x = work.x.data() + l * states;
    Lanes* y = work.y.data() + l * states;
    Lanes* z = work.z.data() + l * states;
    Lanes* next = work.x.data() + (l + 1) * states;
    for (Index j = 0; j < sites; ++j) {
      for (Index c = 0; c < colours; ++c) {
        Lanes sum = attention[j] * x[sites * c];
        for (Index k = 1; k < sites; ++k) sum += attention[j + sites * k] * x[k + sites * c];
        y[j + sites * c] = sum;
      }
      for (Index a = 0; a < colours; ++a) {
        Lanes sum = values[a] * y[j];
        for (Index c = 1; c < colours; ++c) sum += values[a + colours * c] * y[j + sites * c];
        z[j + sites * a] = sum;
        next[j + sites * a] = sum * sum;
        if (residual_) next[j + sites * a] += x[j + sites * a];
      }
    }
  }
  const double* attention = theta.data() + (depth - 1) * size;
  const double* values = attention + sites * sites;
  const Lanes* x = work.x.data() + (depth - 1) * states;
  Lanes* y = work.y.data() + (depth - 1) * states;
  Lanes* h = work.z.data() + (depth - 1) * states;
  for (Index c = 0; c < colours; ++c) {
    y[c] = attention[masked] * x[sites * c];
    for (Index k = 1; k < sites; ++k) y[c] += attention[masked + sites * k] * x[k + sites * c];
  }
  Lanes largest = Lanes::Constant(-std::numeric_limits<double>::infinity());
  for (Index a = 0; a < colours; ++a) {
    h[a] = values[a] * y[0];
    for (Index c = 1; c < colours; ++c) h[a] += values[a + colours * c] * y[c];
    largest = largest.max(h[a]);
  }
  Lanes* pull = work.pull.data();
  Lanes sum = Lanes::Zero();
  for (Index a = 0; a < colours; ++a) {
    h[a] -= largest;
    pull[a] = h[a].exp();
    sum += pull[a];
  }
  const Lanes log_sum = sum.log();
  for (Index a = 0; a < colours; ++a) {
    const Lanes loss = log_sum - h[a];
    for (Index k = 0; k < count; ++k) losses[(first + k) * colours + a] = loss[k];
  }
  if (weights == nullptr) return;
  // By the logits: the weight of the context times q, less the weights of the colours.
  Lanes share = Lanes::Zero();
  for (Index a = 0; a < colours; ++a) {
    for (Index k = 0; k < count; ++k) share[k] += (*weights)[(first + k) * colours + a];
  }
  share /= sum;
  for (Index a = 0; a < colours; ++a) {
    pull[a] *= share;
    for (Index k = 0; k < count; ++k) pull[a][k] -= (*weights)[(first + k) * colours + a];
  }
  Lanes* gradient = work.gradient.data() + (depth - 1) * size;
  Lanes* pull_x = work.pull_x.data();
  Lanes* pull_y = work.pull_y.data();
  for (Index c = 0; c < colours; ++c) {
    Lanes pulled = Lanes::Zero();
    for (Index a = 0; a < colours; ++a) {
      gradient[sites * sites + a + colours * c] += pull[a] * y[c];
      pulled += values[a + colours * c] * pull[a];
    }
    for (Index k = 0; k < sites; ++k) {
      gradient[masked + sites * k] += pulled * x[k + sites * c];
      pull_x[k + sites * c] = attention[masked + sites * k] * pulled;
    }
  }
  for (Index l = depth - 1; l-- > 0;) {
    attention = theta.data() + l * size;
    values = attention + sites * sites;
    gradient = work.gradient.data() + l * size;
    x = work.x.data() + l * states;
    y = work.y.data() + l * states;
    const Lanes* z = work.z.data() + l * states;
    for (Index j = 0; j < sites; ++j) {
      for (Index a = 0; a < colours; ++a) {
        pull[a] = 2.0 * pull_x[j + sites * a] * z[j + sites * a];
      }
      for (Index c = 0; c < colours; ++c) {
        Lanes pulled = Lanes::Zero();
        for (Index a = 0; a < colours; ++a) {
          gradient[sites * sites + a + colours * c] += pull[a] * y[j + sites * c];
          pulled += values[a + colours * c] * pull[a];
        }
        pull_y[j + sites * c] = pulled;
      }
      for (Index k = 0; k < sites; ++k) {
        Lanes of_pair = pull_y[j] * x[k];
        for (Index c = 1; c < colours; ++c) of_pair += pull_y[j + sites * c] * x[k + sites * c];
        gradient[j + sites * k] += of_pair;
      }
    }
    if (l == 0) break;
    for (Index k = 0; k < sites; ++k) {
      for (Index c = 0; c < colours; ++c) {
        Lanes pulled = Lanes::Zero();
        if (residual_) pulled = pull_x[k + sites * c];
        for (Index j = 0; j < sites; ++j) {
          pulled += attention[j + sites * k] * pull_y[j + sites * c];
        }
        pull_x[k + sites * c] = pulled;
      }
    }
  }
}

void DeepPopulation::pass(const VectorXd& theta,
                          VectorXd& losses,
                          const VectorXd* weights,
                          VectorXd* gradient) const {
  Work work(layers_, sites_ * colours_, colours_, weights == nullptr ? 0 : parameters());
  losses.resize(weights_.size());
  const auto each = [&](auto shape) {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      pass_block(b, theta, weights, shape, work, losses);
    }
  };
  // Loops of the usual sizes are unrolled.
  if (sites_ == 4 && colours_ == 3) {
    each(ThreeColours<4>());
  } else if (sites_ == 6 && colours_ == 3) {
    each(ThreeColours<6>());
  } else {
    each(AnyShape());
  }
  if (weights == nullptr) return;
  gradient->resize(parameters());
  for (Index k = 0; k < gradient->size(); ++k) {
    (*gradient)[k] = work.gradient[static_cast<std::size_t>(k)].sum();
  }
}

GroupedPopulation DeepPopulation::sequences(const WeightedSequences& states) const {
  const auto without = [](const auto& row, Index site) {
    std::string others(row.data(), row.data() + row.size());
    others[static_cast<std::size_t>(site)] = 0;
    return others;
  };
  GroupedPopulation::Members members(sites_, states.sequences.rows());
  for (Index i = 0; i < sites_; ++i) {
    const Sequences& contexts = rows_[static_cast<std::size_t>(i)];
    std::unordered_map<std::string, Index> row_of;
    for (Index n = 0; n < contexts.rows(); ++n) row_of.emplace(without(contexts.row(n), i), n);
    for (Index s = 0; s < states.sequences.rows(); ++s) {
      const Index row =
          first_[static_cast<std::size_t>(i)] + row_of.at(without(states.sequences.row(s), i));
      members(i, s) = row * colours_ + states.sequences(s, i);
    }
  }
  return {*this, std::move(members), states.weights};
}

}  // namespace attica
