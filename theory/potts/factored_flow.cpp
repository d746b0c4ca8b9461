#include "attica/theory/potts/factored_flow.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "attica/core/softmax.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

VectorXd packed(const FactoredAttention& s) {
  VectorXd x(s.attention.size() + s.values.size());
  x << s.attention.reshaped(), s.values.reshaped();
  return x;
}

FactoredAttention unpacked(const VectorXd& x, Index sites, Index colours) {
  return {x.head(sites * sites).reshaped(sites, sites),
          x.tail(colours * colours).reshaped(colours, colours)};
}

}  // namespace

FactoredFlow factored_flow(const FactoredAttention& start,
                           const WeightedSequences& population,
                           std::span<const double> times) {
  const Index sites = start.sites();
  const Index colours = start.colours();
  require_sequences(population.sequences, sites, colours);
  FactoredAttention gradient;
  const OdeRhs rhs = [&](double, const VectorXd& x, VectorXd& dxdt) {
    factored_loss(unpacked(x, sites, colours), population, &gradient);
    dxdt = -packed(gradient);
  };
  FactoredFlow flow{.students = {}, .solution = solve_ode(rhs, packed(start), times)};
  for (const auto& state : flow.solution.states.colwise()) {
    flow.students.push_back(unpacked(state, sites, colours));
  }
  return flow;
}

EarlyGrowth early_growth(const WeightedSequences& population, Index colours) {
  const Sequences& s = population.sequences;
  const Index sites = s.cols();
  require_sequences(s, sites, colours);
  // Row i + L j, column a + C c, as Eigen reshapes A and V.
  MatrixXd gamma = MatrixXd::Zero(sites * sites, colours * colours);
  const double mean = 1.0 / static_cast<double>(colours);
  for (Index n = 0; n < s.rows(); ++n) {
    for (Index j = 0; j < sites; ++j) {
      const Index c = s(n, j);
      for (Index i = 0; i < sites; ++i) {
        if (i == j) continue;
        auto row = gamma.row(i + sites * j);
        row.segment(colours * c, colours).array() -= population.weights[n] * mean;
        row[s(n, i) + colours * c] += population.weights[n];
      }
    }
  }
  const Eigen::BDCSVD<MatrixXd> svd(gamma, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {.singular_values = svd.singularValues(),
          .attention_mode = svd.matrixU().col(0).reshaped(sites, sites),
          .value_mode = svd.matrixV().col(0).reshaped(colours, colours)};
}

void orient(EarlyGrowth& growth, const FactoredAttention& start) {
  const double late = static_cast<double>(start.sites()) / growth.singular_values[0];
  if (early_overlap(growth, start, late) >= 0) return;
  growth.attention_mode *= -1;
  growth.value_mode *= -1;
}

double leading_overlap(const EarlyGrowth& growth, const FactoredAttention& student) {
  return growth.attention_mode.cwiseProduct(student.attention).sum();
}

double early_overlap(const EarlyGrowth& growth, const FactoredAttention& start, double time) {
  const double a = leading_overlap(growth, start);
  const double b = growth.value_mode.cwiseProduct(start.values).sum();
  const double angle = growth.singular_values[0] * time / static_cast<double>(start.sites());
  return a * std::cosh(angle) + b * std::sinh(angle);
}

double gradient_variance(const WeightedSequences& population, const FactoredAttention& student) {
  FactoredAttention g;
  double sum = 0;
  for (Index n = 0; n < population.sequences.rows(); ++n) {
    factored_loss(student, equally_weighted(population.sequences.row(n)), &g);
    sum += population.weights[n] * (g.attention.squaredNorm() + g.values.squaredNorm());
  }
  return sum;
}

LearningTail factored_tail(const PottsModel& model, const WeightedSequences& population) {
  const Index sites = model.sites();
  const Index colours = model.colours();
  const FactoredAttention& truth = model.as_student();
  const Sequences& s = population.sequences;
  require_sequences(s, sites, colours);
  // Parameters: row i of A without its diagonal at i (L-1), then V by rows. Site i's logits depend
  // on its row and on V only; `jacobian` has those columns.
  const Index row_size = sites - 1;
  const Index value_start = sites * row_size;
  const Index value_size = colours * colours;
  const Index size = value_start + value_size;
  MatrixXd hessian = MatrixXd::Zero(size, size);
  MatrixXd covariance = MatrixXd::Zero(size, size);
  MatrixXd jacobian(colours, row_size + value_size);
  MatrixXd local(row_size + value_size, row_size + value_size);
  MatrixXd p;
  VectorXd gradient(size);
  VectorXd mass(colours);  // sum_j A_ij [s_j = c]
  for (Index n = 0; n < s.rows(); ++n) {
    const std::uint8_t* state = s.row(n).data();
    truth.logits(state, p);
    log_softmax_columns(p);
    p = p.array().exp();
    gradient.setZero();
    for (Index i = 0; i < sites; ++i) {
      jacobian.setZero();
      mass.setZero();
      for (Index j = 0, column = 0; j < sites; ++j) {
        if (j == i) continue;
        jacobian.col(column++) = truth.values.col(state[j]);
        mass[state[j]] += truth.attention(i, j);
      }
      for (Index a = 0; a < colours; ++a) {
        jacobian.row(a).segment(row_size + a * colours, colours) = mass.transpose();
      }
      // At the truth the mean of p - e vanishes given the other sites, and with it the term with
      // second derivatives of the logits: H = E[J^T (diag p - p p^T) J].
      const VectorXd q = p.col(i);
      const VectorXd mean = jacobian.transpose() * q;
      local.noalias() = jacobian.transpose() * q.asDiagonal() * jacobian;
      local.noalias() -= mean * mean.transpose();
      const double weight = population.weights[n] / static_cast<double>(sites);
      const Index row = i * row_size;
      hessian.block(row, row, row_size, row_size) +=
          weight * local.topLeftCorner(row_size, row_size);
      hessian.block(row, value_start, row_size, value_size) +=
          weight * local.topRightCorner(row_size, value_size);
      hessian.block(value_start, row, value_size, row_size) +=
          weight * local.bottomLeftCorner(value_size, row_size);
      hessian.bottomRightCorner(value_size, value_size) +=
          weight * local.bottomRightCorner(value_size, value_size);
      const VectorXd own = (mean - jacobian.row(state[i]).transpose()) / static_cast<double>(sites);
      gradient.segment(row, row_size) += own.head(row_size);
      gradient.tail(value_size) += own.tail(value_size);
    }
    covariance.noalias() += population.weights[n] * gradient * gradient.transpose();
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(hessian);
  if (eigen.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical, "the eigenvalues of the Hessian did not converge");
  }
  constexpr double kSmallestShare = 1e-7;  // below: directions of the gauge
  LearningTail tail;
  for (Index k = 0; k < size; ++k) {
    const double curvature = eigen.eigenvalues()[k];
    if (curvature <= kSmallestShare * eigen.eigenvalues()[size - 1]) continue;
    const auto direction = eigen.eigenvectors().col(k);
    tail.trace += direction.dot(covariance * direction) / curvature;
    if (tail.rank++ == 0) tail.least_curvature = curvature;  // eigenvalues ascend
  }
  return tail;
}

LearningTail general_tail(Index sites, Index colours) {
  const Index parameters = (colours - 1) * (1 + (sites - 1) * (colours - 1));
  return {.trace = static_cast<double>(parameters), .rank = parameters};
}

}  // namespace attica
