#include "attica/sim/gauss/flow.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numeric>
#include <vector>

#include "attica/core/error.hpp"

namespace attica {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check_data(const MatrixXd& data) {
  if (data.rows() < 1 || data.cols() < 2 || !data.allFinite()) {
    throw invalid_parameter("data",
                            fmt::format("{} x {} matrix", data.rows(), data.cols()),
                            "finite samples in rows, at least 1 x 2");
  }
}

/// The flow of every site of one data set. The smaller Gram matrix is formed once; each site takes
/// its part of it.
class SiteFlows {
 public:
  explicit SiteFlows(const MatrixXd& data)
      : data_(data), samples_(static_cast<double>(data.rows())), wide_(data.rows() < data.cols()) {
    const MatrixXd side = wide_ ? data : MatrixXd(data.transpose());
    gram_ = side * side.transpose() / samples_;
  }

  /// Trains one site: residuals e_i - a_i at the times, @shape{L x times}, and train errors.
  void solve(Index site, std::span<const double> times) {
    std::vector<Index> inputs(static_cast<std::size_t>(data_.cols()));
    std::iota(inputs.begin(), inputs.end(), Index{0});
    inputs.erase(inputs.begin() + site);
    const VectorXd y = data_.col(site);
    // Tall data: S of the inputs and r. Wide data: K = X X^T/M, with which a = X^T phi(K) y/M.
    const MatrixXd square =
        wide_ ? MatrixXd(gram_ - y * y.transpose() / samples_) : MatrixXd(gram_(inputs, inputs));
    const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(square);
    const ArrayXd s = spectrum.eigenvalues().array().max(0);
    const VectorXd label = wide_ ? y : VectorXd(gram_(inputs, site));
    const ArrayXd components = (spectrum.eigenvectors().transpose() * label).array();
    MatrixXd filtered(s.size(), static_cast<Index>(times.size()));
    train_.resize(filtered.cols());
    for (Index k = 0; k < filtered.cols(); ++k) {
      const double t = times[static_cast<std::size_t>(k)];
      filtered.col(k) =
          components * s.unaryExpr([t](double x) { return x > 0 ? -std::expm1(-x * t) / x : t; });
      if (wide_) train_[k] = (components * (-t * s).exp()).square().sum() / samples_;
    }
    const MatrixXd reached = spectrum.eigenvectors() * filtered;
    residuals_.resize(data_.cols(), filtered.cols());
    if (wide_) {
      residuals_.noalias() = data_.transpose() * reached / -samples_;
    } else {
      residuals_(inputs, Eigen::all) = -reached;
    }
    residuals_.row(site).setOnes();
    if (!wide_) train_ = (data_ * residuals_).colwise().squaredNorm() / samples_;
  }

  const MatrixXd& residuals() const { return residuals_; }
  const Eigen::RowVectorXd& train() const { return train_; }

 private:
  const MatrixXd& data_;
  double samples_;
  bool wide_;  // fewer samples than sites
  MatrixXd gram_;
  MatrixXd residuals_;
  Eigen::RowVectorXd train_;
};

}  // namespace

TrainingErrors gradient_flow(const GaussianMlm& problem,
                             const MatrixXd& data,
                             std::span<const double> times) {
  check_data(data);
  require(data.cols() == problem.sites(),
          "data",
          static_cast<double>(data.cols()),
          "one column for each site");
  for (const double time : times) {
    require(std::isfinite(time) && time >= 0, "times", time, "0 <= time < infinity");
  }
  const Index sites = problem.sites();
  TrainingErrors errors{.test = MatrixXd(sites, static_cast<Index>(times.size())), .train = {}};
  errors.train.resizeLike(errors.test);
  SiteFlows flows(data);
  for (Index i = 0; i < sites; ++i) {
    flows.solve(i, times);
    errors.test.row(i) =
        (problem.covariance() * flows.residuals()).cwiseProduct(flows.residuals()).colwise().sum();
    errors.train.row(i) = flows.train();
  }
  return errors;
}

MatrixXd gradient_flow_attention(const MatrixXd& data, double time) {
  check_data(data);
  require(std::isfinite(time) && time >= 0, "time", time, "0 <= time < infinity");
  MatrixXd attention(data.cols(), data.cols());
  SiteFlows flows(data);
  for (Index i = 0; i < data.cols(); ++i) {
    flows.solve(i, std::span(&time, 1));
    attention.row(i) = -flows.residuals().col(0).transpose();
  }
  attention.diagonal().setZero();
  return attention;
}

TrainingErrors gradient_descent(const GaussianMlm& problem,
                                const MatrixXd& data,
                                double eta,
                                std::span<const std::int64_t> steps) {
  check_data(data);
  require(data.cols() == problem.sites(),
          "data",
          static_cast<double>(data.cols()),
          "one column for each site");
  require(std::isfinite(eta) && eta > 0, "eta", eta, "0 < eta < infinity");
  const Index sites = problem.sites();
  const MatrixXd gram = data.transpose() * data / static_cast<double>(data.rows());
  TrainingErrors errors{.test = MatrixXd(sites, static_cast<Index>(steps.size())), .train = {}};
  errors.train.resizeLike(errors.test);
  MatrixXd residual = MatrixXd::Identity(sites, sites);  // 1 - A
  MatrixXd gradient(sites, sites);
  std::int64_t done = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    require(
        steps[k] >= done, "steps", static_cast<double>(steps[k]), "rising numbers of steps >= 0");
    for (; done < steps[k]; ++done) {
      gradient.noalias() = residual * gram;
      gradient.diagonal().setZero();
      residual -= eta * gradient;
    }
    if (!residual.allFinite()) {
      throw Error(ErrorKind::numerical,
                  fmt::format("gradient descent overflowed before step {}", done));
    }
    const auto column = static_cast<Index>(k);
    errors.test.col(column) =
        (residual * problem.covariance()).cwiseProduct(residual).rowwise().sum();
    errors.train.col(column) = (residual * gram).cwiseProduct(residual).rowwise().sum();
  }
  return errors;
}

}  // namespace attica
