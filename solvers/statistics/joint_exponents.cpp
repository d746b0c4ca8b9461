#include "attica/solvers/statistics/joint_exponents.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/exponent_rules.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/solvers/statistics/quantile_limits.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void validate(const std::vector<ScalingCell>& cells,
              const std::vector<std::string>& names,
              const Correction& correction) {
  require(!names.empty(), "variables", 0, "at least one");
  require(correction.variable < names.size(),
          "correction",
          static_cast<double>(correction.variable),
          "one of the variables");
  std::set<std::vector<double>> seen;
  for (const ScalingCell& cell : cells) {
    require(cell.x.size() == names.size(),
            "sizes",
            static_cast<double>(cell.x.size()),
            fmt::format("one for each of {} variables", names.size()));
    for (std::size_t v = 0; v < names.size(); ++v)
      require(std::isfinite(cell.x[v]) && cell.x[v] > 0, names[v], cell.x[v], "a number > 0");
    require(seen.insert(cell.x).second, names[0], cell.x[0], "every combination of sizes once");
    require(!cell.samples.empty(), "replicates", 0, "at least one at every combination of sizes");
    for (const double y : cell.samples) {
      require(y > 0, "samples", y, "numbers > 0, infinity for a target never reached");
      require(!std::isinf(y) || (std::isfinite(cell.cap) && cell.cap > 0),
              "cap",
              cell.cap,
              "the samples at which a run was stopped, where targets were not reached");
    }
    if (correction.kind == CorrectionKind::logarithm) {
      require(cell.x[correction.variable] > 1,
              names[correction.variable],
              cell.x[correction.variable],
              "sizes > 1 for a power of the logarithm");
    }
  }
}

double correction_term(CorrectionKind kind, double x) {
  switch (kind) {
    case CorrectionKind::logarithm:
      return std::log(std::log(x));
    case CorrectionKind::inverse:
      return 1 / x;
    case CorrectionKind::inverse_root:
      return 1 / std::sqrt(x);
    case CorrectionKind::none:
      break;
  }
  return 0;
}

/// Columns: 1, ln x_1, ln x_2, ..., and the correction's.
MatrixXd design(const std::vector<ScalingCell>& cells, const Correction& correction) {
  const auto variables = static_cast<Index>(cells.front().x.size());
  const bool corrected = correction.kind != CorrectionKind::none;
  MatrixXd x(static_cast<Index>(cells.size()), 1 + variables + (corrected ? 1 : 0));
  for (Index i = 0; i < x.rows(); ++i) {
    const std::vector<double>& sizes = cells[static_cast<std::size_t>(i)].x;
    x(i, 0) = 1;
    for (Index v = 0; v < variables; ++v)
      x(i, 1 + v) = std::log(sizes[static_cast<std::size_t>(v)]);
    if (corrected)
      x(i, 1 + variables) = correction_term(correction.kind, sizes[correction.variable]);
  }
  return x;
}

/// Whether its columns are linearly independent: with unit columns, to nine digits.
bool full_rank(const MatrixXd& x) {
  constexpr double kDigits = 1e-9;
  if (x.rows() < x.cols()) return false;
  MatrixXd unit = x.colwise().normalized();
  Eigen::ColPivHouseholderQR<MatrixXd> qr(unit);
  qr.setThreshold(kDigits);
  return qr.rank() == x.cols();
}

VectorXd least_squares(const MatrixXd& x, const VectorXd& y) {
  return x.colPivHouseholderQr().solve(y);
}

double log_quantile(std::vector<double> samples, double cap, double p) {
  const double m = censored_quantile(std::move(samples), p);
  return std::log(std::isinf(m) ? cap : m);
}

/// p-value of Levene's test, about medians, that the spreads of ln samples are the same (Brown and
/// Forsythe 1974), with chi square for F; 0 if some cells have a spread and others none.
double equal_log_spreads(const std::vector<ScalingCell>& cells) {
  std::vector<std::vector<double>> distances;
  double total = 0;
  double sum = 0;
  for (const ScalingCell& cell : cells) {
    std::vector<double> logs;
    for (const double y : cell.samples) logs.push_back(std::log(std::isinf(y) ? cell.cap : y));
    const double centre = median(logs);
    for (double& each : logs) each = std::abs(each - centre);
    for (const double each : logs) sum += each;
    total += static_cast<double>(logs.size());
    distances.push_back(std::move(logs));
  }
  double between = 0;
  double within = 0;
  for (const std::vector<double>& one : distances) {
    const auto n = static_cast<double>(one.size());
    double mean = 0;
    for (const double each : one) mean += each / n;
    between += n * (mean - sum / total) * (mean - sum / total);
    for (const double each : one) within += (each - mean) * (each - mean);
  }
  const auto groups = static_cast<double>(cells.size());
  if (between == 0 || total <= groups) return 1;
  if (within == 0) return 0;
  return chi_square_tail(between / (within / (total - groups)), groups - 1);
}

/// What rows of the design are multiplied with: one over a cell's error, up to a factor.
VectorXd weights_of(const std::vector<ScalingCell>& used, const MatrixXd& resampled) {
  constexpr double kUnequal = 0.01;
  VectorXd weights(static_cast<Index>(used.size()));
  for (Index i = 0; i < weights.size(); ++i)
    weights(i) = std::sqrt(static_cast<double>(used[static_cast<std::size_t>(i)].samples.size()));
  if (equal_log_spreads(used) > kUnequal) return weights / weights.maxCoeff();
  VectorXd variances(weights.size());
  for (Index i = 0; i < weights.size(); ++i)
    variances(i) = (resampled.row(i).array() - resampled.row(i).mean()).square().mean();
  if (!(variances.maxCoeff() > 0)) return weights / weights.maxCoeff();
  // A spread of zero by chance would weigh without limit.
  constexpr double kLeastShare = 1e-2;
  variances = variances.cwiseMax(kLeastShare * variances.mean());
  weights = variances.cwiseSqrt().cwiseInverse();
  return weights / weights.maxCoeff();
}

/// The exponent of variable v without the cells at one of its values; empty if nothing is left to
/// fit it to.
/// @param x, y  of the unweighted problem
std::optional<double> exponent_without(
    const MatrixXd& x, const VectorXd& y, const VectorXd& weights, Index v, double ln_x) {
  std::vector<Index> kept;
  for (Index i = 0; i < x.rows(); ++i) {
    if (x(i, 1 + v) != ln_x) kept.push_back(i);
  }
  const MatrixXd rest = x(kept, Eigen::all);
  if (!full_rank(rest)) return std::nullopt;
  const VectorXd of_rest = weights(kept);
  const VectorXd values = of_rest.cwiseProduct(y(kept));
  return least_squares(of_rest.asDiagonal() * rest, values)(1 + v);
}

/// Why the sizes of one variable cannot carry a verdict.
std::string weakness_of(const std::vector<ScalingCell>& used, const std::string& name, Index v) {
  std::set<double> sizes;
  for (const ScalingCell& cell : used) sizes.insert(cell.x[static_cast<std::size_t>(v)]);
  if (sizes.size() < kFewestSizes)
    return fmt::format("fewer than {} values of {}", kFewestSizes, name);
  if (*sizes.rbegin() < kSmallestSpan * *sizes.begin())
    return fmt::format("{} spans less than a factor {}", name, kSmallestSpan);
  return "";
}

std::string weakness_of(const std::vector<ScalingCell>& used,
                        const std::vector<std::string>& names,
                        std::size_t degrees,
                        double quantile) {
  if (degrees == 0) return "no more combinations of sizes than coefficients";
  for (const ScalingCell& cell : used) {
    const std::size_t fewest = fewest_seeds(cell.quantile.value_or(quantile));
    if (cell.samples.size() < fewest)
      return fmt::format("fewer than {} replicates at {} = {}", fewest, names[0], cell.x[0]);
  }
  return "";
}

Interval interval_of(std::vector<double> sorted, double level) {
  std::ranges::sort(sorted);
  return {quantile(sorted, level), quantile(sorted, 1 - level)};
}

/// Errors of the coefficients from the scatter about the fit, in place of smaller ones from
/// replicates; always where a cell has only one.
struct Scatter {
  MatrixXd covariance;
  double t95 = std::numeric_limits<double>::infinity();
  double t90 = std::numeric_limits<double>::infinity();
};

Scatter scatter_about(const MatrixXd& x, const VectorXd& y, const VectorXd& best) {
  const auto degrees = static_cast<double>(x.rows() - x.cols());
  Scatter s{.covariance = (x.transpose() * x).inverse()};
  if (degrees < 1) return s;
  s.covariance *= (y - x * best).squaredNorm() / degrees;
  s.t95 = student_quantile(kLevel95, degrees);
  s.t90 = student_quantile(kLevel90, degrees);
  return s;
}

Interval around(double centre, double variance, double t) {
  const double half = t * std::sqrt(variance);
  return {centre - half, centre + half};
}

std::vector<double> row(const MatrixXd& m, Index i) {
  std::vector<double> values(static_cast<std::size_t>(m.cols()));
  for (Index k = 0; k < m.cols(); ++k) values[static_cast<std::size_t>(k)] = m(i, k);
  return values;
}

}  // namespace

std::string describe(const Correction& correction, const std::string& variable) {
  switch (correction.kind) {
    case CorrectionKind::logarithm:
      return fmt::format("times (ln {})^c", variable);
    case CorrectionKind::inverse:
      return fmt::format("times exp(c/{})", variable);
    case CorrectionKind::inverse_root:
      return fmt::format("times exp(c/sqrt {})", variable);
    case CorrectionKind::none:
      break;
  }
  return "power law";
}

JointFit fit_joint_exponents(std::vector<ScalingCell> cells,
                             const std::vector<std::string>& names,
                             const Correction& correction,
                             std::uint64_t seed,
                             double quantile_level) {
  validate(cells, names, correction);
  require(quantile_level > 0 && quantile_level < 1,
          "quantile",
          quantile_level,
          "a number above 0 and below 1");
  std::ranges::sort(cells, {}, &ScalingCell::x);
  JointFit fit;
  std::vector<ScalingCell> used;
  std::vector<std::size_t> place;  // of used cells among all
  for (const ScalingCell& cell : cells) {
    JointMedian m{.x = cell.x,
                  .median = std::exp(
                      log_quantile(cell.samples, cell.cap, cell.quantile.value_or(quantile_level))),
                  .seeds = cell.samples.size()};
    m.censored = static_cast<std::size_t>(
        std::ranges::count_if(cell.samples, [](double y) { return std::isinf(y); }));
    m.used = reached_often_enough(m.censored, m.seeds, cell.quantile.value_or(quantile_level));
    if (m.used) {
      place.push_back(fit.medians.size());
      used.push_back(cell);
    }
    fit.medians.push_back(std::move(m));
  }
  const auto coefficients =
      names.size() + (correction.kind == CorrectionKind::none ? std::size_t{1} : std::size_t{2});
  if (used.size() < std::max<std::size_t>(coefficients, 3)) {
    fit.weakness = fmt::format(
        "{} combinations of sizes reach the target often enough for {} "
        "coefficients; expected 3 or more, and as many as coefficients",
        used.size(),
        coefficients);
    return fit;
  }
  const MatrixXd x = design(used, correction);
  if (!full_rank(x)) {
    fit.weakness = "the sizes do not vary independently of each other";
    return fit;
  }
  const Index n = x.rows();
  VectorXd y(n);
  for (Index i = 0; i < n; ++i) {
    const ScalingCell& cell = used[static_cast<std::size_t>(i)];
    y(i) = log_quantile(cell.samples, cell.cap, cell.quantile.value_or(quantile_level));
  }
  fit.fitted = true;
  fit.degrees = used.size() - coefficients;
  // One stream for each (resample, cell), as fit_exponent has: equal results where they coincide.
  MatrixXd values(n, static_cast<Index>(kResamples));
  std::vector<double> drawn;
  for (std::size_t b = 0; b < kResamples; ++b) {
    for (Index i = 0; i < n; ++i) {
      const ScalingCell& cell = used[static_cast<std::size_t>(i)];
      RandomStream stream({.seed = seed,
                           .id = StreamId::bootstrap,
                           .point = cell.replicates_of.value_or(static_cast<std::size_t>(i)),
                           .replicate = b});
      drawn.resize(cell.samples.size());
      for (double& d : drawn) d = cell.samples[stream.below(cell.samples.size())];
      values(i, static_cast<Index>(b)) =
          log_quantile(drawn, cell.cap, cell.quantile.value_or(quantile_level));
    }
  }
  const VectorXd weights = weights_of(used, values);
  const MatrixXd weighted = weights.asDiagonal() * x;
  const VectorXd target = weights.cwiseProduct(y);
  const VectorXd best = least_squares(weighted, target);
  fit.intercept = best(0);
  fit.prefactor = std::exp(best(0));
  if (correction.kind != CorrectionKind::none) fit.correction = best(best.size() - 1);
  const MatrixXd resampled =
      weighted.colPivHouseholderQr().solve(MatrixXd(weights.asDiagonal() * values));

  const auto variables = static_cast<Index>(names.size());
  const MatrixXd centred = resampled.colwise() - resampled.rowwise().mean();
  MatrixXd covariance = centred * centred.transpose() / static_cast<double>(kResamples - 1);
  const auto fewest = std::ranges::min_element(
      used, {}, [](const ScalingCell& cell) { return cell.samples.size(); });
  const bool lone = fewest->samples.size() == 1;
  const Scatter scatter = scatter_about(weighted, target, best);
  // Of fewer than 8 replicates the resamples give too little.
  fit.from_scatter = lone || (fewest->samples.size() < fewest_seeds(quantile_level) &&
                              fit.degrees > 0 && scatter.covariance.trace() > covariance.trace());
  if (fit.from_scatter) covariance = scatter.covariance;
  const Interval log_prefactor = fit.from_scatter
                                     ? around(fit.intercept, covariance(0, 0), scatter.t95)
                                     : interval_of(row(resampled, 0), kLevel95);
  fit.prefactor95 = {std::exp(log_prefactor.low), std::exp(log_prefactor.high)};
  const double joint_level = kLevel95 / static_cast<double>(variables);
  const double joint_t = fit.from_scatter && fit.degrees > 0
                             ? student_quantile(joint_level, static_cast<double>(fit.degrees))
                             : std::numeric_limits<double>::infinity();
  std::string of_variables;
  for (Index v = 0; v < variables; ++v) {
    const std::vector<double> slopes = row(resampled, 1 + v);
    JointExponent e{.exponent = best(1 + v),
                    .interval95 = interval_of(slopes, kLevel95),
                    .interval90 = interval_of(slopes, kLevel90),
                    .interval_joint = interval_of(slopes, joint_level),
                    .weakness = weakness_of(used, names[static_cast<std::size_t>(v)], v)};
    if (fit.from_scatter) {
      e.interval95 = around(e.exponent, covariance(1 + v, 1 + v), scatter.t95);
      e.interval90 = around(e.exponent, covariance(1 + v, 1 + v), scatter.t90);
      e.interval_joint = around(e.exponent, covariance(1 + v, 1 + v), joint_t);
    }
    const VectorXd ln_x = x.col(1 + v);
    const auto smaller = exponent_without(x, y, weights, v, ln_x.minCoeff());
    const auto larger = exponent_without(x, y, weights, v, ln_x.maxCoeff());
    e.without_smallest = smaller.value_or(e.exponent);
    e.without_largest = larger.value_or(e.exponent);
    e.window_dependent =
        !e.interval95.contains(e.without_smallest) || !e.interval95.contains(e.without_largest);
    if ((!smaller || !larger) && e.weakness.empty())
      e.weakness =
          fmt::format("too few values of {} to leave one out", names[static_cast<std::size_t>(v)]);
    if (of_variables.empty()) of_variables = e.weakness;
    fit.exponents.push_back(e);
    fit.covariance.emplace_back();
    for (Index w = 0; w < variables; ++w) fit.covariance.back().push_back(covariance(1 + v, 1 + w));
  }
  if (correction.kind != CorrectionKind::none) {
    const Index last = x.cols() - 1;
    fit.correction95 = fit.from_scatter
                           ? around(fit.correction, covariance(last, last), scatter.t95)
                           : interval_of(row(resampled, last), kLevel95);
  }

  const std::string of_cells = weakness_of(used, names, fit.degrees, quantile_level);
  fit.cells_weakness = of_cells;
  fit.weakness = fit.degrees == 0 || of_variables.empty() ? of_cells : of_variables;

  // How well the form fits: weighted by what the resamples say of every median.
  VectorXd errors(n);
  const VectorXd fitted = x * best;
  for (Index i = 0; i < n; ++i) {
    const VectorXd one = values.row(i);
    errors(i) =
        std::sqrt((one.array() - one.mean()).square().sum() / static_cast<double>(kResamples - 1));
    JointMedian& m = fit.medians[place[static_cast<std::size_t>(i)]];
    m.error = errors(i);
    m.fitted = std::exp(fitted(i));
  }
  const bool apart = std::ranges::none_of(
      used, [](const ScalingCell& cell) { return cell.replicates_of.has_value(); });
  if (apart && !lone && fit.degrees > 0 && errors.minCoeff() > 0) {
    const VectorXd inverse = errors.cwiseInverse();
    const MatrixXd by_errors = inverse.asDiagonal() * x;
    const VectorXd values_by_errors = inverse.cwiseProduct(y);
    fit.chi_square =
        (values_by_errors - by_errors * least_squares(by_errors, values_by_errors)).squaredNorm();
    fit.p_value = chi_square_tail(fit.chi_square, static_cast<double>(fit.degrees));
  }
  return fit;
}

ExponentVerdict judge_interval(const Interval& interval90,
                               const Interval& interval95,
                               double predicted,
                               double tolerance) {
  return judge_prediction(interval90, interval95, {}, predicted, tolerance);
}

namespace {

std::vector<double> windows_of(const JointExponent& e) {
  if (!e.window_dependent) return {};
  return {e.without_smallest, e.without_largest};
}

}  // namespace

JointBound judge_joint_bound(const JointFit& fit,
                             const std::vector<StatedExponent>& stated,
                             double tolerance) {
  JointBound bound;
  if (!fit.fitted) {
    bound.each.assign(stated.size(), ExponentVerdict::undecided);
    bound.reason = fit.weakness;
    return bound;
  }
  const bool poor = fit.degrees > 0 && fit.p_value < kPoorJointFit;
  for (const StatedExponent& one : stated) {
    const JointExponent& e = fit.exponents.at(one.variable);
    std::vector<double> windows = windows_of(e);
    if (poor) windows = {e.exponent, e.without_smallest, e.without_largest};
    ExponentVerdict verdict =
        judge_bounded(e.interval95, e.interval_joint, windows, one.exponent, tolerance);
    std::string reason = !fit.cells_weakness.empty() ? fit.cells_weakness : e.weakness;
    if (reason.empty() && poor && verdict != ExponentVerdict::violated)
      reason = "the residuals are larger than the errors of the medians";
    if (!reason.empty()) verdict = ExponentVerdict::undecided;
    if (bound.reason.empty() && verdict == ExponentVerdict::undecided) bound.reason = reason;
    bound.each.push_back(verdict);
  }
  const auto is = [&](auto... verdicts) {
    return [=](ExponentVerdict v) { return ((v == verdicts) || ...); };
  };
  using enum ExponentVerdict;
  bound.verdict = std::ranges::any_of(bound.each, is(violated))                ? violated
                  : std::ranges::all_of(bound.each, is(vacuous))               ? vacuous
                  : std::ranges::all_of(bound.each, is(within_bound, vacuous)) ? within_bound
                                                                               : undecided;
  return bound;
}

ExponentVerdict judge_joint_exponent(const JointFit& fit,
                                     std::size_t variable,
                                     double predicted,
                                     double tolerance) {
  if (!fit.fitted || !fit.weakness.empty()) return ExponentVerdict::undecided;
  const JointExponent& e = fit.exponents.at(variable);
  return judge_prediction(e.interval90, e.interval95, windows_of(e), predicted, tolerance);
}

}  // namespace attica
