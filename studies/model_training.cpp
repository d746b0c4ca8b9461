#include "attica/studies/model_training.hpp"

#include <algorithm>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/studies/curves.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

ModelTraining::ModelTraining(std::unique_ptr<const PopulationModel> model,
                             TrainingPlan plan,
                             Named observables,
                             TheoryMethod method)
    : model_(std::move(model)),
      plan_(std::move(plan)),
      observables_(std::move(observables)),
      method_(method) {
  require(plan_.update != Update::adam,
          "update",
          static_cast<double>(plan_.update),
          "descent or heavy_ball");
  require(plan_.batch >= 1, "batch", static_cast<double>(plan_.batch), "at least 1");
  require(plan_.samples == 0, "samples", static_cast<double>(plan_.samples), "0: fresh batches");
  require(plan_.clip_norm == 0, "clip_norm", plan_.clip_norm, "0");
}

std::vector<std::string> ModelTraining::names() const {
  std::vector<std::string> all = {"loss"};
  for (const auto& [name, f] : observables_) all.push_back(name);
  return all;
}

TheoryResult ModelTraining::theory(TheoryGrid /*grid*/) const {
  std::vector<Observable> functions;
  for (const auto& [name, f] : observables_) functions.push_back(f);
  TheoryResult result;
  Curves curves({}, "step", names());
  for (const TrainingTheoryRecord& r : training_theory(*model_, plan_, functions, method_)) {
    const bool compared = r.undescribed.empty() && r.step > 0;  // at the start all runs are equal
    std::vector<PredictedValue> values;
    const auto add = [&](const Moment& m) {
      values.emplace_back(m.value(), m.finite_size(), compared, m.numerical_error);
    };
    add(r.loss);
    for (const Moment& m : r.observed) add(m);
    curves.add(static_cast<double>(r.step), values);
    if (!r.undescribed.empty() && result.warnings.empty())
      result.warnings.push_back("nothing is predicted " + r.undescribed);
  }
  curves.into(result);
  return result;
}

double ModelTraining::flops(std::size_t /*point*/) const {
  return 10 * static_cast<double>(model_->parameters() * model_->weights().size()) *
         static_cast<double>(plan_.recorded.back());
}

Outcome ModelTraining::run(const Replicate& replicate) const {
  const VectorXd& p = model_->weights();
  std::vector<double> cumulative(static_cast<std::size_t>(p.size()));
  std::partial_sum(p.begin(), p.end(), cumulative.begin());
  RandomStream stream = replicate.stream();
  VectorXd theta = plan_.start, losses, velocity = VectorXd::Zero(theta.size());
  VectorXd gradient(theta.size()), shares(p.size());
  Curves curves({}, "step", names());
  for (std::uint64_t step = 0; step <= plan_.recorded.back() && !replicate.stopped(); ++step) {
    shares.setZero();
    for (std::int64_t k = 0; k < plan_.batch; ++k) {
      const double u = stream.uniform() * cumulative.back();
      const auto s = std::ranges::upper_bound(cumulative, u) - cumulative.begin();
      shares[std::min<Index>(s, p.size() - 1)] += 1 / static_cast<double>(plan_.batch);
    }
    model_->pass(theta, losses, &shares, &gradient);
    if (std::ranges::binary_search(plan_.recorded, step)) {
      std::vector<double> values = {p.dot(losses)};
      for (const auto& [name, f] : observables_) values.push_back(f(theta));
      curves.add(static_cast<double>(step), values);
    }
    const double rate = plan_.rate(step);
    if (!plan_.decoupled) gradient += plan_.decay * theta;
    velocity = plan_.momentum * velocity + gradient;
    theta = (plan_.decoupled ? 1 - rate * plan_.decay : 1.0) * theta - rate * velocity;
  }
  Outcome outcome;
  curves.into(outcome);
  return outcome;
}

Figure training_figure(const std::string& name, const std::vector<std::string>& series) {
  Figure figure{.name = name, .panels = {}, .caption = {}};
  for (const std::string& one : series) {
    figure.panels.push_back({.x = {.label = "step", .scale = AxisScale::log},
                             .y = {.label = one},
                             .layers = {{.series = one}},
                             .x_name = "step"});
  }
  figure.columns = static_cast<int>(series.size());
  figure.caption =
      "Lines: training theory, mean over runs; points: mean and standard error over runs; band: "
      "declared margin.";
  return figure;
}

}  // namespace attica
