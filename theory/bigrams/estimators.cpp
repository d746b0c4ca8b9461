#include "attica/theory/bigrams/estimators.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <cmath>
#include <functional>

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Orthonormal basis of what is orthogonal to a vector. @shape{n x (n-1)}
MatrixXd complement(const VectorXd& normal) {
  const Index n = normal.size();
  const MatrixXd q = normal.householderQr().householderQ() * MatrixXd::Identity(n, n);
  return q.rightCols(n - 1);
}

/// P - μ1ᵀ.
MatrixXd centred_transition(const BigramModel& model) {
  return model.transition().colwise() - model.stationary();
}

const SparseColumn& column(const BigramModel& model, Index k) {
  return model.attention()[static_cast<std::size_t>(k)];
}

VectorXd weights(const BigramModel& model, Index k) {
  const std::vector<double>& w = column(model, k).weights;
  return Eigen::Map<const VectorXd>(w.data(), static_cast<Index>(w.size()));
}

double others(const BigramModel& model, Index k) {
  return static_cast<double>(model.context()) -
         static_cast<double>(column(model, k).positions.size());
}

/// Given the last token: calls visit(probability, tokens at the positions of q, y, p(y)).
void each_case(const BigramModel& model,
               Index k,
               const std::function<void(double, const std::vector<Index>&, Index, double)>& visit) {
  const VectorXd q = weights(model, k);
  const VectorXd& mu = model.stationary();
  std::vector<Index> x(static_cast<std::size_t>(q.size()), 0);
  for (bool more = true; more;) {
    double weight = 1;
    VectorXd law = VectorXd::Zero(mu.size());
    for (std::size_t j = 0; j < x.size(); ++j) {
      weight *= mu[x[j]];
      law += q[static_cast<Index>(j)] * model.transition().col(x[j]);
    }
    for (Index y = 0; y < mu.size(); ++y) visit(weight * law[y], x, y, law[y]);
    more = false;
    for (Index& token : x) {
      more = ++token < mu.size();
      if (more) break;
      token = 0;
    }
  }
}

}  // namespace

double enumerated_cases(const BigramModel& model) {
  double cases = 0;
  const auto n = static_cast<double>(model.tokens());
  for (const SparseColumn& q : model.attention()) {
    cases += std::pow(n, static_cast<double>(q.positions.size() + 1));
  }
  return cases;
}

double bayes_log_loss(const BigramModel& model) {
  double entropy = 0;
  for (Index k = 0; k < model.tokens(); ++k) {
    each_case(model, k, [&](double probability, const auto&, Index, double law) {
      if (law > 0) entropy -= model.stationary()[k] * probability * std::log(law);
    });
  }
  return entropy;
}

double unigram_log_loss(const BigramModel& model) {
  return -model.stationary().dot(model.stationary().array().log().matrix());
}

EstimatorError likelihood_error(const BigramModel& model, KnownPositions known) {
  const VectorXd& mu = model.stationary();
  const Index n = mu.size();
  // dV = E B Fᵀ with orthonormal coordinates, ‖dV‖²_μ = |B|²; da_k = W c_k/√μ_k, W orthonormal.
  const MatrixXd e = complement(VectorXd::Ones(n));
  const MatrixXd f = mu.cwiseSqrt().cwiseInverse().asDiagonal() * complement(mu.cwiseSqrt());
  const MatrixXd p = centred_transition(model);
  const MatrixXd p_coordinates = e.transpose() * p * mu.asDiagonal() * f;
  const Index of_v = (n - 1) * (n - 1);

  // A column's coordinates: zero-sum weights on the support, then, with all positions open, what
  // moves weight from the support to all others evenly. Zero-sum weights among these others have a
  // Fisher information of their own, as their scores are uncorrelated with all the rest.
  std::vector<MatrixXd> bases;
  std::vector<Index> first;
  Index dimension = of_v;
  for (Index k = 0; k < n; ++k) {
    const auto support = static_cast<Index>(column(model, k).positions.size());
    const double open = known == KnownPositions::none ? others(model, k) : 0;
    MatrixXd w(support, support - 1 + (open > 0));
    w.leftCols(support - 1) = complement(VectorXd::Ones(support));
    if (open > 0) {
      const auto q = static_cast<double>(support);
      w.col(support - 1).setConstant(-1 / (q * std::sqrt(1 / q + 1 / open)));
    }
    first.push_back(dimension);
    dimension += w.cols();
    bases.push_back(std::move(w));
  }

  MatrixXd fisher = MatrixXd::Zero(dimension, dimension);
  MatrixXd curvature = MatrixXd::Zero(dimension, dimension);
  EstimatorError error{.parameters = static_cast<double>(dimension)};
  const VectorXd& norm2 = model.attention_norm2();
  curvature.topLeftCorner(of_v, of_v).diagonal().setConstant(mu.dot(norm2));
  for (Index k = 0; k < n; ++k) {
    const MatrixXd& w = bases[static_cast<std::size_t>(k)];
    const VectorXd q = weights(model, k);
    const double open = known == KnownPositions::none ? others(model, k) : 0;
    const Index begin = first[static_cast<std::size_t>(k)];
    const double root = std::sqrt(mu[k]);
    double contrast = 0;  // Fisher information of a zero-sum contrast of the others
    VectorXd score(of_v + w.cols());
    MatrixXd block = MatrixXd::Zero(score.size(), score.size());
    each_case(model, k, [&](double probability, const auto& x, Index y, double law) {
      VectorXd seen = VectorXd::Zero(n - 1);
      VectorXd effect(q.size());
      for (Index j = 0; j < q.size(); ++j) {
        const Index token = x[static_cast<std::size_t>(j)];
        seen += q[j] * f.row(token).transpose();
        effect[j] = p(y, token);
      }
      const MatrixXd of_b = e.row(y).transpose() * seen.transpose();
      score << Eigen::Map<const VectorXd>(of_b.data(), of_v), w.transpose() * effect / root;
      score /= law;
      block += mu[k] * probability * score * score.transpose();
      if (open > 0) {
        // A token elsewhere: mean 0, variance Σ_n μ_n p_yn².
        const double variance = mu.dot(p.row(y).transpose().cwiseAbs2()) / (law * law);
        const auto support = static_cast<double>(q.size());
        const double share = 1 / (1 / support + 1 / open) / open;  // of the even move
        block(score.size() - 1, score.size() - 1) += probability * share * variance;
        contrast += probability * variance;
      }
    });
    fisher.topLeftCorner(of_v, of_v) += block.topLeftCorner(of_v, of_v);
    fisher.block(0, begin, of_v, w.cols()) = block.topRightCorner(of_v, w.cols());
    fisher.block(begin, 0, w.cols(), of_v) = block.bottomLeftCorner(w.cols(), of_v);
    fisher.block(begin, begin, w.cols(), w.cols()) = block.bottomRightCorner(w.cols(), w.cols());

    curvature.block(begin, begin, w.cols(), w.cols()).diagonal().setConstant(model.k_p());
    const MatrixXd mixed = root * Eigen::Map<const VectorXd>(p_coordinates.data(), of_v) *
                           (w.transpose() * q).transpose();
    curvature.block(0, begin, of_v, w.cols()) = mixed;
    curvature.block(begin, 0, w.cols(), of_v) = mixed.transpose();
    if (open > 1) {
      error.distance_a2 += (open - 1) / contrast;
      error.parameters += open - 1;
    }
  }
  error.excess_loss = 0.5 * model.k_p() * error.distance_a2;
  const MatrixXd covariance = fisher.llt().solve(MatrixXd::Identity(dimension, dimension));
  error.excess_loss += 0.5 * curvature.cwiseProduct(covariance).sum();
  error.distance_v2 = covariance.diagonal().head(of_v).sum();
  error.distance_a2 += covariance.diagonal().tail(dimension - of_v).sum();
  return error;
}

EstimatorError counting_error(const BigramModel& model) {
  const VectorXd& mu = model.stationary();
  const Index n = mu.size();
  const MatrixXd p = centred_transition(model);
  const VectorXd mean_row = p.transpose() * mu;
  const double k_p = model.k_p();
  EstimatorError error{.distance_v2 = -k_p};
  double mixed = 0;  // Σ_k μ_k E (q_k·da_k) ⟨dV, P⟩_μ
  for (Index k = 0; k < n; ++k) {
    const VectorXd q = weights(model, k);
    const double open = others(model, k);
    each_case(model, k, [&](double probability, const auto& x, Index y, double) {
      VectorXd h = VectorXd::Constant(n, -static_cast<double>(q.size()));
      double sum = 0;      // of m_t = p_{y x_t} over the support
      double squares = 0;  // of m_t
      double along = 0;    // Σ q_t m_t
      double g = 0;        // ⟨(y - μ) h(x)ᵀ, P - μ1ᵀ⟩_μ, its part from the support
      for (Index j = 0; j < q.size(); ++j) {
        const Index token = x[static_cast<std::size_t>(j)];
        const double m = p(y, token);
        h[token] += 1 / mu[token];
        sum += m;
        squares += m * m;
        along += q[j] * m;
        g += m - mean_row[token];
      }
      const VectorXd row = p.row(y).transpose();
      const double variance = mu.dot(row.cwiseAbs2());  // of m_t elsewhere
      const double q2 = q.squaredNorm();
      const double residual2 = 1 - 2 * mu[y] + mu.squaredNorm();  // |y - μ|²
      const double h2 = mu.dot(h.cwiseAbs2()) + open * static_cast<double>(n - 1);
      error.distance_v2 += mu[k] * probability * residual2 * h2;
      error.distance_a2 +=
          probability / (k_p * k_p) *
          (squares + open * variance - 2 * sum * along + (sum * sum + open * variance) * q2);
      const double covariance = mu.dot(row.cwiseProduct(row - mean_row));  // of m_t and g_t
      mixed += mu[k] * probability / k_p * ((along - q2 * sum) * g - q2 * open * covariance);
    });
  }
  error.excess_loss = 0.5 * (mu.dot(model.attention_norm2()) * error.distance_v2 +
                             k_p * error.distance_a2 + 2 * mixed);
  return error;
}

}  // namespace attica
