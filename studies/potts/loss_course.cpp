#include "attica/studies/potts/loss_course.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "attica/core/potts/enumeration.hpp"
#include "attica/sim/potts/sampler.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/training/first_order.hpp"

namespace attica::potts_loss {

using Eigen::Index;

struct LossCourse::Problem {
  explicit Problem(PottsModel couplings)
      : model(std::move(couplings)),
        excess(model, enumerate(model).states),
        test(excess, static_cast<int>(model.colours())),
        sampler(excess.population()) {}

  PottsModel model;
  ExcessLoss excess;
  MaskedTest test;
  PopulationSampler sampler;
};

LossCourse::LossCourse(const Configuration& c,
                       std::vector<CourseNetwork> networks,
                       std::function<PottsModel()> model)
    : networks_(std::move(networks)),
      plan_{.shape = masked_transformer(c.integer("model.sites"),
                                        c.integer("model.colours"),
                                        1,
                                        static_cast<int>(c.integer("sim.course_width"))),
            .optimiser = {.kind = networks::OptimiserKind::adam,
                          .learning_rate = c.real("sim.course_eta")},
            .batch = c.integer("sim.course_batch"),
            .deviation = c.real("sim.course_deviation"),
            .recorded = {}},
      pairs_(static_cast<int>(c.integer("theory.pairs"))),
      seed_(static_cast<std::uint64_t>(c.integer("sim.seed"))),
      problem_(std::make_shared<Lazy<Problem>>(
          [model = std::move(model)] { return Problem(model()); })) {
  constexpr double kMostMasked = 1e4;  // states with a masked site, at every step and pair
  for (const std::int64_t step : c.integers("sim.course")) {
    require(plan_.recorded.empty() || static_cast<std::uint64_t>(step) > plan_.recorded.back(),
            "sim.course",
            static_cast<double>(step),
            "ascending steps");
    plan_.recorded.push_back(static_cast<std::uint64_t>(step));
  }
  const auto sites = static_cast<double>(plan_.shape.length);
  if (sites * std::pow(plan_.shape.outputs, sites) > kMostMasked) networks_.clear();
}

TransformerTraining LossCourse::training(std::size_t network) const {
  TransformerTraining plan = plan_;
  plan.shape.layers = static_cast<int>(networks_[network].layers);
  if (networks_[network].blind) plan.shape.position = networks::PositionCode::none;
  plan.start = StreamAddress{.seed = seed_, .point = network};
  return plan;
}

void LossCourse::predict(TheoryResult& result) const {
  for (std::size_t network = 0; network < networks_.size(); ++network) {
    const TransformerTraining plan = training(network);
    const auto population = problem_->get().test.inputs().population(plan.shape);
    const TrainingPlan course{
        .start = networks::trained_values(initial_transformer(plan, *plan.start).parameters()),
        .rate = [eta = plan.optimiser.learning_rate](auto) { return eta; },
        .update = Update::adam,
        .batch = plan.batch,
        .recorded = plan.recorded};
    Curves loss(networks_[network].name, "step", {"course_loss"});
    const auto records = training_theory(
        *population,
        course,
        {},
        {.kind = TheoryMethod::Kind::pairs, .pairs = pairs_, .check_gradient = false});
    for (const TrainingTheoryRecord& r : records) {
      loss.add(static_cast<double>(r.step),
               {PredictedValue(r.loss.value(),
                               r.loss.finite_size(),
                               r.undescribed.empty(),
                               r.loss.numerical_error)});
    }
    loss.into(result);
    if (!records.empty() && !records.back().undescribed.empty()) {
      result.warnings.push_back(fmt::format("first steps, {}: nothing is predicted {}",
                                            describe(networks_[network].name),
                                            records.back().undescribed));
    }
  }
}

double LossCourse::flops() const {
  const auto width = static_cast<double>(plan_.shape.width);
  return 100 * width * width * static_cast<double>(plan_.batch) *
         static_cast<double>(plan_.recorded.back());
}

Outcome LossCourse::run(std::size_t network, const Replicate& replicate) const {
  const Problem& problem = problem_->get();
  const TransformerTraining plan = training(network);
  Curves loss(networks_[network].name, "step", {"course_loss"});
  const auto end = train_transformer(
      plan,
      [&](Index n, RandomStream& s) { return problem.sampler.draw(n, s); },
      [&](networks::Transformer<float>& trained) {
        return std::vector{problem.excess.bayes_loss() + problem.test.divergence(trained)};
      },
      replicate.address(),
      [&](std::uint64_t step, const std::vector<double>& values) {
        loss.add(static_cast<double>(step), {values[0]});
      },
      [&] { return replicate.stopped(); });
  Outcome outcome;
  mark_end(outcome, end);
  if (!loss.empty()) loss.into(outcome);
  return outcome;
}

}  // namespace attica::potts_loss
