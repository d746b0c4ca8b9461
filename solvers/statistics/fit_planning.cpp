#include "attica/solvers/statistics/fit_planning.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The x with P(F > x) = alpha.
double f_quantile(double alpha, double nu, double nu0) {
  const double share = beta_quantile(alpha, nu / 2, nu0 / 2);
  return nu0 * share / (nu * (1 - share));
}

/// Columns 1, ln x_1, ln x_2, ...
MatrixXd logarithms(const std::vector<std::vector<double>>& places) {
  const auto variables = static_cast<Index>(places.front().size());
  MatrixXd x(static_cast<Index>(places.size()), 1 + variables);
  for (Index i = 0; i < x.rows(); ++i) {
    x(i, 0) = 1;
    for (Index v = 0; v < variables; ++v)
      x(i, 1 + v) = std::log(places[static_cast<std::size_t>(i)][static_cast<std::size_t>(v)]);
  }
  return x;
}

/// Variances of the exponents, up to that of the logarithms: the diagonal of (XᵀX)⁻¹.
VectorXd variances(const std::vector<std::vector<double>>& places) {
  const MatrixXd x = logarithms(places);
  return (x.transpose() * x).inverse().diagonal().tail(x.cols() - 1);
}

std::vector<std::vector<double>> grid_of(const std::vector<std::vector<double>>& sizes) {
  std::vector<std::vector<double>> places{{}};
  for (const std::vector<double>& one : sizes) {
    std::vector<std::vector<double>> longer;
    for (const std::vector<double>& place : places) {
      for (const double x : one) {
        longer.push_back(place);
        longer.back().push_back(x);
      }
    }
    places = std::move(longer);
  }
  return places;
}

/// At equal ratios, both ends included.
std::vector<double> between(double low, double high, std::size_t count) {
  std::vector<double> sizes(count);
  for (std::size_t k = 0; k < count; ++k)
    sizes[k] = low * std::pow(high / low, static_cast<double>(k) / static_cast<double>(count - 1));
  return sizes;
}

/// As numbers of samples, sites or steps are.
bool is_whole(double size) { return size == std::round(size); }

}  // namespace

std::optional<std::size_t> replicates_for_width(const PilotWidth& pilot,
                                                double width,
                                                double probability) {
  require(width > 0 && std::isfinite(width), "width", width, "a number > 0");
  require(probability > 0 && probability < 1,
          "probability",
          probability,
          "a number above 0 and below 1");
  require(pilot.width > 0 && std::isfinite(pilot.width),
          "width of the pilot",
          pilot.width,
          "an interval of finite width > 0");
  require(pilot.replicates >= 1 && pilot.degrees > 0,
          "replicates of the pilot",
          pilot.replicates,
          "two or more");
  const double ratio = pilot.width / width;
  const auto suffices = [&](std::size_t n) {
    const double more = static_cast<double>(n) / pilot.replicates;
    // Above these the quantile is that of infinitely many.
    constexpr double kMostDegrees = 1e7;
    const double nu = std::min(pilot.degrees * std::pow(more, pilot.growth), kMostDegrees);
    return more >=
           ratio * ratio * f_quantile(1 - probability, nu, std::min(pilot.degrees, kMostDegrees));
  };
  std::size_t low = 0;
  std::size_t high = 1;
  while (!suffices(high)) {
    if (high >= kMostPlannedReplicates) return std::nullopt;
    low = high;
    high = std::min(2 * high, kMostPlannedReplicates);
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  return high;
}

double quantile_degrees(std::size_t n, double p) {
  return 2 * std::sqrt(static_cast<double>(n) * p * (1 - p));
}

double effective_combinations(const std::vector<std::vector<double>>& used) {
  require(!used.empty() && !used.front().empty(), "sizes", 0, "at least one");
  const MatrixXd x = logarithms(used);
  const MatrixXd parts =
      ((x.transpose() * x).inverse() * x.transpose()).bottomRows(x.cols() - 1).cwiseAbs2();
  return (parts.rowwise().sum().array().square() / parts.array().square().rowwise().sum())
      .minCoeff();
}

std::vector<SizesPlan> plan_sizes(const std::vector<std::vector<double>>& used) {
  require(!used.empty() && !used.front().empty(), "sizes", 0, "at least one");
  const std::size_t variables = used.front().size();
  const VectorXd pilot = variances(used);
  std::vector<std::set<double>> own(variables);
  for (const std::vector<double>& place : used) {
    for (std::size_t v = 0; v < variables; ++v) own[v].insert(place[v]);
  }
  const bool carries = std::ranges::all_of(own, [](const std::set<double>& sizes) {
    return sizes.size() >= kFewestSizes && *sizes.rbegin() >= kSmallestSpan * *sizes.begin();
  });
  std::vector<SizesPlan> plans;
  const auto add = [&](std::vector<std::vector<double>> sizes,
                       const std::vector<std::vector<double>>& places) {
    const VectorXd now = variances(places);
    SizesPlan plan{.sizes = std::move(sizes), .combinations = places.size(), .factors = {}};
    for (Index v = 0; v < now.size(); ++v) plan.factors.push_back(std::sqrt(now[v] / pilot[v]));
    plans.push_back(std::move(plan));
  };
  if (carries) {
    std::vector<std::vector<double>> sizes;
    for (const std::set<double>& one : own) sizes.emplace_back(one.begin(), one.end());
    add(std::move(sizes), used);
  }
  for (const double more : {1.0, 2.0, 4.0, 8.0}) {
    if (carries && more == 1) continue;
    std::vector<std::vector<double>> sizes;
    for (const std::set<double>& one : own) {
      const double least = *one.begin();
      const double most = std::max(*one.rbegin(), kSmallestSpan * least);
      std::vector<double> wider = between(least, most * more, std::max(one.size(), kFewestSizes));
      if (std::ranges::all_of(one, is_whole)) {
        for (double& size : wider) size = std::round(size);
        wider.erase(std::unique(wider.begin(), wider.end()), wider.end());
      }
      sizes.push_back(std::move(wider));
    }
    add(sizes, grid_of(sizes));
  }
  return plans;
}

}  // namespace attica
