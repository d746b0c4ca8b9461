#include "attica/theory/potts/factored_flow.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "attica/core/potts/leading_mode.hpp"
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

MaskedContexts::MaskedContexts(const WeightedSequences& population, Index colours)
    : colours_(colours) {
  const Sequences& s = population.sequences;
  const Index sites = s.cols();
  require_sequences(s, sites, colours);
  for (Index i = 0; i < sites; ++i) {
    // Sequences that differ in site i alone share a context.
    std::unordered_map<std::string, Index> number;
    std::vector<Index> context(static_cast<std::size_t>(s.rows()));
    std::string others;
    for (Index n = 0; n < s.rows(); ++n) {
      others.assign(s.row(n).data(), s.row(n).data() + sites);
      others[static_cast<std::size_t>(i)] = 0;
      context[static_cast<std::size_t>(n)] =
          number.emplace(others, std::ssize(number)).first->second;
    }
    Site site{.contexts = Sequences(std::ssize(number), sites),
              .weights = MatrixXd::Zero(colours, std::ssize(number))};
    for (Index n = 0; n < s.rows(); ++n) {
      const Index k = context[static_cast<std::size_t>(n)];
      site.contexts.row(k) = s.row(n);
      site.weights(s(n, i), k) += population.weights[n] / static_cast<double>(sites);
    }
    sites_.push_back(std::move(site));
  }
}

MatrixXd MaskedContexts::log_conditionals(const FactoredAttention& student, Index site) const {
  const Sequences& contexts = sites_[static_cast<std::size_t>(site)].contexts;
  const Index sites = contexts.cols();
  MatrixXd h(colours_, contexts.rows());
  std::vector<MatrixXd> parts;  // A_ij V
  for (Index j = 0; j < sites; ++j) parts.emplace_back(student.attention(site, j) * student.values);
  for (Index n = 0; n < contexts.rows(); ++n) {
    double* column = h.col(n).data();
    std::fill(column, column + colours_, 0.0);
    for (Index j = 0; j < sites; ++j) {
      if (j == site) continue;
      const double* part = parts[static_cast<std::size_t>(j)].col(contexts(n, j)).data();
      for (Index a = 0; a < colours_; ++a) column[a] += part[a];
    }
  }
  h.rowwise() -= h.colwise().maxCoeff().eval();
  const Eigen::RowVectorXd log_sums = h.array().exp().matrix().colwise().sum().array().log();
  h.rowwise() -= log_sums;
  return h;
}

FactoredAttention MaskedContexts::gradient(const FactoredAttention& student) const {
  const Index sites = student.sites();
  FactoredAttention result{.attention = MatrixXd::Zero(sites, sites),
                           .values = MatrixXd::Zero(colours_, colours_)};
  MatrixXd seen(colours_, colours_);  // derivative by A_ij V
  for (Index i = 0; i < sites; ++i) {
    const Site& site = sites_[static_cast<std::size_t>(i)];
    // Derivative by the logits: the context's weight times p, minus the weights of the colours.
    MatrixXd g = log_conditionals(student, i).array().exp();
    g.array().rowwise() *= site.weights.colwise().sum().array();
    g -= site.weights;
    for (Index j = 0; j < sites; ++j) {
      if (j == i) continue;
      seen.setZero();
      for (Index n = 0; n < g.cols(); ++n) {
        double* column = seen.col(site.contexts(n, j)).data();
        for (Index a = 0; a < colours_; ++a) column[a] += g(a, n);
      }
      result.attention(i, j) = seen.cwiseProduct(student.values).sum();
      result.values += student.attention(i, j) * seen;
    }
  }
  return result;
}

double MaskedContexts::excess_loss(const FactoredAttention& truth,
                                   const FactoredAttention& student) const {
  double sum = 0;
  for (Index i = 0; i < std::ssize(sites_); ++i) {
    const MatrixXd ratio = log_conditionals(truth, i) - log_conditionals(student, i);
    sum += sites_[static_cast<std::size_t>(i)].weights.cwiseProduct(ratio).sum();
  }
  return sum;
}

FactoredFlow factored_flow(const FactoredAttention& start,
                           const WeightedSequences& population,
                           std::span<const double> times) {
  const Index sites = start.sites();
  const Index colours = start.colours();
  require_sequences(population.sequences, sites, colours);
  const MaskedContexts contexts(population, colours);
  const OdeRhs rhs = [&](double, const VectorXd& x, VectorXd& dxdt) {
    dxdt = -packed(contexts.gradient(unpacked(x, sites, colours)));
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
  const LeadingMode mode = leading_mode(gamma);
  return {.singular_value = mode.value,
          .attention_mode = mode.left.reshaped(sites, sites),
          .value_mode = mode.right.reshaped(colours, colours)};
}

void orient(EarlyGrowth& growth, const FactoredAttention& start) {
  const auto late = static_cast<double>(start.sites()) / growth.singular_value;
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
  const double angle = growth.singular_value * time / static_cast<double>(start.sites());
  return a * std::cosh(angle) + b * std::sinh(angle);
}

LearningTail factored_tail(const PottsModel& model, const WeightedSequences& population) {
  const Index sites = model.sites();
  const Index colours = model.colours();
  const FactoredAttention& truth = model.as_student();
  const Sequences& s = population.sequences;
  require_sequences(s, sites, colours);
  // Parameters: row i of A without its diagonal at i (L-1), then V by rows. Site i's logits depend
  // on its row and on V only: d h_a / d A_ij = V[a, s_j], d h_a / d V[a, c] = m_c = sum_j A_ij
  // [s_j = c].
  const Index row_size = sites - 1;
  const Index value_start = sites * row_size;
  const Index value_size = colours * colours;
  const Index size = value_start + value_size;
  MatrixXd hessian = MatrixXd::Zero(size, size);  // below the diagonal
  MatrixXd value_block = MatrixXd::Zero(value_size, value_size);
  MatrixXd covariance = MatrixXd::Zero(size, size);  // below the diagonal
  constexpr Index kTogether = 256;
  MatrixXd gradients(size, kTogether);  // times the roots of the weights
  MatrixXd p;
  MatrixXd curvature(colours, colours);  // D = diag p - p p^T
  MatrixXd half(colours, colours);       // D V
  MatrixXd whole(colours, colours);      // V^T D V
  MatrixXd masses(colours, colours);     // m m^T
  VectorXd mass(colours), miss(colours), along(colours);
  Index together = 0;
  for (Index n = 0; n < s.rows(); ++n) {
    const std::uint8_t* state = s.row(n).data();
    truth.logits(state, p);
    log_softmax_columns(p);
    p = p.array().exp();
    auto gradient = gradients.col(together);
    gradient.setZero();
    const double share = std::sqrt(population.weights[n]) / static_cast<double>(sites);
    const double weight = population.weights[n] / static_cast<double>(sites);
    for (Index i = 0; i < sites; ++i) {
      mass.setZero();
      for (Index j = 0; j < sites; ++j) mass[state[j]] += truth.attention(i, j);
      // At the truth the mean of p - e vanishes given the other sites, and with it the term with
      // second derivatives of the logits: H = E[J^T D J].
      curvature.noalias() = -weight * p.col(i) * p.col(i).transpose();
      curvature.diagonal() += weight * p.col(i);
      half.noalias() = curvature.lazyProduct(truth.values);
      whole.noalias() = truth.values.transpose().lazyProduct(half);
      masses.noalias() = mass * mass.transpose();
      miss = p.col(i);  // p - e
      miss[state[i]] -= 1;
      along.noalias() = truth.values.transpose().lazyProduct(miss);
      const Index row = i * row_size;
      for (Index j = 0, column = row; j < sites; ++j) {
        if (j == i) continue;
        for (Index k = j, other = column; k < sites; ++k) {
          if (k != i) hessian(other++, column) += whole(state[k], state[j]);
        }
        for (Index a = 0; a < colours; ++a) {
          hessian.col(column).segment(value_start + a * colours, colours) +=
              half(a, state[j]) * mass;
        }
        gradient[column] += share * along[state[j]];
        ++column;
      }
      for (Index b = 0; b < colours; ++b) {
        for (Index a = b; a < colours; ++a) {
          value_block.block(a * colours, b * colours, colours, colours) += curvature(a, b) * masses;
        }
      }
      for (Index a = 0; a < colours; ++a) {
        gradient.segment(value_start + a * colours, colours) += share * miss[a] * mass;
      }
    }
    if (++together == kTogether || n + 1 == s.rows()) {
      covariance.selfadjointView<Eigen::Lower>().rankUpdate(gradients.leftCols(together));
      together = 0;
    }
  }
  hessian.bottomRightCorner(value_size, value_size) = value_block;
  covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(hessian);
  if (eigen.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical, "the eigenvalues of the Hessian did not converge");
  }
  constexpr double kSmallestShare = 1e-7;  // below: directions of the gauge
  LearningTail tail;
  for (Index k = 0; k < size; ++k) {
    const double steepness = eigen.eigenvalues()[k];
    if (steepness <= kSmallestShare * eigen.eigenvalues()[size - 1]) continue;
    const auto direction = eigen.eigenvectors().col(k);
    tail.trace += direction.dot(covariance * direction) / steepness;
    if (tail.rank++ == 0) tail.least_curvature = steepness;  // eigenvalues ascend
  }
  return tail;
}

LearningTail general_tail(Index sites, Index colours) {
  const Index parameters = (colours - 1) * (1 + (sites - 1) * (colours - 1));
  return {.trace = static_cast<double>(parameters), .rank = parameters};
}

double general_spread(const PottsModel& model, const WeightedSequences& population) {
  const Index sites = model.sites();
  const Index free = model.colours() - 1;  // without the last one, which follows
  const Index features = 1 + (sites - 1) * free;
  const FactoredAttention& truth = model.as_student();
  const Sequences& s = population.sequences;
  require_sequences(s, sites, model.colours());
  constexpr Index kTogether = 256;
  MatrixXd gradients(free * features, kTogether);
  MatrixXd p;
  VectorXd x(features);
  const auto fill = [&](Index site, Index first, Index count) {
    for (Index n = 0; n < count; ++n) {
      const std::uint8_t* state = s.row(first + n).data();
      truth.logits(state, p);
      log_softmax_columns(p);
      VectorXd miss = -p.col(site).array().exp();
      miss[state[site]] += 1;
      x.setZero();
      x[0] = 1;
      for (Index j = 0, column = 1; j < sites; ++j) {
        if (j == site) continue;
        if (state[j] < free) x[column + state[j]] = 1;
        column += free;
      }
      for (Index a = 0; a < free; ++a)
        gradients.col(n).segment(a * features, features) = miss[a] * x;
    }
  };
  double largest = 1;
  for (Index site = 0; site < sites; ++site) {
    MatrixXd covariance = MatrixXd::Zero(free * features, free * features);
    const auto in_blocks = [&](const auto& take) {
      for (Index first = 0; first < s.rows(); first += kTogether) {
        const Index count = std::min(kTogether, s.rows() - first);
        fill(site, first, count);
        take(gradients.leftCols(count), population.weights.segment(first, count));
      }
    };
    in_blocks([&](const auto& g, const auto& weights) {
      covariance.noalias() += g * weights.asDiagonal() * g.transpose();
    });
    const Eigen::LLT<MatrixXd> factor(covariance);
    if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    double mean = 0;
    double square = 0;
    in_blocks([&](const auto& g, const auto& weights) {
      const MatrixXd whitened = factor.matrixL().solve(g);
      const VectorXd q = whitened.colwise().squaredNorm().transpose();
      mean += weights.dot(q);
      square += weights.dot(q.cwiseAbs2());
    });
    largest = std::max(largest, square / (mean * mean));
  }
  return largest;
}

}  // namespace attica
