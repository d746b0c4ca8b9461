#include "attica/theory/training/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<TrainingFlowRecord> training_flow(const PopulationModel& model,
                                              const VectorXd& start,
                                              const std::vector<double>& times,
                                              const std::vector<Observable>& observables,
                                              double decay) {
  constexpr double kFine = 1e-9;
  constexpr double kCoarse = 1e-7;
  constexpr double kAbsolute = 1e-3;  // of the relative tolerance: parameters of order one
  require(start.size() == model.parameters(),
          "start",
          static_cast<double>(start.size()),
          fmt::format("{} numbers, one a parameter", model.parameters()));
  require(
      !times.empty() && times.front() >= 0 && std::ranges::is_sorted(times, std::less_equal<>()),
      "times",
      times.empty() ? 0 : times.front(),
      "strictly ascending times from 0 on, at least one");
  require(decay >= 0, "decay", decay, "at least 0");
  require_gradient_of_losses(model, start);

  std::vector<double> grid = times;
  if (grid.front() > 0) grid.insert(grid.begin(), 0.0);
  const auto states = [&](double tolerance) -> MatrixXd {
    if (grid.size() == 1) return start;
    VectorXd losses;
    const OdeResult solved = solve_ode(
        [&](double, const VectorXd& theta, VectorXd& velocity) {
          model.pass(theta, losses, &model.weights(), &velocity);
          velocity = -velocity - decay * theta;
        },
        start,
        grid,
        {.relative_tolerance = tolerance, .absolute_tolerance = kAbsolute * tolerance});
    if (!solved.finished()) {
      throw Error(ErrorKind::numerical, fmt::format("training flow: {}", describe(solved)));
    }
    return solved.states.rightCols(std::ssize(times));
  };
  const MatrixXd fine = states(kFine);
  const MatrixXd coarse = states(kCoarse);
  std::vector<TrainingFlowRecord> records;
  const auto both = [&](const Observable& f, Index k) {
    Moment out;
    out.order_0 = f(fine.col(k));
    out.numerical_error = std::abs(out.order_0 - f(coarse.col(k)));
    return out;
  };
  const auto loss = [&](const VectorXd& theta) {
    VectorXd losses;
    model.pass(theta, losses);
    return model.weights().dot(losses);
  };
  for (Index k = 0; k < fine.cols(); ++k) {
    TrainingFlowRecord& record = records.emplace_back();
    record.time = times[static_cast<std::size_t>(k)];
    record.theta = fine.col(k);
    record.loss = both(loss, k);
    for (const Observable& f : observables) record.observed.push_back(both(f, k));
  }
  return records;
}

}  // namespace attica
