#include "attica/sim/potts/masked_samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "attica/sim/networks/optimiser.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

MaskedSamples::MaskedSamples(PottsModel model)
    : model_(std::move(model)),
      excess_(model_, enumerate(model_).states),
      inputs_(excess_.population(), static_cast<int>(model_.colours())) {
  const Sequences& sequences = states().sequences;
  p_.setZero(contexts() * model_.colours());
  for (Index row = 0; row < sequences.rows(); ++row) {
    for (Index i = 0; i < sequences.cols(); ++i) {
      p_[sample(row, i)] += states().weights[row];
    }
  }
  p_ /= p_.sum();
  cumulative_.resize(static_cast<std::size_t>(p_.size()));
  std::partial_sum(p_.begin(), p_.end(), cumulative_.begin());
}

Index MaskedSamples::sample(Index state, Index site) const {
  return inputs_.input(state, site) * model_.colours() + states().sequences(state, site);
}

VectorXd MaskedSamples::draw(std::int64_t count, RandomStream stream) const {
  VectorXd shares = VectorXd::Zero(p_.size());
  for (std::int64_t m = 0; m < count; ++m) {
    const auto at = std::ranges::upper_bound(cumulative_, stream.uniform() * cumulative_.back());
    shares[std::min<Index>(at - cumulative_.begin(), p_.size() - 1)] += 1;
  }
  return shares / static_cast<double>(count);
}

std::unique_ptr<PopulationModel> MaskedSamples::network(
    const networks::TransformerShape& shape) const {
  std::vector<networks::PopulationTerm> terms;
  for (std::int32_t s = 0; s < p_.size(); ++s) {
    const auto colours = static_cast<std::int32_t>(model_.colours());
    terms.push_back({.site = s / colours, .target = s % colours, .sample = s});
  }
  return std::make_unique<networks::TransformerPopulation<float>>(
      networks::Transformer<float>(shape), batch(), std::move(terms), p_);
}

FactoredMasked::FactoredMasked(const MaskedSamples& samples)
    : samples_(samples), sites_(samples.model().sites()), colours_(samples.model().colours()) {}

void FactoredMasked::pass(const VectorXd& theta,
                          VectorXd& losses,
                          const VectorXd* weights,
                          VectorXd* gradient) const {
  const networks::Batch& batch = samples_.batch();
  const double* const values = theta.data() + sites_ * (sites_ - 1);
  losses.resize(samples_.p().size());
  if (gradient != nullptr) gradient->setZero(parameters());
  double* const dvalues = gradient == nullptr ? nullptr : gradient->data() + sites_ * (sites_ - 1);
  VectorXd slope(colours_);
  for (Index k = 0; k < samples_.contexts(); ++k) {
    const std::int32_t* const tokens = batch.tokens.data() + k * sites_;
    const Index i = batch.sites[static_cast<std::size_t>(k)] - k * sites_;
    const double* const row = theta.data() + i * (sites_ - 1);
    double* const loss = losses.data() + k * colours_;  // logits until they are known
    std::fill_n(loss, colours_, 0.0);
    for (Index j = 0; j < sites_ - 1; ++j) {
      const double* const value = values + tokens[j < i ? j : j + 1] * colours_;
      for (Index a = 0; a < colours_; ++a) loss[a] += row[j] * value[a];
    }
    const double top = *std::max_element(loss, loss + colours_);
    double sum = 0;
    for (Index a = 0; a < colours_; ++a) sum += slope[a] = std::exp(loss[a] - top);
    for (Index a = 0; a < colours_; ++a) loss[a] = top + std::log(sum) - loss[a];
    if (gradient == nullptr) continue;
    const auto own = weights->segment(k * colours_, colours_);
    slope = slope * (own.sum() / sum) - own;
    double* const drow = gradient->data() + i * (sites_ - 1);
    for (Index j = 0; j < sites_ - 1; ++j) {
      const Index seen = tokens[j < i ? j : j + 1] * colours_;
      for (Index a = 0; a < colours_; ++a) {
        drow[j] += slope[a] * values[seen + a];
        dvalues[seen + a] += row[j] * slope[a];
      }
    }
  }
}

VectorXd FactoredMasked::parameters_of(const FactoredAttention& student) const {
  VectorXd theta(parameters());
  Index at = 0;
  for (Index i = 0; i < sites_; ++i) {
    for (Index j = 0; j < sites_; ++j) {
      if (j != i) theta[at++] = student.attention(i, j);
    }
  }
  theta.tail(colours_ * colours_) = student.values.reshaped();
  return theta;
}

FactoredAttention FactoredMasked::student(const VectorXd& theta) const {
  FactoredAttention student{.attention = Eigen::MatrixXd::Zero(sites_, sites_),
                            .values = theta.tail(colours_ * colours_).reshaped(colours_, colours_)};
  Index at = 0;
  for (Index i = 0; i < sites_; ++i) {
    for (Index j = 0; j < sites_; ++j) {
      if (j != i) student.attention(i, j) = theta[at++];
    }
  }
  return student;
}

GroupedPopulation FactoredMasked::sequences() const {
  const WeightedSequences& states = samples_.states();
  GroupedPopulation::Members members(sites_, states.weights.size());
  for (Index state = 0; state < members.cols(); ++state) {
    for (Index i = 0; i < sites_; ++i) members(i, state) = samples_.sample(state, i);
  }
  return {*this, members, states.weights};
}

StoppedTraining stopped_early(const PopulationModel& model,
                              VectorXd theta,
                              const VectorXd& shown,
                              const VectorXd& held_out,
                              double eta,
                              std::int64_t length,
                              const std::function<bool()>& stopped) {
  constexpr std::int64_t kFewest = 150;
  networks::Parameters<double> parameters({{.name = "theta", .rows = theta.size()}});
  networks::Optimiser<double> optimiser(parameters, {.learning_rate = eta});
  const std::span<double> values = parameters.values();
  std::ranges::copy(theta, values.begin());
  VectorXd losses;
  VectorXd gradient;
  StoppedTraining lowest;
  std::int64_t best = 0;
  for (std::int64_t step = 0; step <= length && !stopped(); ++step) {
    std::ranges::copy(values, theta.begin());
    model.pass(theta, losses, &shown, &gradient);
    const double now = held_out.dot(losses);
    if (now < lowest.held_out) {
      lowest = {now, model.weights().dot(losses), step == 0};
      best = step;
    } else if (step > kFewest && 2 * step > 3 * best) {
      break;
    }
    optimiser.update(parameters,
                     {gradient.data(), static_cast<std::size_t>(gradient.size())},
                     static_cast<std::uint64_t>(step));
  }
  return lowest;
}

}  // namespace attica
