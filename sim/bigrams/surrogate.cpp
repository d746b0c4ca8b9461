#include "attica/sim/bigrams/surrogate.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/normal_matrix.hpp"
#include "attica/core/parallel.hpp"
#include "attica/sim/chi_squared.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const SparseColumn& support_of(const BigramModel& model, Index k) {
  return model.attention()[static_cast<std::size_t>(k)];
}

/// The entries of a sorted column that reach a fraction of its largest.
SparseColumn large_part(const SparseColumn& column, double fraction) {
  SparseColumn kept;
  double largest = 0;
  for (const double a : column.weights) largest = std::max(largest, a);
  for (std::size_t j = 0; largest > 0 && j < column.weights.size(); ++j) {
    if (column.weights[j] < fraction * largest) continue;
    kept.positions.push_back(column.positions[j]);
    kept.weights.push_back(column.weights[j]);
  }
  return kept;
}

/// Positions where mean + sd z leaves [-cut, cut], z normal, found by geometric jumps, and the
/// values there.
class Births {
 public:
  Births(double mean, double sd, double cut, Index context, RandomStream& stream)
      : mean_(mean), sd_(sd), context_(context), stream_(&stream) {
    if (sd > 0) {
      up_ = normal_tail((cut - mean) / sd);
      down_ = normal_tail((cut + mean) / sd);
    }
    constexpr double kCertain = 1 - 1e-16;
    log_none_ = std::log1p(-std::min(up_ + down_, kCertain));
    next_ = jump(0);
  }
  /// The next position, T when there is none.
  Index position() const { return next_; }
  void advance() { next_ = jump(next_ + 1); }
  double value() {
    const double u = stream_->uniform();
    const bool up = stream_->uniform() * (up_ + down_) < up_;
    return mean_ + sd_ * (up ? normal_quantile(u * up_) : -normal_quantile(u * down_));
  }

 private:
  Index jump(Index from) {
    if (up_ + down_ <= 0) return context_;
    const double gap = std::floor(std::log(stream_->uniform()) / log_none_);
    return gap < static_cast<double>(context_) ? std::min(from + static_cast<Index>(gap), context_)
                                               : context_;
  }

  double mean_;
  double sd_;
  Index context_;
  RandomStream* stream_;
  double up_ = 0;
  double down_ = 0;
  double log_none_ = 0;
  Index next_ = 0;
};

}  // namespace

BigramSurrogate::BigramSurrogate(const BigramModel& model,
                                 const BigramRates& rates,
                                 double batch,
                                 MatrixXd value,
                                 const StreamAddress& address)
    : BigramTrainer(model, rates, batch), address_(address), v_(std::move(value)) {
  require(rates.eta_v > 0, "eta_V", rates.eta_v, "eta_V > 0");
  require(rates.eta_a > 0, "eta_A", rates.eta_a, "eta_A > 0");
  require(batch > 0, "batch", batch, "B > 0");
  const double uniform = 1 / context();
  const Index n = model.tokens();
  sums_ = {VectorXd::Ones(n), VectorXd::Constant(n, uniform), VectorXd::Constant(n, uniform)};
}

RandomStream BigramSurrogate::column_stream(Index k) const {
  StreamAddress address = address_;
  // Stream 0 of a step is V's, stream k + 1 column k's.
  address.step =
      static_cast<std::uint64_t>(steps_) * static_cast<std::uint64_t>(model_->tokens() + 1) +
      static_cast<std::uint64_t>(k + 1);
  return RandomStream(address);
}

RandomStream BigramSurrogate::extra_stream(Index k) const {
  constexpr std::uint64_t kBehindAllSteps = std::uint64_t{1} << 31U;
  StreamAddress address = address_;
  address.step = kBehindAllSteps + static_cast<std::uint64_t>(k);
  return RandomStream(address);
}

double BigramSurrogate::drift(Index k, const ColumnStep& step) const {
  return rates_.eta_a * (step.k_v * sums_.sum[k] - step.k_vp) / context();
}

void BigramSurrogate::refresh() {
  const VectorXd& mu = model_->stationary();
  const MatrixXd vs = v_ * model_->covariance();
  const MatrixXd c = vs * model_->transition().transpose();
  s_v_ = vs * v_.transpose();
  cross_ = c + c.transpose();
  trace_s_ = s_v_.cwiseProduct(model_->covariance()).sum();
  trace_ss_ = s_v_.squaredNorm();
  trace_sc_ = s_v_.cwiseProduct(cross_).sum();
  const VectorXd v = v_ * mu;
  value_value_ = v.dot(s_v_ * v);
  value_mean_ = v.dot(s_v_ * mu);
  mean_mean_ = mu.dot(s_v_ * mu);
  // Σ_k μ_k n_k R_k, with m_k = s_k v - μ.
  const VectorXd weight = mu.cwiseProduct(sums_.norm2);
  MatrixXd r_v = weight.dot(sums_.sum.cwiseAbs2()) * v * v.transpose() -
                 weight.dot(sums_.sum) * (v * mu.transpose() + mu * v.transpose()) +
                 weight.sum() * (mu * mu.transpose()) + weight.sum() * model_->covariance() +
                 weight.dot(sums_.norm2) * s_v_ - weight.dot(sums_.overlap) * cross_;
  constexpr double kJitter = 1e-12;  // R_v has the null vector 1 while the column sums are 1
  r_v.diagonal().array() += kJitter * r_v.trace();
  factor_ = Eigen::LLT<MatrixXd>(r_v).matrixL();
}

void BigramSurrogate::step() {
  const VectorXd& mu = model_->stationary();
  const Index n = mu.size();
  refresh();
  const BigramState now = bigram_state(*model_, v_, sums_);
  const double nbar = mu.dot(sums_.norm2);
  const double obar = mu.dot(sums_.overlap);
  const double b = batch_;
  std::vector<ColumnStep> columns(static_cast<std::size_t>(n));
  for (Index k = 0; k < n; ++k) {
    const double s = sums_.sum[k];
    const double sigma2 = s * s * value_value_ - 2 * s * value_mean_ + mean_mean_ + trace_s_ +
                          sums_.norm2[k] * trace_ss_ - sums_.overlap[k] * trace_sc_;
    columns[static_cast<std::size_t>(k)] = {
        .keep = 1 - rates_.eta_a * now.k_v,
        .k_v = now.k_v,
        .k_vp = now.k_vp,
        .noise = rates_.eta_a * std::sqrt(std::max(sigma2, 0.0) / (mu[k] * b)),
        .shrink = rates_.eta_a * lambda_};
  }
  RandomStream stream = column_stream(-1);
  const MatrixXd z = normal_matrix(n, n, stream);
  // L Z Mᵀ, Mᵀ = D^{-1/2} (I - μ 1ᵀ).
  MatrixXd noise = (factor_ * z) * mu.cwiseSqrt().cwiseInverse().asDiagonal();
  noise.colwise() -= (noise * mu).eval();
  noise.rowwise() -= noise.colwise().mean().eval();
  update_columns(columns);
  const VectorXd mean = v_ * mu;  // the hat gradients leave it
  v_ -= rates_.eta_v * (nbar * (v_.colwise() - mean) -
                        obar * (model_->transition().colwise() - mu) + noise / std::sqrt(b))
                           .eval();
  ++steps_;
}

void BigramSurrogate::update_columns(const std::vector<ColumnStep>& steps) {
  for (Index k = 0; k < model_->tokens(); ++k) {
    RandomStream stream = column_stream(k);
    update_column(k, steps[static_cast<std::size_t>(k)], stream);
  }
}

// Dense.

DenseSurrogate::DenseSurrogate(const BigramModel& model,
                               const BigramRates& rates,
                               double batch,
                               const MatrixXd& value,
                               const StreamAddress& address)
    : BigramSurrogate(model, rates, batch, value, address),
      a_(Eigen::MatrixXf::Constant(
          model.context(), model.tokens(), static_cast<float>(1 / context()))) {}

void DenseSurrogate::update_columns(const std::vector<ColumnStep>& steps) {
  in_parallel(steps.size(), [&](std::size_t number) {
    const auto k = static_cast<Index>(number);
    RandomStream stream = column_stream(k);
    update_column(k, steps[number], stream);
  });
}

void DenseSurrogate::update_column(Index k, const ColumnStep& step, RandomStream& stream) {
  Eigen::VectorXf z(a_.rows());
  fill_normal(z, stream);
  const auto noise = static_cast<float>(step.noise);
  const auto shift =
      static_cast<float>(drift(k, step) + step.noise * static_cast<double>(z.mean()));
  auto a = a_.col(k);
  const SparseColumn& q = support_of(*model_, k);
  const double pull = rates_.eta_a * step.k_vp;
  a = (static_cast<float>(step.keep) * a.array() + shift - noise * z.array()).matrix();
  for (std::size_t j = 0; j < q.positions.size(); ++j) {
    a[q.positions[j]] += static_cast<float>(pull * q.weights[j]);
  }
  if (step.shrink > 0) {
    const auto h = static_cast<float>(step.shrink);
    a = (a.array() - a.array().max(-h).min(h)).matrix();
  }
  sums_.sum[k] = a.cast<double>().sum();
  sums_.norm2[k] = a.cast<double>().squaredNorm();
  sums_.overlap[k] = 0;
  for (std::size_t j = 0; j < q.positions.size(); ++j) {
    sums_.overlap[k] += q.weights[j] * static_cast<double>(a[q.positions[j]]);
  }
}

void DenseSurrogate::threshold(double tau) {
  a_ = (a_.array().abs() < static_cast<float>(tau)).select(0.0F, a_);
  sums_ = attention_sums(*model_, a_);
}

std::vector<SparseColumn> DenseSurrogate::large_entries(double fraction) const {
  std::vector<SparseColumn> columns;
  for (Index k = 0; k < a_.cols(); ++k) {
    SparseColumn& column = columns.emplace_back();
    const auto least = static_cast<float>(fraction) * a_.col(k).maxCoeff();
    if (!(least > 0)) continue;
    for (Index t = 0; t < a_.rows(); ++t) {
      if (a_(t, k) < least) continue;
      column.positions.push_back(t);
      column.weights.push_back(static_cast<double>(a_(t, k)));
    }
  }
  return columns;
}

double DenseSurrogate::zero_fraction() const {
  return static_cast<double>((a_.array() == 0.0F).count()) / static_cast<double>(a_.size());
}

// Aggregated.

AggregatedSurrogate::AggregatedSurrogate(const BigramModel& model,
                                         const BigramRates& rates,
                                         double batch,
                                         const MatrixXd& value,
                                         const StreamAddress& address)
    : BigramSurrogate(model, rates, batch, value, address),
      radius_(static_cast<std::size_t>(model.tokens()), 0.0) {
  for (const SparseColumn& q : model.attention()) {
    support_.emplace_back(q.positions.size(), 1 / context());
  }
}

void AggregatedSurrogate::update_column(Index k, const ColumnStep& step, RandomStream& stream) {
  if (step.shrink > 0) {
    throw invalid_parameter(
        "l1", lambda_, R"(l1 = 0 before entries are cut off, and "sparse" after it)");
  }
  const SparseColumn& q = support_of(*model_, k);
  std::vector<double>& support = support_[static_cast<std::size_t>(k)];
  const auto size = static_cast<double>(support.size());
  const double rest = context() - size;
  std::vector<double> x(support.size());
  double total = 0;
  for (double& z : x) total += z = stream.normal();
  total += std::sqrt(rest) * stream.normal();  // sum of the noise off the support
  const double mean = total / context();
  const double shift = drift(k, step);
  double support_sum = 0;
  double support_norm2 = 0;
  double overlap = 0;
  for (std::size_t j = 0; j < support.size(); ++j) {
    support[j] = step.keep * support[j] + rates_.eta_a * step.k_vp * q.weights[j] + shift -
                 step.noise * (x[j] - mean);
    support_sum += support[j];
    support_norm2 += support[j] * support[j];
    overlap += q.weights[j] * support[j];
  }
  // The zero-sum part off the support lives in T - Q - 1 dimensions: one along it, the others free.
  double& radius = radius_[static_cast<std::size_t>(k)];
  const double along = step.keep * radius + step.noise * stream.normal();
  const double across = rest > 2 ? chi_squared(rest - 2, stream) : 0;
  radius = std::sqrt(along * along + step.noise * step.noise * across);
  const double off_mean = (sums_.sum[k] - support_sum) / rest;  // the column's sum stays
  sums_.norm2[k] = support_norm2 + rest * off_mean * off_mean + radius * radius;
  sums_.overlap[k] = overlap;
}

std::pair<double, double> AggregatedSurrogate::off_support(Index k) const {
  double rest = sums_.sum[k];
  for (const double a : support(k)) rest -= a;
  const double count = context() - static_cast<double>(support(k).size());
  const double deviation =
      radius_[static_cast<std::size_t>(k)] / std::sqrt(std::max(count - 1, 1.0));
  return {count > 0 ? rest / count : 0, deviation};
}

void AggregatedSurrogate::threshold(double tau) {
  if (tau > 0) {
    throw invalid_parameter("surrogate", "aggregated", "dense or sparse where entries are cut off");
  }
}

std::vector<SparseColumn> AggregatedSurrogate::large_entries(double fraction) const {
  std::vector<SparseColumn> columns;
  for (Index k = 0; k < model_->tokens(); ++k) {
    columns.push_back(large_part(
        {support_of(*model_, k).positions, support_[static_cast<std::size_t>(k)]}, fraction));
  }
  return columns;
}

// Sparse.

SparseSurrogate::SparseSurrogate(const BigramModel& model,
                                 const BigramRates& rates,
                                 double batch,
                                 const MatrixXd& value,
                                 const StreamAddress& address)
    : AggregatedSurrogate(model, rates, batch, value, address),
      columns_(static_cast<std::size_t>(model.tokens())) {}

void SparseSurrogate::threshold(double tau) {
  if (stored_)
    throw invalid_parameter("surrogate", "sparse", "dense where entries are cut off twice");
  for (Index k = 0; k < model_->tokens(); ++k) {
    const SparseColumn& q = support_of(*model_, k);
    const auto [mean, deviation] = off_support(k);
    // Entries that are all equal survive together.
    const bool all = deviation == 0 && mean != 0 && std::abs(mean) >= tau;
    RandomStream stream = extra_stream(k);
    Births births(mean, deviation, tau, model_->context(), stream);
    SparseColumn& column = columns_[static_cast<std::size_t>(k)];
    for (std::size_t j = 0;;) {
      const Index last = column.positions.empty() ? -1 : column.positions.back();
      const Index supported = j < q.positions.size() ? q.positions[j] : model_->context();
      const Index position = std::min(supported, all ? last + 1 : births.position());
      if (position == model_->context()) break;
      const bool born = position == births.position();
      const double a = position == supported ? support(k)[j++] : all ? mean : births.value();
      if (born) births.advance();
      if (std::abs(a) < tau) continue;
      column.positions.push_back(position);
      column.weights.push_back(a);
    }
  }
  stored_ = true;
  for (Index k = 0; k < model_->tokens(); ++k) update_sums(k);
}

void SparseSurrogate::update_sums(Index k) {
  const SparseColumn& a = columns_[static_cast<std::size_t>(k)];
  const SparseColumn& q = support_of(*model_, k);
  sums_.sum[k] = 0;
  sums_.overlap[k] = 0;
  for (const double x : a.weights) sums_.sum[k] += x;
  sums_.norm2[k] = a.norm2();
  for (std::size_t j = 0; j < q.positions.size(); ++j) {
    const auto at = std::lower_bound(a.positions.begin(), a.positions.end(), q.positions[j]);
    if (at == a.positions.end() || *at != q.positions[j]) continue;
    sums_.overlap[k] +=
        q.weights[j] * a.weights[static_cast<std::size_t>(at - a.positions.begin())];
  }
}

void SparseSurrogate::update_column(Index k, const ColumnStep& step, RandomStream& stream) {
  if (!stored_) {
    AggregatedSurrogate::update_column(k, step, stream);
    return;
  }
  SparseColumn& column = columns_[static_cast<std::size_t>(k)];
  const SparseColumn& q = support_of(*model_, k);
  const double shift = drift(k, step);
  SparseColumn next;
  const auto keep_if_alive = [&](Index position, double before_shrink) {
    const double a = soft_threshold(before_shrink, step.shrink);
    if (a == 0) return;
    next.positions.push_back(position);
    next.weights.push_back(a);
  };
  Births births(shift, step.noise, step.shrink, model_->context(), stream);
  std::size_t i = 0;
  std::size_t j = 0;
  // Merge of three rising lists: stored entries, support positions, births.
  for (;;) {
    const Index stored = i < column.positions.size() ? column.positions[i] : model_->context();
    const Index supported = j < q.positions.size() ? q.positions[j] : model_->context();
    const Index position = std::min({stored, supported, births.position()});
    if (position == model_->context()) break;
    if (position == stored || position == supported) {
      const double a = position == stored ? column.weights[i++] : 0;
      const double pull = position == supported ? rates_.eta_a * step.k_vp * q.weights[j++] : 0;
      keep_if_alive(position, step.keep * a + pull + shift + step.noise * stream.normal());
    } else {
      keep_if_alive(position, births.value());
    }
    if (births.position() == position) births.advance();
  }
  column = std::move(next);
  update_sums(k);
}

std::vector<SparseColumn> SparseSurrogate::large_entries(double fraction) const {
  if (!stored_) return AggregatedSurrogate::large_entries(fraction);
  std::vector<SparseColumn> columns;
  for (const SparseColumn& column : columns_) columns.push_back(large_part(column, fraction));
  return columns;
}

double SparseSurrogate::zero_fraction() const {
  if (!stored_) return 0;
  std::size_t nonzeros = 0;
  for (const SparseColumn& column : columns_) nonzeros += column.positions.size();
  return 1 - static_cast<double>(nonzeros) / (context() * static_cast<double>(columns_.size()));
}

}  // namespace attica
