#include "attica/sim/networks/population.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "attica/core/error.hpp"

namespace attica::networks {

using Eigen::VectorXd;

namespace {

template <class T>
Index trained_count(const Parameters<T>& parameters) {
  Index count = 0;
  for (const Block& block : parameters.blocks()) count += block.frozen ? 0 : block.size();
  return count;
}

/// f(place in the flat array, place in theta, count) for every trained block.
template <class T, class F>
void for_trained(const Parameters<T>& parameters, const F& f) {
  Index at = 0;
  for (const Block& block : parameters.blocks()) {
    if (block.frozen) continue;
    f(block.offset, at, block.size());
    at += block.size();
  }
}

template <class T>
using Flat = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;

/// Losses of one row of logits, and their gradient.
class LossRow {
 public:
  explicit LossRow(Loss loss) : loss_(loss) {}

  template <class T>
  void read(const T* logits, Index outputs) {
    logits_ = Flat<T>(logits, outputs).template cast<double>();
    if (loss_ == Loss::squared) {
      shared_ = logits_.squaredNorm() + 1;
      slope_ = 2 * logits_;
      return;
    }
    const double top = logits_.maxCoeff();
    slope_ = (logits_.array() - top).exp();
    const double sum = slope_.sum();
    shared_ = top + std::log(sum);
    slope_ /= sum;
  }

  double loss(Index target) const { return shared_ - own() * logits_[target]; }
  /// The gradient of sum_k w_k loss(target_k) by the logits that were read.
  template <class T>
  void write_gradient(T* out, std::span<const PopulationTerm> terms, const VectorXd& weights) {
    double total = 0;
    for (const PopulationTerm& term : terms) total += term.factor * weights[term.sample];
    slope_ *= total;
    for (const PopulationTerm& term : terms) {
      slope_[term.target] -= own() * term.factor * weights[term.sample];
    }
    for (Index k = 0; k < slope_.size(); ++k) out[k] = static_cast<T>(slope_[k]);
  }

 private:
  /// The factor of a target's own logit.
  double own() const { return loss_ == Loss::squared ? 2 : 1; }

  Loss loss_;
  VectorXd logits_;
  VectorXd slope_;  ///< of what all targets share
  double shared_ = 0;
};

}  // namespace

template <class T>
VectorXd trained_values(const Parameters<T>& parameters) {
  VectorXd theta(trained_count(parameters));
  const std::span<const T> values = parameters.values();
  for_trained(parameters, [&](Index from, Index to, Index count) {
    theta.segment(to, count) = Flat<T>(values.data() + from, count).template cast<double>();
  });
  return theta;
}

template <class T>
void set_trained_values(Parameters<T>& parameters, const VectorXd& theta) {
  const std::span<T> values = parameters.values();
  for_trained(parameters, [&](Index to, Index from, Index count) {
    for (Index k = 0; k < count; ++k) {
      values[static_cast<std::size_t>(to + k)] = static_cast<T>(theta[from + k]);
    }
  });
}

/// Networks that no thread uses at the moment.
template <class T>
struct TransformerPopulation<T>::Pool {
  explicit Pool(const Parameters<T>& p) : parameters(p) {}
  Parameters<T> parameters;  ///< frozen blocks, and which they are
  std::mutex mutex;
  std::vector<std::unique_ptr<Transformer<T>>> idle;
};

/// One of them, given back at the end.
template <class T>
class TransformerPopulation<T>::Borrowed {
 public:
  Borrowed(Pool& pool, const TransformerShape& shape, const VectorXd& theta) : pool_(pool) {
    {
      const std::lock_guard lock(pool_.mutex);
      if (!pool_.idle.empty()) {
        network_ = std::move(pool_.idle.back());
        pool_.idle.pop_back();
      }
    }
    if (!network_) {
      network_ = std::make_unique<Transformer<T>>(shape);
      network_->parameters() = pool_.parameters;
    }
    set_trained_values(network_->parameters(), theta);
  }
  ~Borrowed() {
    const std::lock_guard lock(pool_.mutex);
    pool_.idle.push_back(std::move(network_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Transformer<T>& network() { return *network_; }

 private:
  Pool& pool_;
  std::unique_ptr<Transformer<T>> network_;
};

template <class T>
TransformerPopulation<T>::TransformerPopulation(const Transformer<T>& network,
                                                Batch inputs,
                                                std::vector<PopulationTerm> terms,
                                                VectorXd p)
    : shape_(network.shape()),
      parameters_(trained_count(network.parameters())),
      inputs_(std::move(inputs)),
      terms_(std::move(terms)),
      p_(std::move(p)),
      pool_(std::make_unique<Pool>(network.parameters())) {
  require(shape_.dropout == 0, "dropout", shape_.dropout, "0: its noise is not described");
  for (const Block& block : network.parameters().blocks()) {
    if (block.frozen) continue;
    require(block.learning_rate_factor == 1,
            "learning_rate_factor",
            block.learning_rate_factor,
            "1 for every trained block");
    require(
        block.decay_factor == 1, "decay_factor", block.decay_factor, "1 for every trained block");
  }
  inputs_.targets.assign(inputs_.sites.size(), 0);
  inputs_.weights.clear();
  validate(inputs_, shape_);
  require(p_.size() > 0 && p_.minCoeff() > 0 && std::abs(p_.sum() - 1) < 1e-9,
          "p",
          p_.sum(),
          "positive probabilities with sum 1");
  std::vector<char> seen(static_cast<std::size_t>(p_.size()), 0);
  for (const PopulationTerm& term : terms_) {
    require(term.site >= 0 && term.site < std::ssize(inputs_.sites),
            "terms.site",
            term.site,
            "the number of a site of the inputs");
    require(term.target >= 0 && term.target < shape_.outputs,
            "terms.target",
            term.target,
            "0 <= target < outputs");
    require(term.sample >= 0 && term.sample < p_.size(),
            "terms.sample",
            term.sample,
            "the number of a sample");
    seen[static_cast<std::size_t>(term.sample)] = 1;
  }
  const auto empty = std::ranges::find(seen, 0);
  require(empty == seen.end(),
          "terms.sample",
          static_cast<double>(empty - seen.begin()),
          "at least one term of every sample");
  std::ranges::stable_sort(terms_, {}, &PopulationTerm::site);
  for (std::size_t site = 0, term = 0; site <= inputs_.sites.size(); ++site) {
    while (term < terms_.size() && terms_[term].site < static_cast<std::int32_t>(site)) ++term;
    first_.push_back(term);
  }
}

template <class T>
TransformerPopulation<T>::~TransformerPopulation() = default;

template <class T>
void TransformerPopulation<T>::pass(const VectorXd& theta,
                                    VectorXd& losses,
                                    const VectorXd* weights,
                                    VectorXd* gradient) const {
  Borrowed borrowed(*pool_, shape_, theta);
  Transformer<T>& network = borrowed.network();
  losses.setZero(p_.size());
  LossRow row(shape_.loss);
  const auto visit = [&](std::size_t site, T* logits, bool turn) {
    const std::span terms(terms_.data() + first_[site], first_[site + 1] - first_[site]);
    row.read(logits, shape_.outputs);
    for (const PopulationTerm& term : terms) {
      losses[term.sample] += term.factor * row.loss(term.target);
    }
    if (turn) row.write_gradient(logits, terms, *weights);
  };
  if (weights == nullptr) {
    RowMatrix<T> logits = network.logits(inputs_);
    for (Index i = 0; i < logits.rows(); ++i) {
      visit(static_cast<std::size_t>(i), logits.row(i).data(), false);
    }
    return;
  }
  network.backpropagate(inputs_, [&](Index first, MatrixView<T> logits) {
    for (Index i = 0; i < logits.rows; ++i) {
      visit(static_cast<std::size_t>(first + i), logits.row(i), true);
    }
  });
  gradient->resize(parameters_);
  const std::span<const T> all = network.gradient();
  for_trained(network.parameters(), [&](Index from, Index to, Index count) {
    gradient->segment(to, count) = Flat<T>(all.data() + from, count).template cast<double>();
  });
}

template <class T>
double TransformerPopulation<T>::measure(const VectorXd& theta,
                                         const std::function<double(Transformer<T>&)>& f) const {
  Borrowed borrowed(*pool_, shape_, theta);
  return f(borrowed.network());
}

template VectorXd trained_values(const Parameters<float>&);
template VectorXd trained_values(const Parameters<double>&);
template void set_trained_values(Parameters<float>&, const VectorXd&);
template void set_trained_values(Parameters<double>&, const VectorXd&);
std::unique_ptr<TransformerPopulation<double>> labelled_population(const TransformerShape& shape,
                                                                   const Batch& inputs,
                                                                   const Eigen::MatrixXd& law) {
  std::vector<PopulationTerm> terms;
  std::vector<double> p;
  for (Eigen::Index input = 0; input < law.rows(); ++input) {
    for (Eigen::Index target = 0; target < law.cols(); ++target) {
      if (law(input, target) == 0) continue;
      terms.push_back({.site = static_cast<std::int32_t>(input),
                       .target = static_cast<std::int32_t>(target),
                       .sample = static_cast<std::int32_t>(p.size())});
      p.push_back(law(input, target));
    }
  }
  return std::make_unique<TransformerPopulation<double>>(
      Transformer<double>(shape),
      inputs,
      std::move(terms),
      Eigen::Map<const VectorXd>(p.data(), std::ssize(p)));
}

template class TransformerPopulation<float>;
template class TransformerPopulation<double>;

}  // namespace attica::networks
