// Where the dynamics of Gaussian masked modelling meet: exact theories must agree within the
// simulation's own error, and theories that are wrong on purpose must be found.

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/sim/gauss/flow.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "attica/sim/gauss/sgd.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/theory/gauss/flow.hpp"
#include "attica/theory/gauss/sgd.hpp"

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;

namespace gauss_dynamics_test {

using Steps = std::vector<std::int64_t>;

/// Mean and standard error over replicates of an L x recorded matrix.
struct Replicates {
  std::vector<MatrixXd> values;

  MatrixXd mean() const {
    MatrixXd sum = MatrixXd::Zero(values[0].rows(), values[0].cols());
    for (const MatrixXd& v : values) sum += v;
    return sum / static_cast<double>(values.size());
  }
  MatrixXd sem() const {
    const MatrixXd centre = mean();
    MatrixXd sum = MatrixXd::Zero(centre.rows(), centre.cols());
    for (const MatrixXd& v : values) sum += (v - centre).cwiseAbs2();
    const auto n = static_cast<double>(values.size());
    return (sum / (n * (n - 1))).cwiseSqrt();
  }
  MatrixXd z(const MatrixXd& theory) const { return (mean() - theory).cwiseQuotient(sem()); }

  /// The verdict on the site average with the 5 % that exact theories declare.
  Verdict verdict(const MatrixXd& theory) const {
    std::vector<ComparedPoint> points;
    for (Index k = 0; k < theory.cols(); ++k) {
      ComparedPoint point{.theory = theory.col(k).mean(), .margin = {.relative = 0.05}};
      for (const MatrixXd& v : values) point.replicates.push_back(v.col(k).mean());
      points.push_back(point);
    }
    return judge(points).verdict;
  }
};

struct OnlineCase {
  SgdSettings settings;
  double probability;  ///< of the mask, as the theory has it
};

const Index kSites = 8;
const Steps kSteps{1, 4, 16, 60};

std::vector<OnlineCase> online_cases() {
  return {
      {{.eta = 0.05, .batch = 1}, 1},
      {{.eta = 0.25, .batch = 8}, 1},
      {{.eta = 0.2, .batch = 4, .lambda = 0.3}, 1},
      {{.eta = 0.6, .batch = 16, .mask = SgdMask::one_site}, 1.0 / kSites},
      {{.eta = 0.2,
        .batch = 6,
        .lambda = 0.1,
        .mask = SgdMask::independent,
        .mask_probability = 0.4},
       0.4},
  };
}

Replicates simulate_online(const GaussianMlm& problem,
                           const SgdSettings& settings,
                           std::uint64_t point,
                           int seeds) {
  Replicates result;
  for (int r = 0; r < seeds; ++r) {
    const auto replicate = static_cast<std::uint64_t>(r);
    RandomStream samples(
        {.seed = 20, .id = StreamId::data, .point = point, .replicate = replicate});
    RandomStream masks(
        {.seed = 20, .id = StreamId::minibatch, .point = point, .replicate = replicate});
    LinearAttentionSgd sgd(problem.sites(), settings, gaussian_source(problem, samples), masks);
    result.values.push_back(record_sgd(problem, sgd, kSteps).test);
  }
  return result;
}

MatrixXd online_theory(const GaussianMlm& problem, const SgdParameters& parameters) {
  MatrixXd theory(problem.sites(), static_cast<Index>(kSteps.size()));
  for (Index i = 0; i < problem.sites(); ++i) {
    const std::vector<double> errors =
        online_sgd_errors(site_regression(problem, i), parameters, kSteps);
    theory.row(i) = Eigen::Map<const Eigen::RowVectorXd>(errors.data(), theory.cols());
  }
  return theory;
}

double rms(const std::vector<double>& z) {
  double sum = 0;
  for (const double value : z) sum += value * value;
  return std::sqrt(sum / static_cast<double>(z.size()));
}

TEST_CASE("online SGD: simulation scatters about the exact moments as its own errors say",
          "[agreement][sgd]") {
  const GaussianMlm problem(ar1_covariance(kSites, 0.6));
  constexpr int kSeeds = 400;
  std::vector<double> exact, doubled_rate, no_sampling;
  std::uint64_t point = 0;
  for (const auto& [settings, probability] : online_cases()) {
    const Replicates runs = simulate_online(problem, settings, point++, kSeeds);
    const SgdParameters right{.eta = settings.eta,
                              .batch = static_cast<double>(settings.batch),
                              .probability = probability,
                              .lambda = settings.lambda};
    SgdParameters rate = right;
    rate.eta *= 2;
    SgdParameters smooth = right;
    smooth.batch = 1e15;  // the sampling term is of order 1/B
    const auto append = [](std::vector<double>& to, const MatrixXd& z) {
      to.insert(to.end(), z.data(), z.data() + z.size());
    };
    append(exact, runs.z(online_theory(problem, right)));
    append(doubled_rate, runs.z(online_theory(problem, rate)));
    append(no_sampling, runs.z(online_theory(problem, smooth)));
    INFO("case " << point);
    CHECK(runs.verdict(online_theory(problem, right)) == Verdict::agree);
    CHECK(runs.verdict(online_theory(problem, rate)) == Verdict::disagree);
    CHECK(runs.verdict(online_theory(problem, smooth)) == Verdict::disagree);
  }
  // 160 deviations, of which about 50 are independent: rms 1 +- 0.1.
  CHECK(rms(exact) > 0.7);
  CHECK(rms(exact) < 1.4);
  CHECK(rms(doubled_rate) > 5);
  CHECK(rms(no_sampling) > 5);
}

TEST_CASE("online SGD: time averages reach the steady state", "[agreement][sgd]") {
  const GaussianMlm problem(ar1_covariance(kSites, 0.6));
  for (const auto& [eta, batch] : {std::pair{0.04, Index{1}}, std::pair{0.2, Index{8}}}) {
    double theory = 0;
    for (Index i = 0; i < kSites; ++i) {
      const SgdSteadyState steady = online_sgd_steady(
          site_regression(problem, i), {.eta = eta, .batch = static_cast<double>(batch)});
      REQUIRE(steady.chi < 0.5);
      theory += steady.error / kSites;
    }
    RandomStream samples({.seed = 21}), masks({.seed = 21, .id = StreamId::minibatch});
    LinearAttentionSgd sgd(
        kSites, {.eta = eta, .batch = batch}, gaussian_source(problem, samples), masks);
    const SteadyError steady = steady_sgd_error(
        problem, sgd, {.burn_in = 500, .interval = 5, .records = 6000, .blocks = 30});
    INFO("eta " << eta << " mean " << steady.mean << " theory " << theory);
    CHECK(std::abs(steady.mean - theory) < 4 * steady.standard_error);
    CHECK(steady.standard_error < 0.01 * theory);
  }
}

TEST_CASE("SGD with replacement: simulation scatters about the exact moments given the data",
          "[agreement][sgd]") {
  const GaussianMlm problem(ar1_covariance(kSites, 0.6));
  std::vector<double> exact, wrong;
  for (const Index samples : {5, 24}) {
    RandomStream data_stream({.seed = 22, .point = static_cast<std::uint64_t>(samples)});
    const MatrixXd data = gaussian_samples(problem.factor(), true, samples, data_stream);
    Replicates runs;
    const SgdSettings settings{.eta = 0.1, .batch = 2};
    for (std::uint64_t r = 0; r < 400; ++r) {
      const auto point = static_cast<std::uint64_t>(samples);
      RandomStream picks({.seed = 22, .id = StreamId::minibatch, .point = point, .replicate = r});
      LinearAttentionSgd sgd(kSites, settings, resampling_source(data, picks), picks);
      runs.values.push_back(record_sgd(problem, sgd, kSteps).test);
    }
    const auto theory = [&](double eta) {
      MatrixXd errors(kSites, static_cast<Index>(kSteps.size()));
      for (Index i = 0; i < kSites; ++i) {
        const std::vector<double> site =
            data_sgd_errors(problem, i, data, {.eta = eta, .batch = 2}, kSteps);
        errors.row(i) = Eigen::Map<const Eigen::RowVectorXd>(site.data(), errors.cols());
      }
      return errors;
    };
    const MatrixXd right = runs.z(theory(settings.eta));
    const MatrixXd twice = runs.z(theory(2 * settings.eta));
    exact.insert(exact.end(), right.data(), right.data() + right.size());
    wrong.insert(wrong.end(), twice.data(), twice.data() + twice.size());
    CHECK(runs.verdict(theory(settings.eta)) == Verdict::agree);
    CHECK(runs.verdict(theory(2 * settings.eta)) == Verdict::disagree);
  }
  CHECK(rms(exact) > 0.7);
  CHECK(rms(exact) < 1.4);
  CHECK(rms(wrong) > 5);
}

TEST_CASE(
    "gradient flow: simulation follows the random-matrix theory within its finite-size allowance",
    "[agreement][flow]") {
  const Index sites = 40;
  const GaussianMlm problem(ar1_covariance(sites, 0.6));
  const GaussianFlow flow(problem);
  const GaussianRidge ridge(problem);
  const std::vector<double> times{0.3, 2, 20, 200};
  std::vector<ResidualFilter> filters, late;
  for (const double time : times) {
    filters.push_back(flow_filter(time));
    late.push_back(flow_filter(2 * time));
  }
  for (const Index samples : {20, 40, 100}) {
    Replicates test, train;
    for (std::uint64_t r = 0; r < 40; ++r) {
      RandomStream stream(
          {.seed = 23, .point = static_cast<std::uint64_t>(samples), .replicate = r});
      const TrainingErrors errors =
          gradient_flow(problem, gaussian_samples(problem.factor(), true, samples, stream), times);
      test.values.push_back(errors.test.colwise().mean());
      train.values.push_back(errors.train.colwise().mean());
    }
    const std::vector<FlowPoint> theory = flow.average(static_cast<double>(samples), filters);
    const std::vector<FlowPoint> wrong = flow.average(static_cast<double>(samples), late);
    const MatrixXd test_mean = test.mean(), test_sem = test.sem(), train_mean = train.mean(),
                   train_sem = train.sem();
    double largest_wrong = 0;
    for (std::size_t k = 0; k < times.size(); ++k) {
      const auto column = static_cast<Index>(k);
      // Ridge regression at lambda = 1/t is smoothed alike: its allowance is used.
      const RidgePoint allowance = ridge.average(static_cast<double>(samples), 1 / times[k]);
      INFO("samples " << samples << " time " << times[k]);
      CHECK(std::abs(test_mean(0, column) - theory[k].test_error) <
            3 * test_sem(0, column) + allowance.finite_size_test);
      largest_wrong = std::max(largest_wrong,
                               std::abs(test_mean(0, column) - wrong[k].test_error) /
                                   (3 * test_sem(0, column) + allowance.finite_size_test));
      if (theory[k].train_error < 1e-2 * theory[k].test_error) continue;
      CHECK(std::abs(train_mean(0, column) - theory[k].train_error) <
            3 * train_sem(0, column) + allowance.finite_size_train);
    }
    CHECK(largest_wrong > 1.5);
  }
}

}  // namespace gauss_dynamics_test
