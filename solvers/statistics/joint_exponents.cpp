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
#include "attica/solvers/statistics/order_statistics.hpp"

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

double log_median(std::vector<double> samples, double cap) {
  const double m = median(std::move(samples));
  return std::log(std::isinf(m) ? cap : m);
}

/// The exponent of variable v without the cells at one of its values; empty if nothing is left to
/// fit it to.
std::optional<double> exponent_without(const MatrixXd& x, const VectorXd& y, Index v, double ln_x) {
  std::vector<Index> kept;
  for (Index i = 0; i < x.rows(); ++i) {
    if (x(i, 1 + v) != ln_x) kept.push_back(i);
  }
  const MatrixXd rest = x(kept, Eigen::all);
  if (!full_rank(rest)) return std::nullopt;
  const VectorXd values = y(kept);
  return least_squares(rest, values)(1 + v);
}

std::string weakness_of(const std::vector<ScalingCell>& used,
                        const std::vector<std::string>& names,
                        std::size_t degrees) {
  if (degrees == 0) return "no more combinations of sizes than coefficients";
  for (std::size_t v = 0; v < names.size(); ++v) {
    std::set<double> sizes;
    for (const ScalingCell& cell : used) sizes.insert(cell.x[v]);
    if (sizes.size() < kFewestSizes)
      return fmt::format("fewer than {} values of {}", kFewestSizes, names[v]);
    if (*sizes.rbegin() < kSmallestSpan * *sizes.begin())
      return fmt::format("{} spans less than a factor {}", names[v], kSmallestSpan);
  }
  for (const ScalingCell& cell : used) {
    if (cell.samples.size() < kFewestSeeds)
      return fmt::format("fewer than {} replicates at {} = {}", kFewestSeeds, names[0], cell.x[0]);
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
                             std::uint64_t seed) {
  validate(cells, names, correction);
  std::ranges::sort(cells, {}, &ScalingCell::x);
  JointFit fit;
  std::vector<ScalingCell> used;
  std::vector<std::size_t> place;  // of used cells among all
  for (const ScalingCell& cell : cells) {
    JointMedian m{.x = cell.x,
                  .median = std::exp(log_median(cell.samples, cell.cap)),
                  .seeds = cell.samples.size()};
    m.censored = static_cast<std::size_t>(
        std::ranges::count_if(cell.samples, [](double y) { return std::isinf(y); }));
    m.used = 4 * m.censored <= m.seeds;
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
    y(i) = log_median(cell.samples, cell.cap);
  }
  fit.fitted = true;
  fit.degrees = used.size() - coefficients;
  fit.weakness = weakness_of(used, names, fit.degrees);
  const VectorXd best = least_squares(x, y);
  fit.intercept = best(0);
  if (correction.kind != CorrectionKind::none) fit.correction = best(best.size() - 1);

  // One stream for each (resample, cell), as fit_exponent has: equal results where they coincide.
  MatrixXd values(n, static_cast<Index>(kResamples));
  std::vector<double> drawn;
  for (std::size_t b = 0; b < kResamples; ++b) {
    for (Index i = 0; i < n; ++i) {
      const ScalingCell& cell = used[static_cast<std::size_t>(i)];
      RandomStream stream({.seed = seed,
                           .id = StreamId::bootstrap,
                           .point = static_cast<std::uint64_t>(i),
                           .replicate = b});
      drawn.resize(cell.samples.size());
      for (double& d : drawn) d = cell.samples[stream.below(cell.samples.size())];
      values(i, static_cast<Index>(b)) = log_median(drawn, cell.cap);
    }
  }
  const MatrixXd resampled = x.colPivHouseholderQr().solve(values);

  const auto variables = static_cast<Index>(names.size());
  const MatrixXd centred = resampled.colwise() - resampled.rowwise().mean();
  MatrixXd covariance = centred * centred.transpose() / static_cast<double>(kResamples - 1);
  const auto fewest = std::ranges::min_element(
      used, {}, [](const ScalingCell& cell) { return cell.samples.size(); });
  const bool lone = fewest->samples.size() == 1;
  const Scatter scatter = scatter_about(x, y, best);
  // Of fewer than 8 replicates the resamples give too little.
  fit.from_scatter = lone || (fewest->samples.size() < kFewestSeeds && fit.degrees > 0 &&
                              scatter.covariance.trace() > covariance.trace());
  if (fit.from_scatter) covariance = scatter.covariance;
  for (Index v = 0; v < variables; ++v) {
    const std::vector<double> slopes = row(resampled, 1 + v);
    JointExponent e{.exponent = best(1 + v),
                    .interval95 = interval_of(slopes, kLevel95),
                    .interval90 = interval_of(slopes, kLevel90)};
    if (fit.from_scatter) {
      e.interval95 = around(e.exponent, covariance(1 + v, 1 + v), scatter.t95);
      e.interval90 = around(e.exponent, covariance(1 + v, 1 + v), scatter.t90);
    }
    const VectorXd ln_x = x.col(1 + v);
    const auto smaller = exponent_without(x, y, v, ln_x.minCoeff());
    const auto larger = exponent_without(x, y, v, ln_x.maxCoeff());
    e.without_smallest = smaller.value_or(e.exponent);
    e.without_largest = larger.value_or(e.exponent);
    e.window_dependent =
        !e.interval95.contains(e.without_smallest) || !e.interval95.contains(e.without_largest);
    if ((!smaller || !larger) && fit.weakness.empty())
      fit.weakness =
          fmt::format("too few values of {} to leave one out", names[static_cast<std::size_t>(v)]);
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
  if (fit.degrees > 0 && errors.minCoeff() > 0) {
    const VectorXd weights = errors.cwiseInverse();
    const MatrixXd weighted = weights.asDiagonal() * x;
    const VectorXd target = weights.asDiagonal() * y;
    fit.chi_square = (target - weighted * least_squares(weighted, target)).squaredNorm();
    fit.p_value = chi_square_tail(fit.chi_square, static_cast<double>(fit.degrees));
  }
  return fit;
}

ExponentVerdict judge_interval(const Interval& interval90,
                               const Interval& interval95,
                               double predicted,
                               double tolerance) {
  const Interval accepted{predicted - tolerance, predicted + tolerance};
  if (accepted.contains(interval90)) return ExponentVerdict::agrees;
  const bool missed = interval95.high < accepted.low || interval95.low > accepted.high;
  return missed ? ExponentVerdict::violated : ExponentVerdict::undecided;
}

ExponentVerdict judge_joint_exponent(const JointFit& fit,
                                     std::size_t variable,
                                     double predicted,
                                     double tolerance) {
  if (!fit.fitted || !fit.weakness.empty()) return ExponentVerdict::undecided;
  const JointExponent& e = fit.exponents.at(variable);
  if (e.window_dependent) return ExponentVerdict::undecided;
  return judge_interval(e.interval90, e.interval95, predicted, tolerance);
}

}  // namespace attica
