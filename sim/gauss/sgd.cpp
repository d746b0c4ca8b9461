#include "attica/sim/gauss/sgd.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "attica/sim/networks/gemm.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kBlockSamples = 64;  // samples worked on at once

VectorXd errors_of(const MatrixXd& residual_map, const MatrixXd& covariance) {
  return (residual_map * covariance).cwiseProduct(residual_map).rowwise().sum();
}

/// z = F w for w in the columns, where F is a chain's.
void run_chain(const VectorXd& slopes, const VectorXd& scale, Eigen::Ref<MatrixXd> columns) {
  constexpr int kColumns = 8;  // that do not wait for each other
  const auto run = [&](auto some) {
    some.row(0) *= scale[0];
    for (Index i = 1; i < some.rows(); ++i) {
      some.row(i) = slopes[i] * some.row(i - 1) + scale[i] * some.row(i);
    }
  };
  Index b = 0;
  for (; b + kColumns <= columns.cols(); b += kColumns) run(columns.middleCols<kColumns>(b));
  run(columns.rightCols(columns.cols() - b));
}

}  // namespace

SampleSource gaussian_source(const GaussianMlm& problem, RandomStream& stream) {
  const auto draw = [&stream](auto& white) {
    stream.fill_normal(std::span(white.data(), static_cast<std::size_t>(white.size())));
  };
  const MatrixXd factor = problem.factor();
  const bool lower = problem.rank() == problem.sites();
  if (lower) {
    const VectorXd slopes = chain_slopes(factor);
    if (slopes.size() > 0) {
      return [draw, slopes, scale = VectorXd(factor.diagonal())](Eigen::Ref<MatrixXd> samples) {
        draw(samples);
        run_chain(slopes, scale, samples);
      };
    }
  }
  return [draw, factor, lower, white = MatrixXd()](Eigen::Ref<MatrixXd> samples) mutable {
    white.resize(factor.cols(), samples.cols());
    draw(white);
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
  residual_map_ = MatrixXd::Identity(sites, sites);
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

// With M = 1 - A, a step is M <- M - rate offdiag((mask * M Z) Z^T). Steps k = 0 .. K-1 with
// samples Z_k (B columns each) give
//   R_k = mask * [M_0 Z_k - rate (sum_{l<k} R_l (Z_l^T Z_k) - d_k * Z_k)],
// where d_k = diag(sum_{l<k} R_l Z_l^T) takes the diagonal out again.
void LinearAttentionSgd::block(Index steps) {
  using networks::Into;
  const Index batch = settings_.batch;
  const double rate = settings_.eta / static_cast<double>(batch);
  samples_.resize(residual_map_.rows(), steps * batch);
  residuals_.resize(residual_map_.rows(), steps * batch);
  source_(samples_);
  networks::multiply(residual_map_, samples_, residuals_, Into::overwrite);
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
  if (settings_.lambda > 0) residual_map_ *= 1 - settings_.eta * settings_.lambda;
  residuals_ *= -rate;
  networks::multiply(residuals_, samples_.transpose(), residual_map_, Into::add);
  residual_map_.diagonal().setOnes();
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
    run.test.col(reached++) = errors_of(sgd.residual_map(), problem.covariance());
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
        errors_of(sgd.residual_map(), problem.covariance()).mean() / static_cast<double>(length);
  }
  const double mean = means.mean();
  const auto blocks = static_cast<double>(plan.blocks);
  return {
      .mean = mean,
      .standard_error = std::sqrt((means.array() - mean).square().sum() / (blocks * (blocks - 1)))};
}

}  // namespace attica
