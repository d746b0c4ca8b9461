#include "attica/core/bigrams/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kSumTolerance = 1e-9;
constexpr double kStationarityTolerance = 1e-8;
constexpr double kNoSignal = 1e-12;

bool sums_to_one(const VectorXd& sums) { return ((sums.array() - 1).abs() <= kSumTolerance).all(); }

/// The stationary law of P by averaged power iteration, for the message that names it.
VectorXd stationary_law(const MatrixXd& transition) {
  constexpr int kSweeps = 10000;
  VectorXd mu = VectorXd::Constant(transition.rows(), 1.0 / static_cast<double>(transition.rows()));
  for (int sweep = 0; sweep < kSweeps; ++sweep) mu = 0.5 * (mu + transition * mu);
  return mu / mu.sum();
}

void validate_column(const SparseColumn& column, Index token, Index context, Index sparsity) {
  const std::string name = fmt::format("Q[{}]", token);
  if (column.positions.empty() || column.positions.size() != column.weights.size()) {
    throw invalid_parameter(
        name,
        fmt::format("{} positions and {} weights", column.positions.size(), column.weights.size()),
        "as many weights as positions, at least one");
  }
  if (static_cast<Index>(column.positions.size()) > sparsity) {
    throw invalid_parameter(name,
                            fmt::format("column with {} non-zeros", column.positions.size()),
                            fmt::format("at most sparsity = {} non-zeros", sparsity));
  }
  double sum = 0;
  for (std::size_t j = 0; j < column.positions.size(); ++j) {
    const Index t = column.positions[j];
    require(t >= 0 && t < context, name, static_cast<double>(t), "positions within the context");
    require(j == 0 || column.positions[j - 1] < t,
            name,
            static_cast<double>(t),
            "rising positions, each once");
    require(column.weights[j] >= 0, name, column.weights[j], "weights >= 0, no NaN");
    sum += column.weights[j];
  }
  require(std::abs(sum - 1) <= kSumTolerance, name, sum, "weights that sum to 1 within 1e-9");
}

template <class Matrix>
AttentionSums sums_of(const BigramModel& model, const Matrix& attention) {
  const Index n = model.tokens();
  AttentionSums sums{VectorXd(n), VectorXd(n), VectorXd::Zero(n)};
  for (Index k = 0; k < n; ++k) {
    sums.sum[k] = attention.col(k).template cast<double>().sum();
    sums.norm2[k] = attention.col(k).template cast<double>().squaredNorm();
    const SparseColumn& q = model.attention()[static_cast<std::size_t>(k)];
    for (std::size_t j = 0; j < q.positions.size(); ++j) {
      sums.overlap[k] += q.weights[j] * static_cast<double>(attention(q.positions[j], k));
    }
  }
  return sums;
}

}  // namespace

double SparseColumn::norm2() const {
  double total = 0;
  for (const double w : weights) total += w * w;
  return total;
}

void validate(const BigramChain& chain) {
  const MatrixXd& p = chain.transition;
  const VectorXd& mu = chain.stationary;
  const Index n = p.rows();
  require(n >= 2, "P", static_cast<double>(n), "at least 2 tokens");
  if (p.cols() != n || mu.size() != n) {
    throw invalid_parameter("P",
                            fmt::format("{} x {} matrix, mu of {}", n, p.cols(), mu.size()),
                            "a square matrix and mu of the same size");
  }
  if (!p.allFinite() || !mu.allFinite()) {
    throw invalid_parameter("P, mu", "NaN or infinity", "finite entries");
  }
  require(p.minCoeff() >= 0, "P", p.minCoeff(), "entries >= 0");
  const VectorXd column_sums = p.colwise().sum().transpose();
  if (!sums_to_one(column_sums)) {
    Index worst = 0;
    (column_sums.array() - 1).abs().maxCoeff(&worst);
    const bool rows_do = sums_to_one(p.rowwise().sum());
    throw invalid_parameter(
        "P",
        fmt::format("column {} with sum {}", worst, column_sums[worst]),
        rows_do ? "columns that sum to 1 within 1e-9; the rows do: give the transpose"
                : "columns that sum to 1 within 1e-9");
  }
  require(mu.minCoeff() > 0, "mu", mu.minCoeff(), "entries > 0");
  require(std::abs(mu.sum() - 1) <= kSumTolerance, "mu", mu.sum(), "a sum of 1 within 1e-9");
  const double change = (p * mu - mu).cwiseAbs().maxCoeff();
  if (change > kStationarityTolerance) {
    const VectorXd law = stationary_law(p);
    throw invalid_parameter("mu",
                            fmt::format("law with |P mu - mu| = {:.3g}", change),
                            fmt::format("the stationary law of P within 1e-8, which is [{:.6g}]",
                                        fmt::join(law.data(), law.data() + law.size(), ", ")));
  }
}

BigramModel::BigramModel(BigramChain chain,
                         Index context,
                         Index sparsity,
                         std::vector<SparseColumn> attention)
    : chain_(std::move(chain)),
      context_(context),
      sparsity_(sparsity),
      attention_(std::move(attention)) {
  validate(chain_);
  require(context_ >= 2, "context", static_cast<double>(context_), "T >= 2");
  require(sparsity_ >= 1, "sparsity", static_cast<double>(sparsity_), "Q >= 1");
  require(sparsity_ <= context_, "sparsity", static_cast<double>(sparsity_), "Q <= context");
  const Index n = tokens();
  if (static_cast<Index>(attention_.size()) != n) {
    throw invalid_parameter("Q",
                            fmt::format("{} columns", attention_.size()),
                            fmt::format("one for each of the {} tokens", n));
  }
  const VectorXd& mu = chain_.stationary;
  const MatrixXd& p = chain_.transition;
  covariance_ = -mu * mu.transpose();
  covariance_.diagonal() += mu;
  attention_norm2_.resize(n);
  smallest_weight_ = std::numeric_limits<double>::infinity();
  for (Index k = 0; k < n; ++k) {
    const SparseColumn& column = attention_[static_cast<std::size_t>(k)];
    validate_column(column, k, context_, sparsity_);
    attention_norm2_[k] = column.norm2();
    for (const double w : column.weights) {
      if (w > 0) smallest_weight_ = std::min(smallest_weight_, w);
    }
  }
  k_p_ = (p.colwise() - mu).colwise().squaredNorm().dot(mu.transpose());
  k_q_ = mu.dot(attention_norm2_) - 1 / static_cast<double>(context_);
  kappa_v_ = (covariance_ * p * covariance_ * p.transpose()).trace() / (k_p_ * k_p_);
}

MatrixXd BigramModel::dense_attention() const {
  MatrixXd q = MatrixXd::Zero(context_, tokens());
  for (Index k = 0; k < tokens(); ++k) {
    const SparseColumn& column = attention_[static_cast<std::size_t>(k)];
    for (std::size_t j = 0; j < column.positions.size(); ++j) {
      q(column.positions[j], k) = column.weights[j];
    }
  }
  return q;
}

double BigramModel::initial_loss() const { return 0.5 * (1 - stationary().squaredNorm()); }

double BigramModel::bayes_loss() const {
  return initial_loss() - 0.5 * k_p_ * stationary().dot(attention_norm2_);
}

bool BigramModel::has_signal() const { return k_p_ > kNoSignal; }

AttentionSums attention_sums(const BigramModel& model, const MatrixXd& attention) {
  return sums_of(model, attention);
}
AttentionSums attention_sums(const BigramModel& model, const Eigen::MatrixXf& attention) {
  return sums_of(model, attention);
}

BigramConstants constants(const BigramModel& model) {
  return {model.k_p(), model.k_q(), static_cast<double>(model.context())};
}

namespace {

double weighted(const BigramModel& model, const MatrixXd& x, const MatrixXd& y) {
  return x.cwiseProduct(y).colwise().sum().dot(model.stationary().transpose());
}

}  // namespace

BigramValueState bigram_value_state(const BigramModel& model, const MatrixXd& value) {
  const VectorXd& mu = model.stationary();
  const MatrixXd centred = value.colwise() - value * mu;
  const double k_vp = weighted(model, centred, model.transition().colwise() - mu);
  return {weighted(model, centred, centred), k_vp, k_vp / model.k_p()};
}

BigramState bigram_state(const BigramModel& model,
                         const MatrixXd& value,
                         const AttentionSums& sums) {
  const VectorXd& mu = model.stationary();
  const double t_inverse = 1 / static_cast<double>(model.context());
  const VectorXd v = value * mu;
  const BigramValueState of_value = bigram_value_state(model, value);
  BigramState s;
  s.k_v = of_value.k_v;
  s.k_vp = of_value.k_vp;
  s.alpha_v = of_value.alpha_v;
  s.mean_sum = mu.dot(sums.sum);
  s.alpha_a = (mu.dot(sums.overlap) - s.mean_sum * t_inverse) / model.k_q();
  const MatrixXd from_start = value.colwise() - mu;
  s.d_v = weighted(model, from_start, from_start) - s.alpha_v * s.alpha_v * model.k_p();
  s.d_a = mu.dot(sums.norm2) - 2 * s.mean_sum * t_inverse + t_inverse -
          s.alpha_a * s.alpha_a * model.k_q();
  const MatrixXd error = value - model.transition();
  s.distance_v2 = weighted(model, error, error);
  s.distance_a2 = mu.dot(sums.norm2 - 2 * sums.overlap + model.attention_norm2());

  // With s, n, o the column sums: L = ½ Σ_k μ_k { |s v - μ|² + 1 - |μ|² + n K_V - 2 o K_VP }, and
  // L - L* collects the same terms against n = |q|², o = |q|², K_V = K_VP = K_P.
  for (Index k = 0; k < model.tokens(); ++k) {
    const double mismatch = (sums.sum[k] * v - mu).squaredNorm();
    const double q2 = model.attention_norm2()[k];
    s.excess_loss +=
        0.5 * mu[k] *
        (mismatch + sums.norm2[k] * s.k_v - 2 * sums.overlap[k] * s.k_vp + q2 * model.k_p());
  }
  s.loss = model.bayes_loss() + s.excess_loss;
  return s;
}

MatrixXd stationary_value(const BigramModel& model) {
  return model.stationary().replicate(1, model.tokens());
}

MatrixXd transfer_start(const BigramModel& model, double theta, const MatrixXd& source) {
  return theta * source + (1 - theta) * stationary_value(model);
}

MatrixXd uniform_attention(const BigramModel& model) {
  return MatrixXd::Constant(
      model.context(), model.tokens(), 1 / static_cast<double>(model.context()));
}

}  // namespace attica
