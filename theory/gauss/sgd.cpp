#include "attica/theory/gauss/sgd.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <atomic>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"
#include "attica/theory/gauss/lanes.hpp"

namespace attica {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(const SgdParameters& p) {
  require(std::isfinite(p.eta) && p.eta > 0, "eta", p.eta, "0 < eta < infinity");
  require(std::isfinite(p.batch) && p.batch >= 1, "batch", p.batch, "1 <= batch < infinity");
  require(p.probability > 0 && p.probability <= 1,
          "mask_probability",
          p.probability,
          "0 < mask_probability <= 1");
  require(std::isfinite(p.lambda) && p.lambda >= 0, "lambda", p.lambda, "0 <= lambda < infinity");
}

void check_without_decay(const SgdParameters& p) {
  check(p);
  require(p.lambda == 0, "lambda", p.lambda, "0 here");
}

// Calls `step()` between the recorded steps and `error()` at them; +inf once the error is not
// finite.
template <class Step, class Error_>
std::vector<double> record(std::span<const std::int64_t> steps, Step&& step, Error_&& error) {
  std::vector<double> result;
  result.reserve(steps.size());
  std::int64_t done = 0;
  for (const std::int64_t recorded : steps) {
    require(
        recorded >= done, "steps", static_cast<double>(recorded), "rising numbers of steps >= 0");
    for (; done < recorded; ++done) step();
    result.push_back(error());
    if (!std::isfinite(result.back())) break;
  }
  if (!result.empty() && !std::isfinite(result.back())) result.back() = kInfinity;
  result.resize(steps.size(), kInfinity);
  return result;
}

// Mean of `count` curves of that length.
template <class Curve>
std::vector<double> mean_over(std::size_t count, std::size_t length, const Curve& curve) {
  std::vector<double> mean(length, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<double> one = curve(i);
    for (std::size_t k = 0; k < length; ++k) mean[k] += one[k] / static_cast<double>(count);
  }
  return mean;
}

// With d_k = p s_k + λ, the factor of m_k falls short of 1 by η (2 d_k - η b_k):
ArrayXd bounds(const SiteRegression& site, const SgdParameters& q) {  // b_k
  const double p = q.probability;
  return (p * site.s + q.lambda).square() + (2 * p - p * p) / q.batch * site.s.square();
}

// The smallest 2 d_k / b_k: from there on some m_k grows by itself.
double first_bound(const SiteRegression& site, const SgdParameters& q) {
  return (2 * (q.probability * site.s + q.lambda) / bounds(site, q)).minCoeff();
}

// χ = (η² p/B) Σ s_k² / (η (2 d_k - η b_k)), the feedback of the sampling noise on itself.
double chi(const SiteRegression& site, const SgdParameters& q) {
  const ArrayXd rate = 2 * (q.probability * site.s + q.lambda) - q.eta * bounds(site, q);
  return q.eta * q.probability / q.batch * (site.s.square() / rate).sum();
}

/// A few sites' inputs in the eigenbasis of their Ŝ, where its products are factors, and the map
///   Q ← Q - η(ŜQ + QŜ) + η² [(1-1/B) ŜQŜ + (1/BM) Σ_μ (e_μ + x_μᵀQx_μ) x_μ x_μᵀ].
/// Rows and columns are filled up with zeros to multiples of four.
class SecondMoments {
 public:
  /// @param inputs one matrix of M x N for every site, at most kLanes; the last is taken again for
  /// those that are missing
  SecondMoments(const std::vector<MatrixXd>& inputs, const SgdParameters& parameters)
      : samples_(inputs.front().rows()),
        size_(inputs.front().cols()),
        rows_(filled_up(samples_)),
        columns_(filled_up(size_)),
        x_(rows_ * columns_),
        s_(columns_),
        decay_(columns_ * columns_),
        squares_(rows_),
        moved_(rows_) {
    const double eta = parameters.eta;
    const auto m = static_cast<double>(samples_);
    spread_ = eta * eta / (parameters.batch * m);
    for (Index k = 0; k < kLanes; ++k) {
      const MatrixXd& x = inputs[std::min(static_cast<std::size_t>(k), inputs.size() - 1)];
      const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(MatrixXd(x.transpose() * x / m));
      bases_.push_back(eigen.eigenvectors());
      const MatrixXd rotated = x * bases_.back();
      for (Index row = 0; row < samples_; ++row) {
        for (Index i = 0; i < size_; ++i) x_[at(row, i)][k] = rotated(row, i);
      }
      for (Index i = 0; i < size_; ++i) s_[number(i)][k] = eigen.eigenvalues()[i];
    }
    const double both = eta * eta * (1 - 1 / parameters.batch);
    for (Index i = 0; i < columns_; ++i) {
      for (Index j = 0; j < columns_; ++j) {
        const Lanes a = s_[number(i)];
        const Lanes b = s_[number(j)];
        decay_[at(i, j)] = 1.0 - eta * (a + b) + both * (a * b);
      }
    }
  }

  Index size() const { return size_; }
  Index samples() const { return samples_; }
  const MatrixXd& basis(Index site) const { return bases_[static_cast<std::size_t>(site)]; }
  const Lanes& eigenvalue(Index i) const { return s_[number(i)]; }
  const Lanes& input(Index row, Index i) const { return x_[at(row, i)]; }

  /// Where entry (i, j) of Q stands; only j <= i is to be read.
  std::size_t at(Index i, Index j) const { return number(i * columns_ + j); }
  std::vector<Lanes> zero() const { return std::vector<Lanes>(number(columns_ * columns_)); }
  /// e_μ, to be filled in.
  std::vector<Lanes> no_residuals() const { return std::vector<Lanes>(number(rows_)); }

  void step(const std::vector<Lanes>& e, std::vector<Lanes>& q) {
    for (Index row = 0; row < rows_; row += kBlock) {
      const Lanes* x[kBlock];
      Lanes sum[kBlock];
      for (Index b = 0; b < kBlock; ++b) {
        x[b] = &x_[at(row + b, 0)];
        sum[b] = e[number(row + b)];
      }
      for (Index i = 0; i < size_; ++i) {
        const Lanes* q_row = &q[at(i, 0)];
        Lanes below[kBlock] = {};
        for (Index j = 0; j < i; ++j) {
          for (Index b = 0; b < kBlock; ++b) below[b] += q_row[j] * x[b][j];
        }
        for (Index b = 0; b < kBlock; ++b) {
          sum[b] += x[b][i] * (2.0 * below[b] + q_row[i] * x[b][i]);
        }
      }
      for (Index b = 0; b < kBlock; ++b) squares_[number(row + b)] = spread_ * sum[b];
    }
    for (Index i = 0; i < size_; ++i) {
      for (Index row = 0; row < samples_; ++row) {
        moved_[number(row)] = squares_[number(row)] * x_[at(row, i)];
      }
      for (Index first = 0; first <= i; first += kBlock) {
        Lanes sum[kBlock] = {};
        for (Index row = 0; row < samples_; ++row) {
          const Lanes* x = &x_[at(row, first)];
          for (Index b = 0; b < kBlock; ++b) sum[b] += moved_[number(row)] * x[b];
        }
        for (Index b = 0; b < kBlock; ++b) {
          Lanes& entry = q[at(i, first + b)];
          entry = decay_[at(i, first + b)] * entry + sum[b];
        }
      }
    }
  }

  /// Σ_ij A_ij Q_ij of symmetric matrices.
  Lanes inner(const std::vector<Lanes>& a, const std::vector<Lanes>& q) const {
    Lanes sum{};
    for (Index i = 0; i < size_; ++i) {
      Lanes below{};
      for (Index j = 0; j < i; ++j) below += a[at(i, j)] * q[at(i, j)];
      sum += 2.0 * below + a[at(i, i)] * q[at(i, i)];
    }
    return sum;
  }

 private:
  static constexpr Index kBlock = 4;
  static std::size_t number(Index i) { return static_cast<std::size_t>(i); }
  static Index filled_up(Index count) { return (count + kBlock - 1) / kBlock * kBlock; }

  Index samples_, size_, rows_, columns_;
  std::vector<Lanes> x_;  // rows_ x columns_
  std::vector<Lanes> s_;
  std::vector<Lanes> decay_;
  std::vector<Lanes> squares_, moved_;  // scratch
  std::vector<MatrixXd> bases_;
  double spread_ = 0;  // η²/BM
};

/// data_sgd_errors of sites first to first + count - 1.
std::vector<std::vector<double>> data_sgd_errors_of(const GaussianMlm& problem,
                                                    Index first,
                                                    Index count,
                                                    const MatrixXd& data,
                                                    const SgdParameters& parameters,
                                                    std::span<const std::int64_t> steps) {
  check_without_decay(parameters);
  require(parameters.probability == 1, "mask_probability", parameters.probability, "1 here");
  if (data.cols() != problem.sites() || data.rows() < 1 || !data.allFinite()) {
    throw invalid_parameter("data",
                            fmt::format("{} x {} matrix", data.rows(), data.cols()),
                            fmt::format("at least one finite row of length {}", problem.sites()));
  }
  std::vector<SiteRegression> sites;
  std::vector<MatrixXd> inputs;
  for (Index i = first; i < first + count; ++i) {
    sites.push_back(site_regression(problem, i));
    inputs.emplace_back(data(Eigen::all, sites.back().inputs));
  }
  SecondMoments moments(inputs, parameters);
  const Index n = moments.size();
  const Index samples = moments.samples();
  std::vector<Lanes> q = moments.zero();
  std::vector<Lanes> covariance = moments.zero();
  std::vector<Lanes> mean(static_cast<std::size_t>(n));  // μ
  std::vector<Lanes> slope(mean);                        // 2 C δ
  std::vector<Lanes> residual = moments.no_residuals();
  Lanes constant{};  // σ² + δᵀCδ
  for (Index k = 0; k < kLanes; ++k) {
    const auto number = static_cast<std::size_t>(std::min(k, count - 1));
    const SiteRegression& site = sites[number];
    const MatrixXd& basis = moments.basis(k);
    const VectorXd y = data.col(first + static_cast<Index>(number));
    const VectorXd fit = inputs[number].completeOrthogonalDecomposition().solve(y);
    const VectorXd rest = y - inputs[number] * fit;
    const VectorXd offset = basis.transpose() * (fit - site.basis * site.teacher);  // δ
    const VectorXd rotated = basis.transpose() * fit;
    const MatrixXd own = basis.transpose() * problem.covariance()(site.inputs, site.inputs) * basis;
    const VectorXd pull = own * offset;
    constant[k] = site.bayes_error + offset.dot(pull);
    for (Index row = 0; row < samples; ++row)
      residual[static_cast<std::size_t>(row)][k] = rest[row];
    for (Index i = 0; i < n; ++i) {
      mean[static_cast<std::size_t>(i)][k] = -rotated[i];
      slope[static_cast<std::size_t>(i)][k] = 2 * pull[i];
      for (Index j = 0; j < n; ++j) {
        covariance[moments.at(i, j)][k] = own(i, j);
        q[moments.at(i, j)][k] = rotated[i] * rotated[j];
      }
    }
  }

  std::vector<Lanes> e = moments.no_residuals();
  const auto step = [&] {
    for (Index row = 0; row < samples; ++row) {
      Lanes predicted{};
      for (Index i = 0; i < n; ++i) {
        predicted += moments.input(row, i) * mean[static_cast<std::size_t>(i)];
      }
      const Lanes& r = residual[static_cast<std::size_t>(row)];
      e[static_cast<std::size_t>(row)] = r * (r - 2.0 * predicted);
    }
    moments.step(e, q);
    for (Index i = 0; i < n; ++i) {
      mean[static_cast<std::size_t>(i)] *= 1.0 - parameters.eta * moments.eigenvalue(i);
    }
  };
  std::vector<std::vector<double>> result(static_cast<std::size_t>(count));
  std::int64_t done = 0;
  for (const std::int64_t recorded : steps) {
    require(
        recorded >= done, "steps", static_cast<double>(recorded), "rising numbers of steps >= 0");
    for (; done < recorded; ++done) step();
    Lanes error = constant + moments.inner(covariance, q);
    for (Index i = 0; i < n; ++i) {
      error += slope[static_cast<std::size_t>(i)] * mean[static_cast<std::size_t>(i)];
    }
    for (Index k = 0; k < count; ++k) {
      std::vector<double>& curve = result[static_cast<std::size_t>(k)];
      const bool finite = std::isfinite(error[k]) && (curve.empty() || curve.back() < kInfinity);
      curve.push_back(finite ? error[k] : kInfinity);
    }
  }
  return result;
}

/// data_sgd_growth of sites first to first + count - 1.
std::vector<double> data_sgd_growth_of(const MatrixXd& data,
                                       Index first,
                                       Index count,
                                       const SgdParameters& parameters) {
  check_without_decay(parameters);
  std::vector<MatrixXd> inputs;
  for (Index i = first; i < first + count; ++i) {
    MatrixXd x(data.rows(), data.cols() - 1);
    x << data.leftCols(i), data.rightCols(data.cols() - 1 - i);
    inputs.push_back(std::move(x));
  }
  SecondMoments moments(inputs, parameters);
  const std::vector<Lanes> none = moments.no_residuals();
  // The map is symmetric, so that Rayleigh quotients rise to the eigenvalue from below.
  constexpr int kMostSteps = 300;
  constexpr double kSettled = 1e-6;
  std::vector<Lanes> q = moments.zero();
  for (Index i = 0; i < moments.size(); ++i) q[moments.at(i, i)] = moments.eigenvalue(i);
  std::vector<double> growth(static_cast<std::size_t>(count));
  std::vector<bool> settled(growth.size(), false);
  for (int n = 0; n < kMostSteps; ++n) {
    Lanes size = moments.inner(q, q);
    for (Index k = 0; k < kLanes; ++k) size[k] = 1 / std::sqrt(size[k]);
    for (Lanes& entry : q) entry *= size;
    const std::vector<Lanes> before = q;
    moments.step(none, q);
    const Lanes quotient = moments.inner(before, q);
    for (std::size_t k = 0; k < growth.size(); ++k) {
      if (settled[k]) continue;
      const double previous = std::exchange(growth[k], quotient[static_cast<Index>(k)]);
      settled[k] = growth[k] - previous < kSettled * growth[k] && n > 0;
    }
    if (std::find(settled.begin(), settled.end(), false) == settled.end()) break;
  }
  return growth;
}

}  // namespace

std::vector<double> online_sgd_errors(const SiteRegression& site,
                                      const SgdParameters& parameters,
                                      std::span<const std::int64_t> steps) {
  check(parameters);
  const auto& [eta, batch, p, lambda] = parameters;
  const ArrayXd& s = site.s;
  const ArrayXd v = site.teacher.array();
  const ArrayXd c = 1 - eta * (p * s + lambda);
  const ArrayXd contraction = c.square() + eta * eta * (2 * p - p * p) / batch * s.square();
  const ArrayXd noise = eta * eta * p / batch * s;
  const ArrayXd pull = eta * lambda * v;  // ηλv
  ArrayXd m = v.square();
  ArrayXd mu = -v;
  double risk = (s * m).sum();
  const bool decays = lambda > 0;
  const auto step = [&] {
    m = contraction * m + (risk + site.bayes_error) * noise;
    if (decays) {
      m += pull * (pull - 2 * c * mu);
      mu = c * mu - pull;
    }
    risk = (s * m).sum();
  };
  return record(steps, step, [&] { return risk + site.bayes_error; });
}

SgdSteadyState online_sgd_steady(const SiteRegression& site, const SgdParameters& parameters) {
  check_without_decay(parameters);
  if (parameters.eta >= first_bound(site, parameters)) {
    return {.chi = kInfinity, .error = kInfinity, .stable = false};
  }
  const double value = chi(site, parameters);
  const bool stable = value < 1;
  return {
      .chi = value, .error = stable ? site.bayes_error / (1 - value) : kInfinity, .stable = stable};
}

double online_sgd_eta_max(const SiteRegression& site, SgdParameters parameters) {
  parameters.eta = 1;  // of no meaning here
  check(parameters);
  // χ rises from 0 to infinity below the first bound; 1/χ - 1 changes sign once and stays bounded
  // there.
  const double bound = first_bound(site, parameters);
  const auto excess = [&](double share) {
    parameters.eta = share * bound;
    return 1 / chi(site, parameters) - 1;
  };
  constexpr double kAlmost = 1 - 1e-15;
  constexpr double kLittle = 1e-12;
  std::uintmax_t iterations = 200;
  if (excess(kAlmost) >= 0) return bound;
  const auto [low, high] = boost::math::tools::toms748_solve(
      excess, kLittle, kAlmost, [](double a, double b) { return b - a <= 1e-14 * b; }, iterations);
  return 0.5 * (low + high) * bound;
}

OnlineSgd::OnlineSgd(const GaussianMlm& problem) {
  for (Eigen::Index i = 0; i < problem.sites(); ++i) sites_.push_back(site_regression(problem, i));
}

std::vector<double> OnlineSgd::errors(const SgdParameters& parameters,
                                      std::span<const std::int64_t> steps) const {
  return mean_over(sites_.size(), steps.size(), [&](std::size_t i) {
    return online_sgd_errors(sites_[i], parameters, steps);
  });
}

SgdSteadyState OnlineSgd::steady(const SgdParameters& parameters) const {
  SgdSteadyState all{.stable = true};
  for (const SiteRegression& site : sites_) {
    const SgdSteadyState one = online_sgd_steady(site, parameters);
    all.error += one.error / static_cast<double>(sites_.size());
    all.chi = std::max(all.chi, one.chi);
    all.stable = all.stable && one.stable;
  }
  return all;
}

double OnlineSgd::eta_max(const SgdParameters& parameters) const {
  double smallest = kInfinity;
  for (const SiteRegression& site : sites_) {
    smallest = std::min(smallest, online_sgd_eta_max(site, parameters));
  }
  return smallest;
}

double OnlineSgd::bayes_error() const {
  double mean = 0;
  for (const SiteRegression& site : sites_) {
    mean += site.bayes_error / static_cast<double>(sites_.size());
  }
  return mean;
}

double data_sgd_growth(const MatrixXd& data, Index site, const SgdParameters& parameters) {
  return data_sgd_growth_of(data, site, 1, parameters).front();
}

std::vector<double> data_sgd_errors(const GaussianMlm& problem,
                                    Index site,
                                    const MatrixXd& data,
                                    const SgdParameters& parameters,
                                    std::span<const std::int64_t> steps) {
  return data_sgd_errors_of(problem, site, 1, data, parameters, steps).front();
}

std::vector<double> data_sgd_errors(const GaussianMlm& problem,
                                    const MatrixXd& data,
                                    const SgdParameters& parameters,
                                    std::span<const std::int64_t> steps) {
  const Index sites = problem.sites();
  std::vector<std::vector<double>> all(static_cast<std::size_t>(sites));
  in_parallel(registers_of(sites), [&](std::size_t part) {
    const Index first = static_cast<Index>(part) * kLanes;
    std::vector<std::vector<double>> some = data_sgd_errors_of(
        problem, first, std::min(kLanes, sites - first), data, parameters, steps);
    std::move(some.begin(), some.end(), all.begin() + first);
  });
  return mean_over(all.size(), steps.size(), [&](std::size_t i) { return all[i]; });
}

bool data_sgd_stable(const MatrixXd& data, const SgdParameters& parameters) {
  check_without_decay(parameters);
  // The map keeps the order of matrices. If it takes the unit matrix I of the span below I, it
  // shrinks everything: I minus its image is at least η Ŝ (2 - η [(1-1/B) |Ŝ| + max_μ |x_μ|²/B]).
  // The whole data's |Ŝ| and |x_μ| are at least those of the inputs of a site.
  const MatrixXd moments = data.transpose() * data / static_cast<double>(data.rows());
  const double norm = Eigen::SelfAdjointEigenSolver<MatrixXd>(moments).eigenvalues().maxCoeff();
  const double longest = data.rowwise().squaredNorm().maxCoeff();
  const double batch = parameters.batch;
  if (parameters.eta * ((1 - 1 / batch) * norm + longest / batch) < 2) return true;
  std::atomic<bool> stable = true;
  in_parallel(registers_of(data.cols()), [&](std::size_t part) {
    const Index first = static_cast<Index>(part) * kLanes;
    const Index count = std::min(kLanes, data.cols() - first);
    if (!stable) return;
    for (const double growth : data_sgd_growth_of(data, first, count, parameters)) {
      if (!(growth < 1)) stable = false;
    }
  });
  return stable;
}

}  // namespace attica
