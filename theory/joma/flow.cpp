#include "attica/theory/joma/flow.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

JomaFlow joma_flow(const JomaModel& model,
                   const JomaState& start,
                   std::span<const double> times,
                   const VectorXd& mean_context,
                   double step) {
  const VectorXd origin = start.flat();
  const Index size = origin.size();
  const Index tokens = mean_context.size();
  VectorXd x0 = VectorXd::Zero(size + tokens);
  x0.head(size) = origin;
  JomaState descent;
  const auto rhs = [&](double, const VectorXd& x, VectorXd& dxdt) {
    JomaState state = start.from_flat(x.head(size));
    if (tokens > 0) dxdt.tail(tokens) = model.softmax_defect_rate(state, mean_context);
    model.loss(state, &descent);
    if (step > 0) {
      state = start.from_flat(x.head(size) - 0.5 * step * descent.flat());
      model.loss(state, &descent);
    }
    dxdt.head(size) = descent.flat();
  };
  JomaFlow flow{.solution = solve_ode(rhs,
                                      x0,
                                      times,
                                      {.method = OdeMethod::fehlberg78,
                                       .relative_tolerance = 1e-11,
                                       .absolute_tolerance = 1e-12}),
                .states = {},
                .defect = {}};
  for (Index k = 0; k < flow.solution.states.cols(); ++k) {
    flow.states.push_back(start.from_flat(flow.solution.states.col(k).head(size)));
  }
  flow.defect = flow.solution.states.bottomRows(tokens);
  return flow;
}

}  // namespace attica
