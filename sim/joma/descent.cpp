#include "attica/sim/joma/descent.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::VectorXd;

namespace {

std::vector<double> cumulative(const VectorXd& probability) {
  std::vector<double> sums;
  double sum = 0;
  for (const double p : probability) sums.push_back(sum += p);
  sums.back() = 1;  // rounding
  return sums;
}

Index draw(const std::vector<double>& sums, RandomStream& stream) {
  return std::upper_bound(sums.begin(), sums.end() - 1, stream.uniform()) - sums.begin();
}

}  // namespace

JomaDescent::JomaDescent(
    const JomaModel& model, JomaState start, double eta, int batch, const StreamAddress& address)
    : model_(model),
      state_(std::move(start)),
      eta_(eta),
      batch_(batch),
      address_(address),
      cumulative_(cumulative(model.samples().weights)),
      weights_(static_cast<std::size_t>(std::max(batch, 0)), 1.0 / std::max(batch, 1)),
      accumulated_(VectorXd::Zero(model.conserved())) {
  require(state_.v.rows() == model.units() && state_.v.cols() == model.tokens() &&
              state_.r.rows() == model.units() && state_.r.cols() == model.queries() &&
              state_.z.rows() == model.queries() && state_.z.cols() == model.tokens(),
          "model.units",
          static_cast<double>(state_.v.rows()),
          "a start of the network's units, tokens and queries");
  require(eta > 0, "sim.eta", eta, "eta > 0");
  require(batch >= 0, "sim.batch", batch, "batch >= 0");
}

void JomaDescent::step() {
  if (batch_ == 0) {
    model_.loss(state_, &descent_);
  } else {
    StreamAddress address = address_;
    address.step = static_cast<std::uint64_t>(steps_);
    RandomStream stream(address);
    chosen_.clear();
    for (int i = 0; i < batch_; ++i) {
      chosen_.push_back(static_cast<int>(draw(cumulative_, stream)));
    }
    model_.loss(state_, chosen_, weights_, &descent_);
  }
  descent_.v *= eta_;
  descent_.r *= eta_;
  descent_.z *= eta_;
  state_.v += descent_.v;
  state_.r += descent_.r;
  state_.z += descent_.z;
  accumulated_ += model_.invariant_step(descent_);
  ++steps_;
}

bool JomaDescent::finite() const {
  // Squares of entries enter the invariants.
  constexpr double kLargest = 1e150;
  const auto small = [&](const auto& m) { return (m.array().abs() < kLargest).all(); };
  return small(state_.v) && small(state_.r) && small(state_.z) && accumulated_.allFinite();
}

bool JomaDescent::blown_up() const {
  constexpr double kLargestLogit = 30;
  return !finite() || (model_.law().attention == JomaAttention::exponential &&
                       state_.z.maxCoeff() > kLargestLogit);
}

void descend_erf(const JomaTokens& tokens,
                 const ErfDescent& options,
                 std::span<const std::int64_t> steps,
                 const StreamAddress& address,
                 const std::function<void(std::size_t, const ErfReached&)>& observe) {
  require(options.eta > 0, "sim.eta", options.eta, "eta > 0");
  RandomStream stream(address);
  const std::vector<double> class_sums = cumulative(tokens.classes);
  std::vector<std::vector<double>> token_sums;
  for (Index n = 0; n < tokens.tokens.rows(); ++n) {
    token_sums.push_back(cumulative(tokens.tokens.row(n).transpose()));
  }
  const VectorXd population = tokens.delta();
  const Index size = population.size();
  const VectorXd zero = VectorXd::Zero(size);
  ErfReached at{
      options.v.size() > 0 ? options.v : zero, options.z.size() > 0 ? options.z : zero, zero};
  ArrayXd gx(size);  // mean of g x over the batch
  std::int64_t step = 0;
  for (std::size_t record = 0; record < steps.size(); ++record) {
    for (; step < steps[record]; ++step) {
      if (options.batch == 0) {
        gx = population;
      } else {
        gx.setZero();
        for (int i = 0; i < options.batch; ++i) {
          const Index n = draw(class_sums, stream);
          for (int t = 0; t < options.context; ++t) {
            gx[draw(token_sums[static_cast<std::size_t>(n)], stream)] += tokens.rewards[n];
          }
        }
        gx /= options.batch * options.context;
      }
      const ArrayXd push = options.eta * gx * at.z.array().exp();
      at.z.array() += push * at.v.array();
      at.v.array() += push;
      at.walk.array() += options.eta * gx;
    }
    observe(record, at);
  }
}

void descend_saturating(const VectorXd& mu,
                        const VectorXd& start,
                        double gamma,
                        double eta,
                        std::span<const std::int64_t> steps,
                        const std::function<void(std::size_t, const VectorXd&)>& observe) {
  require(eta > 0, "sim.eta", eta, "eta > 0");
  ArrayXd v = start;
  std::int64_t step = 0;
  for (std::size_t record = 0; record < steps.size(); ++record) {
    for (; step < steps[record]; ++step) {
      const ArrayXd theta = gamma * v.square();
      ArrayXd p = (theta - theta.maxCoeff()).exp();
      p /= p.sum();
      v += eta * (mu.array() - v) * p;
    }
    observe(record, v);
  }
}

void descend_one_token(
    const VectorXd& probability,
    const VectorXd& target,
    double eta,
    int batch,
    std::span<const std::int64_t> steps,
    const StreamAddress& address,
    const std::function<void(std::size_t, const VectorXd&, const VectorXd&)>& observe) {
  require(eta > 0, "sim.eta", eta, "eta > 0");
  require(batch >= 1, "sim.batch", batch, "batch >= 1");
  RandomStream stream(address);
  const std::vector<double> sums = cumulative(probability);
  VectorXd v = VectorXd::Zero(target.size());
  VectorXd z = VectorXd::Zero(target.size());
  std::vector<int> counts(sums.size());
  std::int64_t step = 0;
  for (std::size_t record = 0; record < steps.size(); ++record) {
    for (; step < steps[record]; ++step) {
      std::fill(counts.begin(), counts.end(), 0);
      for (int i = 0; i < batch; ++i) ++counts[static_cast<std::size_t>(draw(sums, stream))];
      for (Index l = 0; l < target.size(); ++l) {
        const int count = counts[static_cast<std::size_t>(l)];
        if (count == 0) continue;
        const double gain = std::exp(z[l]);
        const double push = eta * count / batch * gain * (target[l] - v[l] * gain);
        z[l] += push * v[l];
        v[l] += push;
      }
    }
    observe(record, v, z);
  }
}

double descent_slope(const JomaModel& model, const JomaState& state) {
  constexpr double kStep = 1e-6;
  JomaState descent;
  model.loss(state, &descent);
  const VectorXd direction = descent.flat();
  if (direction.norm() == 0) return 1;  // at rest
  const VectorXd at = state.flat();
  const double h = kStep / direction.norm();
  const auto loss_at = [&](double along) {
    return model.loss(state.from_flat(at + along * direction), nullptr);
  };
  return (loss_at(-h) - loss_at(h)) / (2 * h * direction.squaredNorm());
}

double logits_entropy(const VectorXd& z) {
  const VectorXd weights = (z.array() - z.maxCoeff()).exp().matrix();
  return std::log(weights.sum()) - weights.dot((z.array() - z.maxCoeff()).matrix()) / weights.sum();
}

}  // namespace attica
