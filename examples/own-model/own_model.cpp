/// @file
/// @brief Loss and law of a model of your own: attica predicts its training and compares.

#include "attica/app/command/program.hpp"
#include "attica/studies/kit.hpp"
#include "attica/studies/model_training.hpp"

using namespace attica;
using Eigen::MatrixXd, Eigen::VectorXd;

/// Law: x = -2, ..., 2, all equally likely, y = sin 2x. Loss: (v.tanh(w x + b) - y)^2 / 2.
struct TanhNetwork : PopulationModel {
  static constexpr int kInputs = 41, kUnits = 4;
  VectorXd x = VectorXd::LinSpaced(kInputs, -2, 2), y = (2 * x.array()).sin();
  VectorXd p = VectorXd::Constant(kInputs, 1.0 / kInputs);

  Eigen::Index parameters() const override { return 3 * kUnits; }
  const VectorXd& weights() const override { return p; }
  void pass(const VectorXd& theta,
            VectorXd& losses,
            const VectorXd* weights,
            VectorXd* gradient) const override {
    const auto w = theta.head(kUnits), b = theta.segment(kUnits, kUnits), v = theta.tail(kUnits);
    const MatrixXd t = ((w * x.transpose()).colwise() + b).array().tanh();
    const VectorXd error = t.transpose() * v - y;
    losses = error.cwiseAbs2() / 2;
    if (weights == nullptr) return;
    const VectorXd pull = weights->cwiseProduct(error);
    const MatrixXd inner = (v * pull.transpose()).array() * (1 - t.array().square());
    *gradient << inner * x, inner.rowwise().sum(), t * pull;
  }
};

std::unique_ptr<Experiment> experiment(Configuration& c) {
  const TrainingPlan plan{.start = VectorXd::LinSpaced(3 * TanhNetwork::kUnits, -0.5, 1),
                          .rate = [eta = c.real("sim.eta")](auto) { return eta; },
                          .batch = c.integer("sim.batch"),
                          .recorded = recorded_steps<std::uint64_t>(c)};
  return std::make_unique<ModelTraining>(std::make_unique<TanhNetwork>(), plan);
}

const Study kStudy = {
    .name = "own-model",
    .question = "How does the loss of a small network fall under minibatch descent?",
    .approximation = "higher orders in 1/B, for which each value states a tolerance",
    .parameters = {integer_parameter("sim.batch", 16, "samples in a batch"),
                   real_parameter("sim.eta", 0.1, "learning rate", kLearningRate),
                   steps_parameter({1, 3, 10, 30, 100, 300}),
                   replicates_parameter(4000, "training runs")},
    .series = {{"loss", "L", "loss on all inputs"}},
    .presets = {{"quick", "the defaults", {}}},
    .make = experiment,
    .figure = [](const auto&) { return training_figure("own-model", {"loss"}); },
    .agreement = [](const auto&) { return rules({"loss"}, {.relative = 0.01}); }};

int main(int argc, char** argv) { return app::program(argc, argv, {kStudy}); }
