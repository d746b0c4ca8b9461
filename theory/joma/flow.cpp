#include "attica/theory/joma/flow.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

JomaFlow joma_flow(const JomaModel& model,
                   const JomaState& start,
                   std::span<const double> times,
                   const std::function<VectorXd(const JomaState&)>& integrand,
                   double step,
                   int orders) {
  const VectorXd origin = start.flat();
  const Index size = origin.size();
  const Index values = integrand ? integrand(start).size() : 0;
  VectorXd x0 = VectorXd::Zero(size + values);
  x0.head(size) = origin;
  JomaState descent;
  const auto rhs = [&](double, const VectorXd& x, VectorXd& dxdt) {
    if (values > 0) dxdt.tail(values) = integrand(start.from_flat(x.head(size)));
    const auto field = [&](const VectorXd& theta) -> VectorXd {
      model.loss(start.from_flat(theta), &descent);
      return descent.flat();
    };
    const VectorXd theta = x.head(size);
    VectorXd rate = field(theta);
    if (step > 0 && orders == 1) rate = field(theta - step / 2 * rate);
    if (step > 0 && orders == 2) {
      const VectorXd before = field(theta - 2 * step / 3 * rate);
      rate = 1.5 * field(theta - step / 3 * before) - 0.5 * rate;
    }
    dxdt.head(size) = rate;
  };
  JomaFlow flow{.solution = solve_ode(rhs,
                                      x0,
                                      times,
                                      {.method = OdeMethod::fehlberg78,
                                       .relative_tolerance = 1e-11,
                                       .absolute_tolerance = 1e-12}),
                .states = {},
                .integrals = {}};
  for (Index k = 0; k < flow.solution.states.cols(); ++k) {
    flow.states.push_back(start.from_flat(flow.solution.states.col(k).head(size)));
  }
  flow.integrals = flow.solution.states.bottomRows(values);
  return flow;
}

}  // namespace attica
