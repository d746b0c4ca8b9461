#include <benchmark/benchmark.h>

#include <cmath>

#include "attica/core/parallel.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "attica/sim/potts/transformer.hpp"
#include "attica/theory/training/first_order.hpp"
#include "attica/theory/training/flow.hpp"

namespace {

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// (v . tanh(W x + b) + c - y)^2 / 2 on n fixed inputs of 8 entries; P = 10 units + 1.
class TanhPopulation : public PopulationModel {
 public:
  TanhPopulation(Index units, Index samples)
      : x_(decltype(x_)::NullaryExpr(
            kInputs,
            samples,
            [](Index i, Index s) { return std::sin(static_cast<double>(1 + i * i + 3 * s)); })),
        y_(VectorXd::NullaryExpr(samples, [](Index s) { return std::cos(2.0 * double(s)); })),
        p_(VectorXd::Constant(samples, 1 / static_cast<double>(samples))),
        units_(units) {}

  Index parameters() const override { return (kInputs + 2) * units_ + 1; }
  const VectorXd& weights() const override { return p_; }
  VectorXd start() const {
    return VectorXd::NullaryExpr(parameters(),
                                 [](Index i) { return 0.5 * std::sin(1 + 1.7 * double(i)); });
  }
  void pass(const VectorXd& theta,
            VectorXd& losses,
            const VectorXd* weights,
            VectorXd* gradient) const override {
    const Eigen::Map<const Weights> w(theta.data(), units_, kInputs);
    const auto b = theta.segment(kInputs * units_, units_);
    const auto v = theta.segment((kInputs + 1) * units_, units_);
    // tanh by exp, which Eigen has for several doubles at once, as NumPy and PyTorch have tanh.
    MatrixXd t = w.lazyProduct(x_);
    t.colwise() += b;
    t.array() = 1 - 2 / ((2 * t.array()).exp() + 1);
    const VectorXd residual = (t.transpose() * v).array() + theta[parameters() - 1] - y_.array();
    losses = residual.cwiseAbs2() / 2;
    if (weights == nullptr) return;
    const VectorXd pull = weights->cwiseProduct(residual);
    const MatrixXd inner = (v * pull.transpose()).array() * (1 - t.array().square());  // by W x + b
    Eigen::Map<Weights>(gradient->data(), units_, kInputs).noalias() = inner * x_.transpose();
    gradient->segment(kInputs * units_, units_) = inner.rowwise().sum();
    gradient->segment((kInputs + 1) * units_, units_) = t * pull;
    (*gradient)[parameters() - 1] = pull.sum();
  }

 private:
  static constexpr Index kInputs = 8;
  using Weights = Eigen::Matrix<double, Eigen::Dynamic, kInputs>;
  Eigen::Matrix<double, kInputs, Eigen::Dynamic> x_;
  VectorXd y_, p_;
  Index units_;
};

/// Ten steps of the theory of minibatches, or of fixed samples, at P = 161, n = 81. The argument is
/// the number of axes.
void training_theory_steps(benchmark::State& state, bool samples) {
  const TanhPopulation model(16, 81);
  TrainingPlan plan{
      .start = model.start(), .rate = [](std::uint64_t) { return 0.05; }, .recorded = {10}};
  (samples ? plan.samples : plan.batch) = samples ? 200 : 32;
  const ThreadLimit one(1);
  for (auto _ : state) {
    const auto records = training_theory(
        model, plan, {}, {.rank = static_cast<Index>(state.range(0)), .numerical_error = false});
    benchmark::DoNotOptimize(records.back().loss.shift);
  }
}
BENCHMARK_CAPTURE(training_theory_steps, batches, false)->Arg(40)->Arg(161)->UseRealTime();
BENCHMARK_CAPTURE(training_theory_steps, samples, true)->Arg(40)->Arg(161)->UseRealTime();

/// Three steps of the theory of minibatches for a layer of softmax attention: P = 1235, n = 4374.
void training_theory_transformer(benchmark::State& state) {
  constexpr int kSites = 6, kColours = 3, kWidth = 16;
  const PottsEnumeration all =
      enumerate_states(kSites, kColours, [](const std::uint8_t* s) { return 0.1 * s[0] * s[1]; });
  const networks::TransformerShape shape = masked_transformer(kSites, kColours, 1, kWidth);
  const auto model = MaskedInputs(all.states, kColours).population(shape);
  const TrainingPlan plan{
      .start = VectorXd::NullaryExpr(model->parameters(),
                                     [](Index i) { return 0.4 * std::sin(1 + 1.7 * double(i)); }),
      .rate = [](std::uint64_t) { return 0.1; },
      .batch = 64,
      .recorded = {3}};
  const ThreadLimit one(1);
  for (auto _ : state) {
    const auto records = training_theory(
        *model, plan, {}, {.rank = 20, .numerical_error = false, .check_gradient = false});
    benchmark::DoNotOptimize(records.back().loss.shift);
  }
}
BENCHMARK(training_theory_transformer)->UseRealTime();

void training_flow_to_10(benchmark::State& state) {
  const TanhPopulation model(16, 81);
  for (auto _ : state) {
    benchmark::DoNotOptimize(training_flow(model, model.start(), {10.0}).back().loss.order_0);
  }
}
BENCHMARK(training_flow_to_10)->UseRealTime();

}  // namespace
