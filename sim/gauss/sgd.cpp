#include "attica/sim/gauss/sgd.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kBlockSamples = 64;  // samples worked on at once

VectorXd errors_of(const MatrixXd& attention, const MatrixXd& covariance) {
  const MatrixXd residual = MatrixXd::Identity(attention.rows(), attention.cols()) - attention;
  return (residual * covariance).cwiseProduct(residual).rowwise().sum();
}

}  // namespace

SampleSource gaussian_source(const GaussianMlm& problem, RandomStream& stream) {
  return [factor = problem.factor(),
          lower = problem.rank() == problem.sites(),
          white = MatrixXd(),
          &stream](Eigen::Ref<MatrixXd> samples) mutable {
    white.resize(factor.cols(), samples.cols());
    stream.fill_normal(std::span(white.data(), static_cast<std::size_t>(white.size())));
    if (lower) {
      samples.noalias() = factor.triangularView<Eigen::Lower>() * white;
    } else {
      samples.noalias() = factor * white;
    }
  };
}

SampleSource resampling_source(const MatrixXd& data, RandomStream& stream) {
  return [columns = MatrixXd(data.transpose()), &stream](Eigen::Ref<MatrixXd> samples) {
    for (Index b = 0; b < samples.cols(); ++b) {
      samples.col(b) =
          columns.col(static_cast<Index>(stream.below(static_cast<std::uint64_t>(columns.cols()))));
    }
  };
}

LinearAttentionSgd::LinearAttentionSgd(Index sites,
                                       const SgdSettings& settings,
                                       SampleSource source,
                                       RandomStream& masks)
    : settings_(settings), source_(std::move(source)), masks_(masks) {
  require(
      std::isfinite(settings.eta) && settings.eta > 0, "eta", settings.eta, "0 < eta < infinity");
  require(settings.batch >= 1, "batch", static_cast<double>(settings.batch), "batch >= 1");
  require(std::isfinite(settings.lambda) && settings.lambda >= 0,
          "lambda",
          settings.lambda,
          "0 <= lambda < infinity");
  require(settings.mask_probability > 0 && settings.mask_probability <= 1,
          "mask_probability",
          settings.mask_probability,
          "0 < mask_probability <= 1");
  // With decay A shrinks between the steps, which the recursion does not know.
  block_steps_ = settings.lambda > 0 ? 1 : std::max<Index>(1, kBlockSamples / settings.batch);
  attention_ = MatrixXd::Zero(sites, sites);
  diagonal_.resize(sites);
}

void LinearAttentionSgd::advance(std::int64_t step) {
  while (step_ < step && !diverged_) {
    block(static_cast<Index>(std::min<std::int64_t>(block_steps_, step - step_)));
  }
}

void LinearAttentionSgd::draw_masks(Eigen::Ref<MatrixXd> residuals) {
  if (settings_.mask == SgdMask::one_site) {
    for (Index b = 0; b < residuals.cols(); ++b) {
      const auto site =
          static_cast<Index>(masks_.below(static_cast<std::uint64_t>(residuals.rows())));
      const double kept = residuals(site, b);
      residuals.col(b).setZero();
      residuals(site, b) = kept;
    }
  } else if (settings_.mask == SgdMask::independent) {
    for (double& residual : residuals.reshaped()) {
      if (masks_.uniform() >= settings_.mask_probability) residual = 0;
    }
  }
}

// Steps k = 0 .. K-1 with samples Z_k (B columns each) and A_k = A_0 + rate offdiag(sum_{l<k} R_l
// Z_l^T) give
//   R_k = mask * [Z_k - A_0 Z_k - rate (sum_{l<k} R_l (Z_l^T Z_k) - d_k * Z_k)],
// where d_k = diag(sum_{l<k} R_l Z_l^T) takes the diagonal out again.
void LinearAttentionSgd::block(Index steps) {
  const Index batch = settings_.batch;
  const double rate = settings_.eta / static_cast<double>(batch);
  samples_.resize(attention_.rows(), steps * batch);
  source_(samples_);
  residuals_ = samples_;
  residuals_.noalias() -= attention_ * samples_;
  if (steps > 1) {
    gram_.noalias() = samples_.transpose() * samples_;
    diagonal_.setZero();
  }
  for (Index k = 0; k < steps; ++k) {
    const auto z = samples_.middleCols(k * batch, batch);
    auto r = residuals_.middleCols(k * batch, batch);
    if (k > 0) {
      r.noalias() -=
          rate * residuals_.leftCols(k * batch) * gram_.block(0, k * batch, k * batch, batch);
      r.array() += (rate * z.array()).colwise() * diagonal_.array();
    }
    draw_masks(r);
    if (!std::isfinite(r.sum())) {
      diverged_ = step_ + k + 1;
      return;
    }
    if (k + 1 < steps) diagonal_ += r.cwiseProduct(z).rowwise().sum();
  }
  if (settings_.lambda > 0) attention_ *= 1 - settings_.eta * settings_.lambda;
  attention_.noalias() += rate * residuals_ * samples_.transpose();
  attention_.diagonal().setZero();
  step_ += steps;
}

SgdRun record_sgd(const GaussianMlm& problem,
                  LinearAttentionSgd& sgd,
                  std::span<const std::int64_t> steps) {
  SgdRun run;
  run.test.resize(problem.sites(), static_cast<Index>(steps.size()));
  Index reached = 0;
  for (const std::int64_t step : steps) {
    require(step >= sgd.step(), "steps", static_cast<double>(step), "rising numbers of steps >= 0");
    sgd.advance(step);
    if (sgd.diverged()) break;
    run.test.col(reached++) = errors_of(sgd.attention(), problem.covariance());
  }
  run.test.conservativeResize(Eigen::NoChange, reached);
  run.diverged = sgd.diverged();
  return run;
}

SteadyError steady_sgd_error(const GaussianMlm& problem,
                             LinearAttentionSgd& sgd,
                             const SteadyPlan& plan) {
  require(plan.burn_in >= 0, "burn_in", static_cast<double>(plan.burn_in), "burn_in >= 0");
  require(plan.interval >= 1, "interval", static_cast<double>(plan.interval), "interval >= 1");
  require(plan.records >= 2, "records", static_cast<double>(plan.records), "records >= 2");
  require(plan.blocks >= 2 && plan.blocks <= plan.records,
          "blocks",
          static_cast<double>(plan.blocks),
          "2 <= blocks <= records");
  const std::int64_t length = plan.records / plan.blocks;
  VectorXd means = VectorXd::Zero(plan.blocks);
  sgd.advance(sgd.step() + plan.burn_in);
  for (std::int64_t k = 0; k < plan.blocks * length; ++k) {
    sgd.advance(sgd.step() + plan.interval);
    if (sgd.diverged()) return {.diverged = sgd.diverged()};
    means[k / length] +=
        errors_of(sgd.attention(), problem.covariance()).mean() / static_cast<double>(length);
  }
  const double mean = means.mean();
  const auto blocks = static_cast<double>(plan.blocks);
  return {
      .mean = mean,
      .standard_error = std::sqrt((means.array() - mean).square().sum() / (blocks * (blocks - 1)))};
}

}  // namespace attica
