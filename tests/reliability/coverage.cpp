/// @file
/// @brief How often the 95 % intervals of fits and constants hold the truth, and how wide they are
/// next to the least-squares error of the same data: the table of docs/notes/error-rates.md.
///
///     attica-coverage [DATA_SETS] [TEXT]
///
/// Prints a line for every kind of data whose name contains TEXT, from so many data sets (400).

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/solvers/statistics/exponent_rules.hpp"
#include "attica/solvers/statistics/floor_fit.hpp"
#include "attica/solvers/statistics/floor_surface.hpp"
#include "attica/solvers/statistics/joint_exponents.hpp"
#include "attica/solvers/statistics/smallest_constant.hpp"

using namespace attica;

namespace {

constexpr double kNormal95 = 1.959963984540054;   // 0.975-quantile
constexpr double kNormal90 = 1.2815515655446004;  // 0.9-quantile

/// A number of the data, with its interval in one data set.
struct Held {
  std::string name;
  double truth = 0;
  Interval interval;
  double least_squares = 0;  ///< its standard error with known spreads; 0: none to compare with
};

struct Kind {
  std::string name;
  std::function<std::vector<Held>(RandomStream&, std::uint64_t)> draw;
};

/// Standard errors of least squares: rows of the Jacobian over the error of their value.
std::vector<double> least_squares_errors(const std::vector<std::vector<double>>& rows) {
  Eigen::MatrixXd j(rows.size(), rows.front().size());
  for (Eigen::Index i = 0; i < j.rows(); ++i) {
    for (Eigen::Index k = 0; k < j.cols(); ++k)
      j(i, k) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
  }
  // Columns of unit length: prefactors and exponents differ by orders of magnitude.
  const Eigen::VectorXd norms = j.colwise().norm();
  j *= norms.cwiseInverse().asDiagonal();
  const Eigen::VectorXd variances = (j.transpose() * j).inverse().diagonal();
  std::vector<double> errors;
  for (Eigen::Index k = 0; k < variances.size(); ++k)
    errors.push_back(std::sqrt(variances(k)) / norms(k));
  return errors;
}

std::vector<double> doubled(double from, std::size_t count, double factor = 2) {
  std::vector<double> x(count);
  for (std::size_t k = 0; k < count; ++k) x[k] = from * std::pow(factor, static_cast<double>(k));
  return x;
}

/// y = floor + C x^p of one size.
struct FloorLaw {
  double floor;
  double prefactor;
  double exponent;
  std::vector<double> x;
  std::size_t replicates;
  double noise = 0.01;
};

std::vector<Held> floors(const FloorLaw& law, RandomStream& stream) {
  std::vector<ScalingPoint> points;
  std::vector<std::vector<double>> rows;
  for (const double x : law.x) {
    ScalingPoint p{.x = x, .samples = {}};
    const double power = std::pow(x, law.exponent);
    const double y = law.floor + law.prefactor * power;
    for (std::size_t r = 0; r < law.replicates; ++r)
      p.samples.push_back(y * (1 + law.noise * stream.normal()));
    points.push_back(std::move(p));
    const double error = law.noise * y / std::sqrt(static_cast<double>(law.replicates));
    rows.push_back({1 / error, power / error, law.prefactor * power * std::log(x) / error});
  }
  const std::vector<double> errors = least_squares_errors(rows);
  const FloorFit fit = fit_with_floor(points, {});
  return {{"floor", law.floor, fit.floor95, errors[0]},
          {"exponent", law.exponent, fit.exponent.interval95, errors[2]},
          {"prefactor", law.prefactor, fit.prefactor95, errors[1]}};
}

Kind floor_kind(const std::string& name, FloorLaw law) {
  return {name, [law = std::move(law)](RandomStream& stream, std::uint64_t) {
            return floors(law, stream);
          }};
}

/// 1.7 + 400 N^-0.34 + 410 D^-0.28 at 5 x 6 sizes; a share of the replicates is twice its value.
std::vector<Held> losses(std::size_t replicates, double wild, RandomStream& stream) {
  const FloorSurfaceOptions options{.robust = wild > 0};
  std::vector<ScalingCell> cells;
  std::vector<std::vector<double>> rows;
  constexpr double kNoise = 0.01;
  for (const double n : doubled(1e6, 5, 4)) {
    for (const double d : doubled(1e7, 6, 4)) {
      ScalingCell cell{.x = {n, d}, .samples = {}};
      const double a = std::pow(n, -0.34);
      const double b = std::pow(d, -0.28);
      const double y = 1.7 + 400 * a + 410 * b;
      for (std::size_t r = 0; r < replicates; ++r) {
        const bool far = wild > 0 && stream.uniform() < wild;
        cell.samples.push_back((far ? 2 : 1) * y * (1 + kNoise * stream.normal()));
      }
      cells.push_back(std::move(cell));
      const double e = kNoise * y / std::sqrt(static_cast<double>(replicates));
      rows.push_back({1 / e, a / e, 400 * a * std::log(n) / e, b / e, 410 * b * std::log(d) / e});
    }
  }
  const std::vector<double> errors = least_squares_errors(rows);
  const FloorSurface fit = fit_floor_surface(cells, {"N", "D"}, options);
  return {{"floor", 1.7, fit.floor95, errors[0]},
          {"exponent of N", -0.34, fit.terms[0].interval95, errors[2]},
          {"exponent of D", -0.28, fit.terms[1].interval95, errors[4]}};
}

/// Noise of samples with its p-quantile, and the density of ln noise there.
struct Noise {
  std::function<double(RandomStream&)> draw;
  std::function<double(double)> quantile;
  std::function<double(double)> log_density;  ///< of ln noise at its p-quantile
};

Noise lognormal(double sigma) {
  const auto z = [](double p) { return p == 0.5 ? 0.0 : kNormal90; };  // of those used below
  return {[sigma](RandomStream& s) { return std::exp(sigma * s.normal()); },
          [sigma, z](double p) { return std::exp(sigma * z(p)); },
          [sigma, z](double p) {
            return std::exp(-z(p) * z(p) / 2) / (sigma * std::sqrt(2 * 3.14159265358979324));
          }};
}

Noise exponential() {
  return {[](RandomStream& s) { return -std::log(s.uniform()); },
          [](double p) { return -std::log1p(-p); },
          [](double p) { return -std::log1p(-p) * (1 - p); }};
}

/// n* = 2 d/eps^2 times noise, at d = 4..32 and 1/eps = 2..5.6.
std::vector<ScalingCell> needed_samples(const Noise& noise,
                                        std::size_t replicates,
                                        RandomStream& stream) {
  std::vector<ScalingCell> cells;
  for (const double d : {4.0, 8.0, 16.0, 32.0}) {
    for (const double e : {2.0, 2.8, 4.0, 5.6}) {
      ScalingCell cell{.x = {d, e}, .samples = {}};
      for (std::size_t r = 0; r < replicates; ++r)
        cell.samples.push_back(2 * d * e * e * noise.draw(stream));
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

std::vector<Held> quantiles(const Noise& noise,
                            double p,
                            std::size_t replicates,
                            double cap_share,
                            RandomStream& stream,
                            std::uint64_t seed) {
  std::vector<ScalingCell> cells = needed_samples(noise, replicates, stream);
  for (ScalingCell& cell : cells) {
    if (cap_share == 0) continue;
    // Runs are given up at a number of samples that few need.
    cell.cap = 2 * cell.x[0] * cell.x[1] * cell.x[1] * noise.quantile(1 - cap_share);
    for (double& y : cell.samples) y = y > cell.cap ? INFINITY : y;
  }
  const double error =
      std::sqrt(p * (1 - p) / static_cast<double>(replicates)) / noise.log_density(p);
  std::vector<std::vector<double>> rows;
  for (const ScalingCell& cell : cells)
    rows.push_back({1 / error, std::log(cell.x[0]) / error, std::log(cell.x[1]) / error});
  const std::vector<double> errors = least_squares_errors(rows);
  const JointFit fit = fit_joint_exponents(cells, {"d", "1/eps"}, {}, seed, p);
  const double truth = 2 * noise.quantile(p);
  return {{"C", truth, fit.prefactor95, truth * errors[0]},
          {"a", 1, fit.exponents[0].interval95, errors[1]},
          {"b", 2, fit.exponents[1].interval95, errors[2]}};
}

/// Several quantiles of the same replicates, whose tail log(1/delta) is a size: with exponential
/// noise its exponent is 1.
std::vector<Held> tails(std::size_t replicates, RandomStream& stream, std::uint64_t seed) {
  const std::vector<ScalingCell> cells = needed_samples(exponential(), replicates, stream);
  std::vector<ScalingCell> all;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    for (const double p : {0.5, 0.8, 0.9, 0.95}) {
      ScalingCell& cell = all.emplace_back(cells[k]);
      cell.x.push_back(-std::log1p(-p));
      cell.quantile = p;
      cell.replicates_of = k;
    }
  }
  const JointFit fit = fit_joint_exponents(all, {"d", "1/eps", "log(1/delta)"}, {}, seed);
  return {{"C", 2, fit.prefactor95},
          {"a", 1, fit.exponents[0].interval95},
          {"b", 2, fit.exponents[1].interval95},
          {"of log(1/delta)", 1, fit.exponents[2].interval95}};
}

/// One size, medians or quantiles, by fit_exponent.
std::vector<Held> one_size(double p,
                           std::size_t replicates,
                           RandomStream& stream,
                           std::uint64_t seed) {
  const Noise noise = lognormal(0.3);
  std::vector<ScalingPoint> points;
  std::vector<std::vector<double>> rows;
  const double error =
      std::sqrt(p * (1 - p) / static_cast<double>(replicates)) / noise.log_density(p);
  for (const double x : doubled(8, 5)) {
    ScalingPoint point{.x = x, .samples = {}};
    for (std::size_t r = 0; r < replicates; ++r)
      point.samples.push_back(3 * x * noise.draw(stream));
    points.push_back(std::move(point));
    rows.push_back({1 / error, std::log(x) / error});
  }
  const std::vector<double> errors = least_squares_errors(rows);
  const ExponentFit fit = fit_exponent_of_quantile(points, p, {.seed = seed});
  const double truth = 3 * noise.quantile(p);
  return {{"C", truth, fit.prefactor95, truth * errors[0]}, {"a", 1, fit.interval95, errors[1]}};
}

/// The constant of a bound at so many places, one of them above the others by a factor.
std::vector<Held> constants(std::size_t places,
                            std::size_t replicates,
                            double p,
                            double above,
                            bool upper,
                            RandomStream& stream) {
  constexpr double kSpread = 0.2;
  std::vector<std::vector<double>> needed(places);
  for (std::size_t k = 0; k < places; ++k) {
    for (std::size_t r = 0; r < replicates; ++r) {
      const double y = (k == places / 3 ? above : 1) * std::exp(kSpread * stream.normal());
      needed[k].push_back(upper ? y : 1 / y);
    }
  }
  const double truth = above * std::exp(kSpread * (p == 0.5 ? 0 : kNormal90));
  const SmallestConstant c = upper ? smallest_constant(needed, p) : largest_constant(needed, p);
  return {{"C", upper ? truth : 1 / truth, c.interval95}};
}

std::vector<Kind> kinds() {
  const std::vector<double> eight = doubled(50, 8);
  std::vector<Kind> all = {
      floor_kind("floor, 0.2 + 3 N^-0.6, 8 sizes, 20 replicates", {0.2, 3, -0.6, eight, 20}),
      floor_kind("floor, the same, 5 replicates", {0.2, 3, -0.6, eight, 5}),
      floor_kind("floor, the same, 1 replicate", {0.2, 3, -0.6, eight, 1}),
      floor_kind("floor, 0.1 + 10/x, 10 sizes, 10 replicates", {0.1, 10, -1, doubled(10, 10), 10}),
      floor_kind("floor, 0 + 3 N^-0.6, 8 sizes, 20 replicates", {0, 3, -0.6, eight, 20}),
      floor_kind("floor, 1.8 + 5 N^-0.3, 6 sizes over a factor 1024, 5 replicates",
                 {1.8, 5, -0.3, doubled(1e3, 6, 4), 5}),
      floor_kind("floor, 3 + 0.5 x^0.7, 8 sizes, 10 replicates", {3, 0.5, 0.7, doubled(1, 8), 10}),
  };
  const auto add = [&](const std::string& name, auto draw) { all.push_back({name, draw}); };
  add("two sizes with a floor, 5 x 6, 5 replicates",
      [](RandomStream& s, std::uint64_t) { return losses(5, 0, s); });
  add("two sizes with a floor, --robust, 12 replicates, 2 % of them doubled",
      [](RandomStream& s, std::uint64_t) { return losses(12, 0.02, s); });
  for (const double p : {0.5, 0.9}) {
    add(fmt::format("{}-quantile, 2 d/eps^2, lognormal 0.3, 200 replicates", p),
        [p](RandomStream& s, std::uint64_t k) {
          return quantiles(lognormal(0.3), p, 200, 0, s, k);
        });
    add(fmt::format("{}-quantile, 2 d/eps^2, exponential, 200 replicates", p),
        [p](RandomStream& s, std::uint64_t k) {
          return quantiles(exponential(), p, 200, 0, s, k);
        });
  }
  add("0.9-quantile, 2 d/eps^2, lognormal 0.3, 40 replicates",
      [](RandomStream& s, std::uint64_t k) { return quantiles(lognormal(0.3), 0.9, 40, 0, s, k); });
  add("0.9-quantile, 2 d/eps^2, exponential, 200 replicates, 3 % never",
      [](RandomStream& s, std::uint64_t k) {
        return quantiles(exponential(), 0.9, 200, 0.03, s, k);
      });
  add("quantiles 0.5, 0.8, 0.9, 0.95, exponential, 200 replicates",
      [](RandomStream& s, std::uint64_t k) { return tails(200, s, k); });
  add("one size, median, 5 sizes, 15 replicates",
      [](RandomStream& s, std::uint64_t k) { return one_size(0.5, 15, s, k); });
  add("one size, 0.9-quantile, 5 sizes, 50 replicates",
      [](RandomStream& s, std::uint64_t k) { return one_size(0.9, 50, s, k); });
  for (const double above : {1.0, 1.1, 1.3}) {
    add(fmt::format("constant, 12 places, one {} times the others, 200 replicates, p = 0.9", above),
        [above](RandomStream& s, std::uint64_t) {
          return constants(12, 200, 0.9, above, true, s);
        });
  }
  add("constant of a lower bound, 12 places, one 1.3 times, 200 replicates, p = 0.9",
      [](RandomStream& s, std::uint64_t) { return constants(12, 200, 0.9, 1.3, false, s); });
  add("constant, 12 places, one 1.3 times the others, 40 replicates, p = 0.9",
      [](RandomStream& s, std::uint64_t) { return constants(12, 40, 0.9, 1.3, true, s); });
  add("constant, 12 places, one 1.3 times the others, 50 replicates, p = 0.5",
      [](RandomStream& s, std::uint64_t) { return constants(12, 50, 0.5, 1.3, true, s); });
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto sets =
      static_cast<std::uint64_t>(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400);
  const std::string wanted = argc > 2 ? argv[2] : "";
  fmt::print("| data | held, of {} | width over that of least squares |\n|---|---|---|\n", sets);
  std::uint64_t number = 0;
  for (const Kind& kind : kinds()) {
    ++number;
    if (kind.name.find(wanted) == std::string::npos) continue;
    std::vector<int> held;
    std::vector<std::string> names;
    std::vector<std::vector<double>> widths;
    for (std::uint64_t set = 0; set < sets; ++set) {
      RandomStream stream(
          {.seed = 59, .id = StreamId::self_test, .point = number, .replicate = set});
      const std::vector<Held> all = kind.draw(stream, set);
      held.resize(all.size());
      widths.resize(all.size());
      names.resize(all.size());
      for (std::size_t k = 0; k < all.size(); ++k) {
        names[k] = all[k].name;
        held[k] += all[k].interval.contains(all[k].truth) ? 1 : 0;
        if (all[k].least_squares > 0)
          widths[k].push_back(all[k].interval.width() / (2 * kNormal95 * all[k].least_squares));
      }
    }
    std::string counts;
    std::string ratios;
    for (std::size_t k = 0; k < held.size(); ++k) {
      counts += fmt::format("{}{} {}", k > 0 ? ", " : "", names[k], held[k]);
      if (widths[k].empty()) continue;
      const auto middle = widths[k].begin() + static_cast<std::ptrdiff_t>(widths[k].size() / 2);
      std::nth_element(widths[k].begin(), middle, widths[k].end());
      ratios += fmt::format("{}{:.2f}", k > 0 ? ", " : "", *middle);
    }
    fmt::print("| {} | {} | {} |\n", kind.name, counts, ratios);
    std::fflush(stdout);
  }
  return 0;
}
