#include "attica/theory/joma/overlap.hpp"

#include <array>

#include "attica/core/error.hpp"
#include "attica/theory/joma/flow.hpp"

namespace attica {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd overlap_moves(const JomaModel& model, const JomaState& start, double time, double step) {
  const auto rates = [&](const JomaState& s) -> VectorXd {
    return model.overlap_rates(s).reshaped();
  };
  const JomaFlow flow = joma_flow(model, start, std::array{0.0, time}, rates, step, 2);
  if (!flow.solution.finished()) {
    throw Error(ErrorKind::numerical, "gradient flow: " + describe(flow.solution));
  }
  const VectorXd sum =
      flow.integrals.col(1) - step / 2 * (rates(flow.states.back()) - rates(start));
  return sum.reshaped(model.tokens(), model.tokens());
}

double mean_square_drift(const MatrixXd& moves, const MatrixXd& gram) {
  return moves.cwiseProduct(gram).rowwise().sum().squaredNorm() / static_cast<double>(moves.rows());
}

double random_mean_square_drift(const MatrixXd& moves, double dimension) {
  return moves.squaredNorm() / (static_cast<double>(moves.rows()) * dimension);
}

}  // namespace attica
