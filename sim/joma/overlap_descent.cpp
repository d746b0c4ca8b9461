#include "attica/sim/joma/overlap_descent.hpp"

#include <algorithm>
#include <utility>

#include "attica/sim/joma/descent.hpp"
#include "attica/sim/joma/networks.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

JomaModel with_gram(const JomaModel& model, MatrixXd gram) {
  JomaLaw law = model.law();
  law.gram = std::move(gram);
  return {std::move(law), model.samples()};
}

OverlapDrift OverlapDescent::with(const MatrixXd& gram) const {
  const JomaModel model = with_gram(orthonormal, gram);
  JomaDescent descent(model, start, eta, 0, {});
  VectorXd whole_steps = VectorXd::Zero(orthonormal.tokens());
  while (descent.steps() < steps && !descent.blown_up()) {
    descent.step();
    whole_steps += orthonormal.invariant_step(descent.last_step());
  }
  if (descent.blown_up()) return {.drift = {}, .blown_up_at = descent.steps()};
  const JomaState& s = descent.state();
  const VectorXd left = model.invariant(s) - model.invariant(start) - descent.accumulated();
  return {.drift = orthonormal.invariant(s) - orthonormal.invariant(start) - whole_steps,
          .violation = left.cwiseAbs().maxCoeff() / std::max(1.0, s.z.cwiseAbs().maxCoeff())};
}

MatrixXd OverlapDescent::response() const {
  constexpr double kCosine = 1e-6;
  const Index tokens = orthonormal.tokens();
  MatrixXd all(tokens, tokens * (tokens - 1) / 2);
  Index pair = 0;
  for (Index j = 0; j < tokens; ++j) {
    for (Index i = 0; i < j; ++i) {
      MatrixXd gram = MatrixXd::Identity(tokens, tokens);
      gram(i, j) = gram(j, i) = kCosine;
      const OverlapDrift moved = with(gram);
      if (moved.blown_up_at) return MatrixXd::Zero(tokens, all.cols());
      all.col(pair++) = moved.drift / kCosine;
    }
  }
  return all;
}

VectorXd pair_cosines(const MatrixXd& gram) {
  VectorXd all(gram.rows() * (gram.rows() - 1) / 2);
  Index pair = 0;
  for (Index j = 0; j < gram.rows(); ++j) {
    for (Index i = 0; i < j; ++i) all[pair++] = gram(i, j);
  }
  return all;
}

double mean_square_cosine(RandomStream stream, Index tokens, Index dimension) {
  constexpr int kEmbeddings = 50;
  double sum = 0;
  for (int k = 0; k < kEmbeddings; ++k) {
    const MatrixXd gram = random_overlap(tokens, dimension, stream);
    sum += gram.squaredNorm() - static_cast<double>(tokens);
  }
  return sum / (kEmbeddings * static_cast<double>(tokens * (tokens - 1)));
}

}  // namespace attica
