#include "attica/solvers/statistics/floor_surface.hpp"

#include <ceres/ceres.h>
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/solvers/statistics/profile_interval.hpp"
#include "attica/solvers/statistics/weighted_means.hpp"

namespace attica {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kSteepestTerm = 12;
constexpr double kHuber = 1.345;
constexpr std::size_t kRobustResamples = 400;

/// Floor, then for every term its prefactor at the geometric mean of the size, and its exponent.
using Parameters = std::vector<double>;

struct SurfaceData {
  std::vector<std::vector<double>> log_x;  ///< of each cell and size, over the geometric mean
  std::vector<double> log_scale;           ///< ln of the geometric means
  std::vector<double> y;
  std::vector<double> weight;
  /// With the robust loss: the replicates of each cell.
  std::vector<std::vector<double>> replicates;
};

/// sqrt(w) (y - floor - sum prefactor e^(exponent log_x)).
class TermResidual final : public ceres::CostFunction {
 public:
  TermResidual(std::vector<double> log_x, double y, double root_weight)
      : log_x_(std::move(log_x)), y_(y), root_weight_(root_weight) {
    set_num_residuals(1);
    mutable_parameter_block_sizes()->assign(1 + 2 * log_x_.size(), 1);
  }

  bool Evaluate(const double* const* values, double* residual, double** jacobians) const override {
    double fitted = values[0][0];
    for (std::size_t v = 0; v < log_x_.size(); ++v) {
      const double power = std::exp(values[2 + 2 * v][0] * log_x_[v]);
      const double prefactor = values[1 + 2 * v][0];
      fitted += prefactor * power;
      if (jacobians == nullptr) continue;
      if (jacobians[1 + 2 * v] != nullptr) jacobians[1 + 2 * v][0] = -root_weight_ * power;
      if (jacobians[2 + 2 * v] != nullptr)
        jacobians[2 + 2 * v][0] = -root_weight_ * prefactor * power * log_x_[v];
    }
    if (jacobians != nullptr && jacobians[0] != nullptr) jacobians[0][0] = -root_weight_;
    residual[0] = root_weight_ * (y_ - fitted);
    return std::isfinite(residual[0]);
  }

 private:
  std::vector<double> log_x_;
  double y_;
  double root_weight_;
};

struct LocalMinimum {
  Parameters at;
  double sum = kNoLimit;  ///< of squares, or twice the robust loss
};

/// A problem whose parameters may be held.
class SurfaceProblem {
 public:
  SurfaceProblem(const SurfaceData& data, bool robust, Parameters start)
      : values_(std::move(start)), problem_(options()) {
    ceres::LossFunction* const loss = robust ? &huber_ : nullptr;
    std::vector<double*> blocks;
    for (double& value : values_) blocks.push_back(&value);
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      const double root = std::sqrt(data.weight[i]);
      if (!robust) {
        problem_.AddResidualBlock(new TermResidual(data.log_x[i], data.y[i], root), loss, blocks);
        continue;
      }
      for (const double y : data.replicates[i])
        problem_.AddResidualBlock(new TermResidual(data.log_x[i], y, root), loss, blocks);
    }
    for (std::size_t v = 0; 2 + 2 * v < values_.size(); ++v) {
      problem_.SetParameterLowerBound(blocks[2 + 2 * v], 0, -kSteepestTerm);
      problem_.SetParameterUpperBound(blocks[2 + 2 * v], 0, kSteepestTerm);
    }
  }
  SurfaceProblem(const SurfaceProblem&) = delete;
  SurfaceProblem& operator=(const SurfaceProblem&) = delete;
  ~SurfaceProblem() = default;

  void hold(std::size_t parameter) { problem_.SetParameterBlockConstant(&values_[parameter]); }
  Parameters& values() { return values_; }

  LocalMinimum solve() {
    ceres::Solver::Options settings;
    settings.linear_solver_type = ceres::DENSE_QR;
    settings.logging_type = ceres::SILENT;
    settings.num_threads = 1;
    constexpr int kSteps = 200;
    constexpr double kTolerance = 1e-12;
    settings.max_num_iterations = kSteps;
    settings.function_tolerance = kTolerance;
    settings.gradient_tolerance = kTolerance;
    settings.parameter_tolerance = kTolerance;
    ceres::Solver::Summary summary;
    ceres::Solve(settings, &problem_, &summary);
    if (!summary.IsSolutionUsable()) return {.at = values_};
    return {.at = values_, .sum = 2 * summary.final_cost};
  }

  /// Of the parameters that are not held; empty if the minimum does not determine them.
  std::vector<std::vector<double>> covariance() {
    std::vector<const double*> free;
    for (const double& value : values_) {
      if (!problem_.IsParameterBlockConstant(&value)) free.push_back(&value);
    }
    ceres::Covariance::Options settings;
    settings.algorithm_type = ceres::DENSE_SVD;
    ceres::Covariance covariance(settings);
    if (!covariance.Compute(free, &problem_)) return {};
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> all(free.size(),
                                                                               free.size());
    if (!covariance.GetCovarianceMatrix(free, all.data())) return {};
    std::vector<std::vector<double>> rows(free.size());
    for (std::size_t i = 0; i < free.size(); ++i) {
      for (std::size_t k = 0; k < free.size(); ++k)
        rows[i].push_back(all(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)));
    }
    return rows;
  }

 private:
  static ceres::Problem::Options options() {
    ceres::Problem::Options o;
    o.loss_function_ownership = ceres::DO_NOT_TAKE_OWNERSHIP;
    return o;
  }

  Parameters values_;
  ceres::HuberLoss huber_{kHuber};
  ceres::Problem problem_;
};

/// (e^(p l) - 1)/p, which is l at p = 0.
double log_power_basis(double l, double p) { return p == 0 ? l : std::expm1(p * l) / p; }

/// Floor and prefactors at given exponents, none of them 0, by linear least squares.
LocalMinimum linear_fit(const SurfaceData& d,
                        const std::vector<double>& exponents,
                        std::optional<double> floor) {
  const auto n = static_cast<Eigen::Index>(d.y.size());
  const auto terms = static_cast<Eigen::Index>(exponents.size());
  const Eigen::Index first = floor ? 0 : 1;
  Eigen::MatrixXd x(n, first + terms);
  Eigen::VectorXd y(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double root = std::sqrt(d.weight[k]);
    if (!floor) x(i, 0) = root;
    for (Eigen::Index v = 0; v < terms; ++v) {
      const auto u = static_cast<std::size_t>(v);
      // With a floor to fit, powers near 0 are told from it by this basis.
      x(i, first + v) = root * (floor ? std::exp(exponents[u] * d.log_x[k][u])
                                      : log_power_basis(d.log_x[k][u], exponents[u]));
    }
    y(i) = root * (d.y[k] - floor.value_or(0));
  }
  const Eigen::VectorXd best = x.colPivHouseholderQr().solve(y);
  LocalMinimum m{.at = Parameters(1 + 2 * exponents.size()), .sum = (y - x * best).squaredNorm()};
  m.at[0] = floor ? *floor : best(0);
  for (std::size_t v = 0; v < exponents.size(); ++v) {
    const double slope = best(first + static_cast<Eigen::Index>(v));
    m.at[1 + 2 * v] = floor ? slope : slope / exponents[v];
    m.at[2 + 2 * v] = exponents[v];
    if (!floor) m.at[0] -= slope / exponents[v];
  }
  if (!std::isfinite(m.sum)) m.sum = kNoLimit;
  return m;
}

/// Grid minima, best first.
std::vector<LocalMinimum> grid_minima(const SurfaceData& d, std::optional<double> floor) {
  static constexpr std::array kGrid = {
      -4.0, -3.0, -2.2, -1.6, -1.2, -0.9, -0.7, -0.55, -0.42, -0.32, -0.24, -0.17, -0.11, -0.06,
      0.06, 0.11, 0.17, 0.24, 0.32, 0.42, 0.55, 0.7,   0.9,   1.2,   1.6,   2.2,   3.0,   4.0};
  constexpr std::size_t side = kGrid.size();
  const std::size_t terms = d.log_x.front().size();
  std::size_t points = 1;
  for (std::size_t v = 0; v < terms; ++v) points *= side;
  std::vector<double> sums(points);
  const auto exponents_at = [&](std::size_t k) {
    std::vector<double> exponents;
    for (std::size_t v = 0; v < terms; ++v, k /= side) exponents.push_back(kGrid[k % side]);
    return exponents;
  };
  for (std::size_t k = 0; k < points; ++k) sums[k] = linear_fit(d, exponents_at(k), floor).sum;
  std::vector<LocalMinimum> minima;
  for (std::size_t k = 0; k < points; ++k) {
    bool least = std::isfinite(sums[k]);
    std::size_t step = 1;
    for (std::size_t v = 0; v < terms && least; ++v, step *= side) {
      const std::size_t at = k / step % side;
      least =
          (at == 0 || sums[k] <= sums[k - step]) && (at + 1 == side || sums[k] <= sums[k + step]);
    }
    if (least) minima.push_back(linear_fit(d, exponents_at(k), floor));
  }
  std::ranges::sort(minima, {}, &LocalMinimum::sum);
  constexpr std::size_t kStarts = 6;
  if (minima.size() > kStarts) minima.resize(kStarts);
  return minima;
}

LocalMinimum refined(const SurfaceData& d, bool robust, const Parameters& start, bool held_floor) {
  SurfaceProblem problem(d, robust, start);
  if (held_floor) problem.hold(0);
  return problem.solve();
}

bool same_exponents(const Parameters& a, const Parameters& b) {
  constexpr double kSame = 1e-3;
  for (std::size_t k = 2; k < a.size(); k += 2) {
    if (std::abs(a[k] - b[k]) > kSame) return false;
  }
  return true;
}

/// Sizes over their geometric means.
void center_sizes(const std::vector<ScalingCell>& used, SurfaceData& d) {
  const std::size_t terms = used.front().x.size();
  d.log_scale.assign(terms, 0);
  for (const ScalingCell& cell : used) {
    for (std::size_t v = 0; v < terms; ++v)
      d.log_scale[v] += std::log(cell.x[v]) / static_cast<double>(used.size());
  }
  for (const ScalingCell& cell : used) {
    std::vector<double>& one = d.log_x.emplace_back();
    for (std::size_t v = 0; v < terms; ++v) one.push_back(std::log(cell.x[v]) - d.log_scale[v]);
  }
}

/// Medians, and weights from the median absolute deviations relative to them, over all cells.
void use_medians(const std::vector<ScalingCell>& used, SurfaceData& d) {
  constexpr double kNormal = 1.482602218505602;  // of a normal law's deviation over its MAD
  d.y.clear();
  d.weight.clear();
  std::vector<double> distances;
  for (const ScalingCell& cell : used) {
    d.y.push_back(median(cell.samples));
    d.replicates.push_back(cell.samples);
    for (const double y : cell.samples) distances.push_back(std::abs(y / d.y.back() - 1));
  }
  const double spread = std::max(kNormal * median(distances), 1e-12);
  for (const double y : d.y) d.weight.push_back(1 / (spread * spread * y * y));
}

SurfaceData part_of(const SurfaceData& d, const std::function<bool(std::size_t)>& kept) {
  SurfaceData part{.log_x = {}, .log_scale = d.log_scale, .y = {}, .weight = {}, .replicates = {}};
  for (std::size_t i = 0; i < d.y.size(); ++i) {
    if (!kept(i)) continue;
    part.log_x.push_back(d.log_x[i]);
    part.y.push_back(d.y[i]);
    part.weight.push_back(d.weight[i]);
    if (!d.replicates.empty()) part.replicates.push_back(d.replicates[i]);
  }
  return part;
}

/// Whether the cells vary so that all parameters are determined.
bool enough_sizes(const std::vector<ScalingCell>& used, std::size_t v, std::size_t least) {
  std::set<double> sizes;
  for (const ScalingCell& cell : used) sizes.insert(cell.x[v]);
  return sizes.size() >= least;
}

std::string surface_weakness(const std::vector<ScalingCell>& used,
                             const std::vector<std::string>& names) {
  for (std::size_t v = 0; v < names.size(); ++v) {
    if (!enough_sizes(used, v, kFewestSizes))
      return fmt::format("fewer than {} values of {}", kFewestSizes, names[v]);
    const auto [least, most] =
        std::ranges::minmax(used, {}, [v](const ScalingCell& cell) { return cell.x[v]; });
    if (most.x[v] < kSmallestSpan * least.x[v])
      return fmt::format("{} spans less than a factor {}", names[v], kSmallestSpan);
  }
  return "";
}

void validate_cells(const std::vector<ScalingCell>& cells, const std::vector<std::string>& names) {
  constexpr std::size_t kMostSizes = 3;
  require(!names.empty() && names.size() <= kMostSizes,
          "sizes",
          static_cast<double>(names.size()),
          "one to three");
  std::set<std::vector<double>> seen;
  for (const ScalingCell& cell : cells) {
    require(cell.x.size() == names.size(),
            "sizes",
            static_cast<double>(cell.x.size()),
            fmt::format("one for each of {}", names.size()));
    for (std::size_t v = 0; v < names.size(); ++v)
      require(std::isfinite(cell.x[v]) && cell.x[v] > 0, names[v], cell.x[v], "a number > 0");
    require(seen.insert(cell.x).second, names[0], cell.x[0], "every combination of sizes once");
    require(!cell.samples.empty(), "replicates", 0, "at least one at every combination of sizes");
    for (const double y : cell.samples)
      require(y > 0, "samples", y, "numbers > 0, infinity for a target never reached");
  }
}

/// The limits that profiles rise to.
struct Limits {
  double at95 = 0;
  double at90 = 0;
  double unit = 1;  ///< of the sum of squares
};

Limits use_errors(FloorSurface& result, const LocalMinimum& best, double spread_degrees) {
  const auto degrees = static_cast<double>(result.degrees);
  double unit = 1;  // of the sum of squares
  double nu = spread_degrees;
  if (spread_degrees > 0) {
    result.chi_square = best.sum;
    result.p_value = chi_square_tail(best.sum, degrees);
    unit = std::max(1.0, best.sum / degrees);
  } else {
    result.from_scatter = true;
    result.chi_square = degrees;
    unit = best.sum / degrees;
    nu = degrees;
  }
  const double t95 = student_quantile(kLevel95, nu);
  const double t90 = student_quantile(kLevel90, nu);
  return {best.sum + unit * t95 * t95, best.sum + unit * t90 * t90, unit};
}

/// Profile intervals of all parameters.
void use_profiles(const SurfaceData& data,
                  const LocalMinimum& best,
                  std::optional<double> floor,
                  const Limits& limits,
                  FloorSurface& result) {
  const auto profile = [&](std::size_t parameter, double step, double limit, bool logarithmic) {
    // Each solution is the start of the next: ends are approached step by step.
    SurfaceProblem problem(data, false, best.at);
    problem.hold(parameter);
    if (floor) problem.hold(0);
    const double sign = best.at[parameter] < 0 ? -1 : 1;
    Parameters last = best.at;
    const auto sum = [&](double value) {
      const bool exponent = parameter > 0 && parameter % 2 == 0;
      if (exponent && std::abs(value) > kSteepestTerm) return kNoLimit;
      problem.values() = last;
      problem.values()[parameter] = logarithmic ? sign * std::exp(value) : value;
      const LocalMinimum m = problem.solve();
      if (m.sum <= limit) last = m.at;
      return m.sum;
    };
    const double at = logarithmic ? std::log(std::abs(best.at[parameter])) : best.at[parameter];
    const Interval below =
        profile_interval([&](double v) { return v > at ? kNoLimit : sum(v); }, at, step, limit);
    last = best.at;
    const Interval above =
        profile_interval([&](double v) { return v < at ? kNoLimit : sum(v); }, at, step, limit);
    return Interval{below.low, above.high};
  };
  const auto clipped = [](Interval i) {
    constexpr double kEdge = 0.02;
    if (i.low <= -kSteepestTerm + kEdge) i.low = -kNoLimit;
    if (i.high >= kSteepestTerm - kEdge) i.high = kNoLimit;
    return i;
  };
  constexpr double kStep = 0.01;
  bool level = true;
  for (std::size_t v = 0; v < result.terms.size(); ++v) {
    FloorTerm& term = result.terms[v];
    term.interval95 = clipped(profile(2 + 2 * v, kStep, limits.at95, false));
    term.interval90 = clipped(profile(2 + 2 * v, kStep, limits.at90, false));
    level = level && !term.interval95.contains(0);
  }
  if (floor) {
    result.floor95 = {*floor, *floor};
  } else if (!level) {
    result.floor95 = {-kNoLimit, kNoLimit};
  } else {
    const double scale = std::abs(result.floor) + std::abs(*std::ranges::min_element(data.y));
    result.floor95 = profile(0, kStep * scale, limits.at95, false);
  }
  for (std::size_t v = 0; v < result.terms.size(); ++v) {
    FloorTerm& term = result.terms[v];
    if (!level && !floor) {
      term.prefactor95 = {-kNoLimit, kNoLimit};
      continue;
    }
    // The prefactor of x itself: with sizes not centred, its parameter is what the term has.
    SurfaceData raw = data;
    for (std::vector<double>& one : raw.log_x) one[v] += data.log_scale[v];
    LocalMinimum at = best;
    at.at[1 + 2 * v] = term.prefactor;
    SurfaceProblem problem(raw, false, at.at);
    problem.hold(1 + 2 * v);
    if (floor) problem.hold(0);
    const double sign = term.prefactor < 0 ? -1 : 1;
    Parameters last = at.at;
    const auto sum = [&](double value) {
      problem.values() = last;
      problem.values()[1 + 2 * v] = sign * std::exp(value);
      // The exponent that leaves the term at the mean size where it was.
      problem.values()[2 + 2 * v] =
          last[2 + 2 * v] - (value - std::log(std::abs(last[1 + 2 * v]))) /
                                std::max(std::abs(data.log_scale[v]), 1.0) *
                                (data.log_scale[v] < 0 ? -1 : 1);
      const LocalMinimum m = problem.solve();
      if (m.sum <= limits.at95) last = m.at;
      return m.sum;
    };
    const double centre = std::log(std::abs(term.prefactor));
    const double below =
        profile_interval(
            [&](double c) { return c > centre ? kNoLimit : sum(c); }, centre, kStep, limits.at95)
            .low;
    last = at.at;
    const double above =
        profile_interval(
            [&](double c) { return c < centre ? kNoLimit : sum(c); }, centre, kStep, limits.at95)
            .high;
    const double a = sign * std::exp(below);
    const double b = sign * std::exp(above);
    term.prefactor95 = {std::min(a, b), std::max(a, b)};
  }
}

/// Intervals of the robust fit from resampled replicates.
void use_resamples(const SurfaceData& data,
                   const LocalMinimum& best,
                   std::optional<double> floor,
                   std::uint64_t seed,
                   FloorSurface& result) {
  std::vector<std::vector<double>> drawn(1 + 2 * result.terms.size());
  SurfaceData sample = data;
  for (std::size_t b = 0; b < kRobustResamples; ++b) {
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      RandomStream stream({.seed = seed, .id = StreamId::bootstrap, .point = i, .replicate = b});
      const std::vector<double>& own = data.replicates[i];
      for (double& y : sample.replicates[i]) y = own[stream.below(own.size())];
    }
    const LocalMinimum m = refined(sample, true, best.at, floor.has_value());
    if (!std::isfinite(m.sum)) continue;
    drawn[0].push_back(m.at[0]);
    for (std::size_t v = 0; v < result.terms.size(); ++v) {
      drawn[1 + 2 * v].push_back(m.at[1 + 2 * v] * std::exp(-m.at[2 + 2 * v] * data.log_scale[v]));
      drawn[2 + 2 * v].push_back(m.at[2 + 2 * v]);
    }
  }
  const auto limits = [&](std::size_t k, double level) {
    std::ranges::sort(drawn[k]);
    return Interval{quantile(drawn[k], level), quantile(drawn[k], 1 - level)};
  };
  if (drawn[0].empty()) {
    result.weakness = "no resample could be fitted";
    return;
  }
  result.floor95 = floor ? Interval{*floor, *floor} : limits(0, kLevel95);
  for (std::size_t v = 0; v < result.terms.size(); ++v) {
    result.terms[v].prefactor95 = limits(1 + 2 * v, kLevel95);
    result.terms[v].interval95 = limits(2 + 2 * v, kLevel95);
    result.terms[v].interval90 = limits(2 + 2 * v, kLevel90);
  }
}

/// Exponents without the smallest and the largest value of each size.
void use_windows(const std::vector<ScalingCell>& used,
                 const SurfaceData& data,
                 const LocalMinimum& best,
                 std::optional<double> floor,
                 double rise,
                 FloorSurface& result) {
  for (std::size_t v = 0; v < result.terms.size(); ++v) {
    FloorTerm& term = result.terms[v];
    term.without_smallest = std::numeric_limits<double>::quiet_NaN();
    term.without_largest = term.without_smallest;
    if (!enough_sizes(used, v, kFewestSizes + 1)) continue;
    const auto [least, most] =
        std::ranges::minmax(used, {}, [v](const ScalingCell& cell) { return cell.x[v]; });
    for (const bool smallest : {true, false}) {
      const double dropped = smallest ? least.x[v] : most.x[v];
      const SurfaceData part =
          part_of(data, [&](std::size_t i) { return used[i].x[v] != dropped; });
      const LocalMinimum free = refined(part, result.robust, best.at, floor.has_value());
      SurfaceProblem held(part, result.robust, best.at);
      held.hold(2 + 2 * v);
      if (floor) held.hold(0);
      (smallest ? term.without_smallest : term.without_largest) = free.at[2 + 2 * v];
      term.window_dependent = term.window_dependent || held.solve().sum > free.sum + rise;
    }
  }
}

}  // namespace

FloorSurface fit_floor_surface(std::vector<ScalingCell> cells,
                               const std::vector<std::string>& names,
                               const FloorSurfaceOptions& options) {
  validate_cells(cells, names);
  std::ranges::sort(cells, {}, &ScalingCell::x);
  FloorSurface result;
  result.robust = options.robust;
  std::vector<ScalingCell> used;
  std::vector<std::size_t> place;
  for (const ScalingCell& cell : cells) {
    const bool finite =
        std::ranges::all_of(cell.samples, [](double y) { return std::isfinite(y); });
    result.cells.push_back({.x = cell.x, .replicates = cell.samples.size(), .used = finite});
    if (!finite) continue;
    place.push_back(result.cells.size() - 1);
    used.push_back(cell);
  }
  double largest = 0;
  for (const ScalingCell& cell : used) largest = std::max(largest, std::ranges::max(cell.samples));
  result.weakness = other_unit(largest);
  if (!result.weakness.empty()) return result;
  const std::size_t parameters = 2 * names.size() + (options.floor ? 0 : 1);
  if (used.size() < parameters + 1) {
    result.weakness = fmt::format(
        "{} combinations of sizes reach the target in every replicate; a fit of {} parameters "
        "needs {}",
        used.size(),
        parameters,
        parameters + 1);
    return result;
  }
  constexpr std::size_t kOfATerm = 3;  // values of a size that a power beside a floor needs
  for (std::size_t v = 0; v < names.size(); ++v) {
    if (!enough_sizes(used, v, kOfATerm)) {
      result.weakness = fmt::format("fewer than {} values of {}", kOfATerm, names[v]);
      return result;
    }
  }
  if (options.robust) {
    for (const ScalingCell& cell : used) {
      if (cell.samples.size() >= kFewestSeeds) continue;
      result.weakness = fmt::format("fewer than {} replicates at {} = {}, which a robust fit needs",
                                    kFewestSeeds,
                                    names[0],
                                    cell.x[0]);
      return result;
    }
  }
  SurfaceData data;
  center_sizes(used, data);
  std::vector<std::span<const double>> samples;
  for (const ScalingCell& cell : used) samples.emplace_back(cell.samples);
  WeightedMeans means = weighted_means(samples);
  data.y = means.mean;
  data.weight = means.weight;
  if (options.robust) use_medians(used, data);
  std::vector<LocalMinimum> minima;
  for (const LocalMinimum& start : grid_minima(data, options.floor)) {
    const LocalMinimum m = refined(data, options.robust, start.at, options.floor.has_value());
    const bool known = std::ranges::any_of(
        minima, [&](const LocalMinimum& other) { return same_exponents(m.at, other.at); });
    if (std::isfinite(m.sum) && !known) minima.push_back(m);
  }
  std::ranges::sort(minima, {}, &LocalMinimum::sum);
  const auto at_edge = [](const Parameters& at) {
    constexpr double kEdge = 0.02;
    for (std::size_t k = 2; k < at.size(); k += 2) {
      if (std::abs(at[k]) > kSteepestTerm - kEdge) return true;
    }
    return false;
  };
  if (minima.empty() || at_edge(minima.front().at)) {
    result.weakness =
        fmt::format("no exponents between {} and {} fit best", -kSteepestTerm, kSteepestTerm);
    return result;
  }
  const LocalMinimum& best = minima.front();
  result.fitted = true;
  result.floor = best.at[0];
  for (std::size_t v = 0; v < names.size(); ++v) {
    result.terms.push_back(
        {.exponent = best.at[2 + 2 * v],
         .prefactor = best.at[1 + 2 * v] * std::exp(-best.at[2 + 2 * v] * data.log_scale[v])});
  }
  result.degrees = used.size() - parameters;
  for (std::size_t i = 0; i < used.size(); ++i) {
    FloorCell& cell = result.cells[place[i]];
    cell.mean = data.y[i];
    if (!options.robust && means.spread_degrees > 0) cell.error = 1 / std::sqrt(data.weight[i]);
    cell.fitted = best.at[0];
    for (std::size_t v = 0; v < names.size(); ++v)
      cell.fitted += best.at[1 + 2 * v] * std::exp(best.at[2 + 2 * v] * data.log_x[i][v]);
  }
  result.weakness = surface_weakness(used, names);
  double rise = 0;
  if (options.robust) {
    use_resamples(data, best, options.floor, options.seed, result);
    const double z = normal_quantile(kLevel95);
    rise = z * z;
  } else {
    const Limits limits = use_errors(result, best, means.spread_degrees);
    use_profiles(data, best, options.floor, limits, result);
    rise = limits.at95 - best.sum;
    SurfaceProblem at_best(data, false, best.at);
    if (options.floor) at_best.hold(0);
    result.covariance = at_best.covariance();
    for (auto& row : result.covariance) {
      for (double& each : row) each *= limits.unit;
    }
    // Of the prefactors at the mean sizes that of those of x itself: A = A' scale^-p.
    for (std::size_t v = 0; v < names.size() && !result.covariance.empty(); ++v) {
      const std::size_t a = 2 * v + (options.floor ? 0 : 1);
      const double scale = std::exp(-best.at[2 + 2 * v] * data.log_scale[v]);
      const double slope = -result.terms[v].prefactor * data.log_scale[v];
      auto& c = result.covariance;
      for (auto& row : c) row[a] = scale * row[a] + slope * row[a + 1];
      for (std::size_t k = 0; k < c.size(); ++k) c[a][k] = scale * c[a][k] + slope * c[a + 1][k];
    }
    for (std::size_t k = 1; k < minima.size(); ++k) {
      if (minima[k].sum > limits.at95) break;
      std::vector<double> exponents;
      bool apart = false;
      for (std::size_t v = 0; v < names.size(); ++v) {
        exponents.push_back(minima[k].at[2 + 2 * v]);
        apart = apart || !result.terms[v].interval95.contains(exponents.back());
      }
      if (apart) {
        result.other_optimum = exponents;
        break;
      }
    }
  }
  use_windows(used, data, best, options.floor, rise, result);
  const bool level = std::ranges::none_of(
      result.terms, [](const FloorTerm& t) { return t.interval95.contains(0); });
  if (result.weakness.empty() && result.p_value < kPoorJointFit)
    result.weakness = "the residuals are larger than the errors of the means";
  if (result.weakness.empty() && !level)
    result.weakness =
        "the interval of an exponent holds 0: nothing shows that the curve levels off";
  return result;
}

}  // namespace attica
