/// @file
/// @brief Study masked-spectrum: eigenvalues of the predictor of masked ridge regression, their
/// deterministic equivalent against finite samples.

#include "attica/theory/masked/spectrum.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "attica/core/gauss/mlm.hpp"
#include "attica/core/gauss/observations.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "attica/studies/masked/model.hpp"
#include "attica/studies/sample_ratios.hpp"
#include "attica/theory/ridge_kappa.hpp"

namespace attica::masked_spectrum {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

enum class Covariance { identity, groups, ar1, data };

const Choices<Covariance>& covariances() {
  static const Choices<Covariance> all = {{"identity", Covariance::identity},
                                          {"groups", Covariance::groups},
                                          {"ar1", Covariance::ar1},
                                          {"data", Covariance::data}};
  return all;
}

/// Rows of users' data, as the population.
struct RowsOfData {
  Observations observed;
  Eigen::MatrixXd covariance;
  Eigen::MatrixXd factor;  ///< F Fᵀ = covariance, for Gaussian samples
  double unit = 1;         ///< of the penalty: the mean eigenvalue

  /// Completes model.dimension. @throws Error (input) naming model.file or model.dimension
  static RowsOfData of(Configuration& c) {
    if (!c.has("model.file")) {
      throw invalid_parameter("model.file", "(unset)", "a file for model.covariance = \"data\"");
    }
    const std::filesystem::path path = c.input_file("model.file");
    RowsOfData rows;
    try {
      rows.observed = centred_observations(read_numeric_csv(path, CsvHeader::required),
                                           c.flag("model.standardise"));
      const GaussianMlm problem(rows.observed.covariance(), Definiteness::semi_positive);
      rows.covariance = problem.covariance();
      rows.factor = problem.factor();
      rows.unit = problem.mean_eigenvalue();
    } catch (const Error& error) {
      throw Error(
          error.kind(), fmt::format("parameter 'model.file': {}", error.what()), "model.file");
    }
    const auto d = static_cast<std::int64_t>(rows.covariance.rows());
    if (c.given("model.dimension") && c.integer("model.dimension") != d) {
      throw invalid_parameter("model.dimension",
                              static_cast<double>(c.integer("model.dimension")),
                              fmt::format("{}, as the file has, or no value", d));
    }
    c.set("model.dimension", d, false);
    return rows;
  }

  /// Variance of xᵀQx over the rows, Q = (Σ+κ)⁻¹, over 2 tr(ΣQ)², that of Gaussian ones.
  double form_variance(double samples, double lambda) const {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
    const VectorXd values = solver.eigenvalues().cwiseMax(0);
    const VectorXd weights =
        (values.array() + ridge_kappa(values.array(), samples, lambda)).inverse();
    const VectorXd forms =
        (observed.rows * solver.eigenvectors()).array().square().matrix() * weights;
    return (forms.array() - forms.mean()).square().mean() /
           (2 * values.cwiseProduct(weights).squaredNorm());
  }
};

/// Bins of equal width at multiples of it, a round number, so that theories of other parameters
/// have the same.
struct Bins {
  double width = 1;
  std::int64_t first = 0;
  std::int64_t count = 0;
  double floor = 0;  ///< below it lies the kernel's atom, which is in no bin

  double low(std::int64_t k) const { return static_cast<double>(first + k) * width; }
  double centre(std::int64_t k) const { return (static_cast<double>(first + k) + 0.5) * width; }

  /// At most so many over the support: widths 1, 2, 5, 10, ... times a power of ten.
  static Bins over(const MaskedSupport& support, std::int64_t most, double floor) {
    const double least = (support.upper - support.lower) / static_cast<double>(most);
    const double decade = std::pow(10, std::floor(std::log10(least)));
    double width = 10 * decade;
    for (const double step : {5.0, 2.0, 1.0}) {
      if (step * decade >= least) width = step * decade;
    }
    const auto from = static_cast<std::int64_t>(std::floor(support.lower / width));
    const auto to = static_cast<std::int64_t>(std::ceil(support.upper / width));
    return {.width = width, .first = from, .count = to - from, .floor = floor};
  }
};

class MaskedSpectrum : public PointwiseExperiment {
 public:
  explicit MaskedSpectrum(Configuration& c)
      : covariance_(covariances().of(c, "model.covariance")),
        data_(on_rows() ? RowsOfData::of(c) : RowsOfData{}),
        configuration_(c),
        dimension_(c.integer("model.dimension")),
        ratio_(c.real("model.noise_ratio")),
        rho_(c.real("model.rho")),
        lambdas_(ascending(c.reals("sweep.lambda"))),
        most_bins_(c.integer("sim.bins")),
        sizes_(masked_sizes(
            with_distinct_ratios(c, static_cast<double>(c.integer("model.dimension"))))),
        simulated_bins_([this] {
          std::vector<Bins> all;
          for (const double alpha : sizes_.alphas(TheoryGrid::run)) {
            for (const double lambda : lambdas_) all.push_back(bins_of(alpha, lambda));
          }
          return all;
        }) {
    const auto unused = [&](const char* key, const char* word, bool used) {
      if (used || !c.given(key)) return;
      for (const Parameter& p : {noise_ratio_parameter(kRatio), rho_parameter()}) {
        if (p.key == key && p.fallback != c.at(key)) {
          throw invalid_parameter(
              key, c.real(key), fmt::format("no value unless model.covariance = \"{}\"", word));
        }
      }
    };
    unused("model.noise_ratio", "groups", covariance_ == Covariance::groups);
    unused("model.rho", "ar1", covariance_ == Covariance::ar1);
    if (!on_rows() && c.has("model.file")) {
      throw invalid_parameter(
          "model.file", c.text("model.file"), "no value unless model.covariance = \"data\"");
    }
    if (!on_rows() && c.flag("model.standardise")) {
      throw invalid_parameter(
          "model.standardise", "true", "no value unless model.covariance = \"data\"");
    }
    if (covariance_ == Covariance::groups) require_halves(c);
    warnings_ = rounded_ratios(c, sizes_);
  }

  static constexpr double kRatio = 4;

  static Parameter rho_parameter() {
    return real_parameter("model.rho",
                          0.7,
                          "ar1: correlation of neighbours",
                          {.low = -1, .high = 1, .low_open = true, .high_open = true});
  }

  void require_simulable() const override {
    require_distinct_samples(sizes_);
    require_masked_memory(configuration_, static_cast<double>(sizes_[sizes_.count() - 1]));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    if (on_rows()) return theory_of_rows(grid);
    for (const double alpha : sizes_.alphas(grid)) {
      for (const double lambda : lambdas_) density(alpha, lambda, grid).into(result);
    }
    std::vector<double> alphas = sizes_.alphas(grid);
    if (covariance_ != Covariance::ar1) alphas = line_between(alphas, AxisScale::log, grid);
    for (const double lambda : lambdas_) {
      const Point point = {{"lambda", lambda}};
      Curves moments(point, "alpha", {"moment2"});
      for (const double alpha : alphas) moments.add(alpha, {moment2(alpha, lambda)});
      moments.into(result);
      if (covariance_ == Covariance::ar1) continue;
      Curves edges(point, "alpha", {"lower_edge", "upper_edge"});
      for (const double alpha : alphas) {
        const MaskedSupport support = bulk(alpha, lambda);
        edges.add(alpha, {{support.lower, 0, false}, {support.upper, 0, false}});
      }
      edges.into(result);
      if (covariance_ != Covariance::identity) continue;
      Curves others(point, "alpha", {"moment3", "moment2_leading"});
      Curves atom(point, "alpha", {"atom"});
      for (const double alpha : alphas) {
        const IsotropicSpectrum s = isotropic_spectrum(1 / alpha, lambda);
        // Of the third moment, which passes through 0, in units of m2^(3/2). Measured at α = 0.25
        // to 4, d = 60 and 120 (3000 sets): n² times the deviation is at most 20 from λ = 0.3 on.
        // That of the atom, times d, is at most 0.6 from γ = 2 on.
        constexpr double kLeast = 0.3;
        constexpr double kShare = 0.006;
        constexpr double kSecondOrder = 25;
        const double n = sizes_.samples(alpha);
        const double third = (kShare + kSecondOrder / (n * n)) * std::pow(s.moment2, 1.5);
        constexpr double kFarBelow = 0.55;
        others.add(alpha,
                   {{isotropic_moment3(dimension(), n, lambda), third, lambda >= kLeast},
                    {s.moment2, 0, false}});
        if (s.atom) atom.add(alpha, {{*s.atom, 1 / dimension(), alpha <= kFarBelow}});
      }
      others.into(result);
      if (!atom.empty()) atom.into(result);
    }
    return result;
  }

  std::size_t points() const override { return sizes_.count(); }

 protected:
  double flops(std::size_t point) const override {
    const auto n = static_cast<double>(sizes_[point]);
    return static_cast<double>(lambdas_.size()) *
           (masked_flops(dimension(), n) + eigenpair_flops(dimension()));
  }

  Outcome run(const Replicate& replicate) const override {
    const Index n = sizes_[replicate.point()];
    const double alpha = sizes_.alpha(replicate.point());
    RandomStream stream = replicate.stream();
    Outcome outcome;
    const Eigen::MatrixXd s = covariance(n, stream);
    for (std::size_t l = 0; l < lambdas_.size(); ++l) {
      const double lambda = lambdas_[l];
      const VectorXd w = MaskedRidge(s, absolute(lambda)).eigenvalues();
      const Bins& bins = simulated_bins_.get()[replicate.point() * lambdas_.size() + l];
      // With equal variances the kernel of S gives the lowest d - n eigenvalues.
      const Index kernel =
          covariance_ == Covariance::identity ? std::max<Index>(0, dimension_ - n) : 0;
      histogram(
          "density", {{"alpha", alpha}, {"lambda", lambda}}, w.tail(dimension_ - kernel), bins)
          .into(outcome);
      Curves numbers({{"lambda", lambda}},
                     "alpha",
                     {"moment2", "moment3", "upper_edge", "lower_edge", "trace", "below_gap"});
      numbers.add(alpha,
                  std::vector<double>{w.squaredNorm() / dimension(),
                                      w.array().cube().mean(),
                                      w(w.size() - 1),
                                      w(kernel),
                                      w.sum(),
                                      static_cast<double>((w.array() < bins.floor).count())});
      numbers.into(outcome);
      if (kernel > 0) {
        Curves({{"lambda", lambda}}, "alpha", {"atom"})
            .add(alpha, std::vector<double>{w.head(kernel).mean()})
            .into(outcome);
      }
    }
    if (on_rows()) gaussian_control(replicate.point(), stream, outcome);
    return outcome;
  }

 private:
  double dimension() const { return static_cast<double>(dimension_); }
  bool on_rows() const { return covariance_ == Covariance::data; }
  double absolute(double lambda) const { return lambda * data_.unit; }

  Curves histogram(const char* series,
                   const Point& point,
                   const Eigen::Ref<const VectorXd>& values,
                   const Bins& bins) const {
    std::vector<double> counts(static_cast<std::size_t>(bins.count), 0.0);
    for (const double value : values) {
      const auto k = static_cast<std::int64_t>(std::floor(value / bins.width)) - bins.first;
      if (k >= 0 && k < bins.count) ++counts[static_cast<std::size_t>(k)];
    }
    Curves density(point, "w", {series});
    for (std::int64_t k = 0; k < bins.count; ++k) {
      density.add(
          bins.centre(k),
          std::vector<double>{counts[static_cast<std::size_t>(k)] / (dimension() * bins.width)});
    }
    return density;
  }

  /// As many Gaussian samples of the rows' covariance.
  void gaussian_control(std::size_t point, RandomStream& stream, Outcome& outcome) const {
    const Eigen::MatrixXd x =
        gaussian_samples(data_.factor, false, static_cast<Index>(sizes_[point]), stream);
    const Eigen::MatrixXd s = x.transpose() * x / static_cast<double>(x.rows());
    const double alpha = sizes_.alpha(point);
    for (std::size_t l = 0; l < lambdas_.size(); ++l) {
      const double lambda = lambdas_[l];
      const VectorXd w = MaskedRidge(s, absolute(lambda)).eigenvalues();
      histogram("gaussian_density",
                {{"alpha", alpha}, {"lambda", lambda}},
                w,
                simulated_bins_.get()[point * lambdas_.size() + l])
          .into(outcome);
      Curves({{"lambda", lambda}}, "alpha", {"gaussian_moment2"})
          .add(alpha, std::vector<double>{w.squaredNorm() / dimension()})
          .into(outcome);
    }
  }

  /// Leading order, for rows without an allowance: docs/masked.md.
  TheoryResult theory_of_rows(TheoryGrid grid) const {
    TheoryResult result;
    for (const double lambda : lambdas_) {
      Curves curves(
          {{"lambda", lambda}}, "alpha", {"moment2", "gaussian_moment2", "form_variance"});
      for (const double alpha : sizes_.alphas(grid)) {
        const double n = sizes_.samples(alpha);
        const double value = masked_moment2(data_.covariance, n, absolute(lambda));
        curves.add(alpha,
                   {value,
                    {value, kFirstOrder / dimension() * value},
                    {data_.form_variance(n, absolute(lambda)), 0, false}});
      }
      curves.into(result);
    }
    const VectorXd kurtosis = data_.observed.excess_kurtosis();
    result.diagnostics = {{"observations", static_cast<std::int64_t>(data_.observed.rows.rows())},
                          {"mean_eigenvalue", data_.unit},
                          {"median_excess_kurtosis", middle(kurtosis)},
                          {"largest_excess_kurtosis", kurtosis.maxCoeff()},
                          {"dropped_columns",
                           List(data_.observed.constants.begin(), data_.observed.constants.end())}};
    return result;
  }

  static double middle(VectorXd values) {
    std::sort(values.begin(), values.end());
    return values(values.size() / 2);
  }

  Eigen::MatrixXd covariance(Index n, RandomStream& stream) const {
    if (covariance_ == Covariance::ar1) return ar1_sample_covariance(dimension_, rho_, n, stream);
    if (on_rows()) {
      const Eigen::MatrixXd x = resampled_rows(data_.observed.rows, n, stream);
      return x.transpose() * x / static_cast<double>(n);
    }
    SpikedNoise noise{.variances = VectorXd::Ones(dimension_), .direction = {}, .theta = 0};
    if (covariance_ == Covariance::groups) {
      noise.variances.tail(dimension_ / 2).setConstant(ratio_);
    }
    return sample_covariance(noise, n, stream);
  }

  MaskedEquivalent equivalent(double alpha, double lambda) const {
    switch (covariance_) {
      case Covariance::identity:
        return masked_equivalent({SiteGroup{}}, 1 / alpha, lambda);
      case Covariance::groups:
        return masked_equivalent({{1, 0.5}, {ratio_, 0.5}}, 1 / alpha, lambda);
      case Covariance::ar1:
      case Covariance::data:
        break;
    }
    // Eigenvalues of a long stationary sequence, at equal steps of the wave number.
    constexpr int kWaves = 64;
    std::vector<SiteGroup> spectrum;
    for (int k = 0; k < kWaves; ++k) {
      const double phase = std::cos(std::numbers::pi * (k + 0.5) / kWaves);
      spectrum.push_back({(1 - rho_ * rho_) / (1 - 2 * rho_ * phase + rho_ * rho_), 1.0 / kWaves});
    }
    return masked_stationary(std::move(spectrum), 1 / alpha, lambda);
  }

  /// Without the kernel's atom; with two variances the kernel is a band, which belongs to it.
  MaskedSupport bulk(double alpha, double lambda) const {
    if (covariance_ == Covariance::identity) {
      const IsotropicSpectrum s = isotropic_spectrum(1 / alpha, lambda);
      return {.lower = s.lower, .upper = s.upper};
    }
    const double atom = covariance_ == Covariance::ar1 ? std::max(0.0, 1 - alpha) : 0;
    return masked_support(equivalent(alpha, lambda), atom);
  }

  Bins bins_of(double alpha, double lambda) const {
    if (on_rows()) {
      // Wherever they are: few eigenvalues are further from 0, none beyond 1.
      constexpr double kFar = 3;
      const double width =
          std::sqrt(masked_moment2(data_.covariance, sizes_.samples(alpha), absolute(lambda)));
      return Bins::over({.lower = -kFar * width, .upper = 1},
                        most_bins_,
                        -std::numeric_limits<double>::infinity());
    }
    const MaskedSupport support = bulk(alpha, lambda);
    double floor = -std::numeric_limits<double>::infinity();
    if (covariance_ == Covariance::identity && alpha < 1) {
      floor = (*isotropic_spectrum(1 / alpha, lambda).atom + support.lower) / 2;
    }
    return Bins::over(support, most_bins_, floor);
  }

  /// Averages over bins. In a run also over intervals of that width between them, for a smooth
  /// line, and over empty bins on either side, where a theory of other parameters may have some.
  Curves density(double alpha, double lambda, TheoryGrid grid) const {
    const MaskedEquivalent m = equivalent(alpha, lambda);
    const Bins bins = bins_of(alpha, lambda);
    // Near γ = 1 the fluctuations of G_kk smear an edge that is nearly hard.
    constexpr double kHardLow = 0.7;
    constexpr double kHardHigh = 1.4;
    const double gamma = 1 / alpha;
    // Edges are steep near it, too, unless the penalty is about the variances.
    constexpr double kSteepLow = 0.4;
    constexpr double kSteepHigh = 2.5;
    constexpr double kWeak = 0.1;
    constexpr double kStrong = 3;
    // Eigenvalues in a bin, measured at soft edges: up to 0.22(3), 0.1 between them; of others up
    // to 0.4(1); at steep ones up to 1.6(1), the same at d = 100, 200, 400 and 800.
    const bool steep =
        gamma > kSteepLow && gamma < kSteepHigh && (lambda < kWeak || lambda > kStrong);
    const double allowed = gamma > kHardLow && gamma < kHardHigh ? 3 : steep ? 2 : 0.5;
    const bool compared =
        covariance_ == Covariance::identity || (covariance_ == Covariance::groups && gamma <= 1);
    const auto share_below = [&](double w) {
      return w < 1 ? masked_cdf(m, std::max(w, bins.floor)) : 1.0;
    };
    const auto average = [&](double low) {
      return (share_below(low + bins.width) - share_below(low)) / bins.width;
    };
    const bool run = grid == TheoryGrid::run;
    const std::int64_t more = run ? bins.count / 4 + 2 : 0;
    constexpr int kParts = 4;
    Curves all({{"alpha", alpha}, {"lambda", lambda}}, "w", {"density"});
    for (std::int64_t k = -more; k < bins.count + more; ++k) {
      all.add(bins.centre(k),
              {{average(bins.low(k)), allowed / (dimension() * bins.width), compared}});
      for (int part = 1; run && part < kParts; ++part) {
        const double shift = bins.width * part / kParts;
        all.add(bins.centre(k) + shift, {{average(bins.low(k) + shift), 0, false}});
      }
    }
    return all;
  }

  PredictedValue moment2(double alpha, double lambda) const {
    const double n = sizes_.samples(alpha);
    switch (covariance_) {
      case Covariance::identity: {
        constexpr double kSecondOrder = 15;
        const double value = isotropic_moment2(dimension(), n, lambda);
        return {value, kSecondOrder / (n * n) * value};
      }
      case Covariance::groups: {
        const double value = masked_moment2(equivalent(alpha, lambda));
        return {value, kFirstOrder / dimension() * value};
      }
      case Covariance::ar1:
      case Covariance::data:
        break;
    }
    const Eigen::MatrixXd sigma =
        Eigen::MatrixXd::NullaryExpr(dimension_, dimension_, [this](Index i, Index j) {
          return std::pow(rho_, static_cast<double>(std::abs(i - j)));
        });
    const double value = masked_moment2(sigma, n, lambda);
    return {value, kFirstOrder / dimension() * value};
  }
  static constexpr double kFirstOrder = 3;

  Covariance covariance_;
  RowsOfData data_;  ///< empty for other covariances
  Configuration configuration_;
  Index dimension_;
  double ratio_;
  double rho_;
  std::vector<double> lambdas_;
  std::int64_t most_bins_;
  SampleSizes sizes_;
  Lazy<std::vector<Bins>> simulated_bins_;  ///< of all α, and of all λ at each
};

Figure figure(const Configuration& c) {
  std::vector<Panel> panels;
  const auto lambdas = c.reals("sweep.lambda");
  const std::string label = lambdas.size() > 1 ? "{/:Italic λ} = {lambda}" : "";
  const std::string which = label.empty() ? "" : ", " + label;
  const SampleSizes sizes = masked_sizes(c);
  const bool data = c.text("model.covariance") == "data";
  for (std::size_t k = 0; k < sizes.count(); ++k) {
    const Point only = {{"alpha", sizes.alpha(k)}};
    std::vector<Layer> layers = {{.series = "density", .label = label, .only = only}};
    if (data) {
      layers = {{.series = "density", .label = "rows" + which, .only = only},
                {.series = "gaussian_density",
                 .label = "Gaussian" + which,
                 .hollow = true,
                 .only = only}};
    }
    panels.push_back({.x = {.label = "eigenvalue {/:Italic w}"},
                      .y = {.label = "density", .low = 0.0},
                      .layers = layers,
                      .x_name = "w",
                      .title = fmt::format("{{/:Italic α}} = {:.3g}", sizes.alpha(k))});
  }
  const Axis alpha{.label = "{/:Italic α} = {/:Italic n}/{/:Italic d}", .scale = AxisScale::log};
  const bool identity = c.text("model.covariance") == "identity";
  std::vector<Layer> moments = {
      {.series = "moment2",
       .label = label.empty() && identity ? "to order 1/{/:Italic n}" : label}};
  if (identity)
    moments.push_back({.series = "moment2_leading",
                       .label = "leading order",
                       .simulation = false,
                       .reference = true});
  if (data) {
    moments = {{.series = "moment2", .label = "rows" + which},
               {.series = "gaussian_moment2", .label = "Gaussian" + which, .hollow = true}};
  }
  panels.push_back({.x = alpha,
                    .y = {.label = "tr {/:Italic A}^2/{/:Italic d}", .scale = AxisScale::log},
                    .layers = moments,
                    .x_name = "alpha",
                    .residuals = true});
  panels.push_back({.x = alpha,
                    .y = {.label = "{/:Italic w}"},
                    .layers = {{.series = "lower_edge", .label = "lower edge" + which},
                               {.series = "upper_edge", .label = "upper edge" + which},
                               {.series = "atom", .label = "atom" + which, .hollow = true}},
                    .x_name = "alpha"});
  return {.name = "masked-spectrum",
          .panels = panels,
          .columns = 2,
          .caption =
              data ? "Eigenvalues of the predictor A of masked ridge regression on rows of data "
                     "(filled), and on Gaussian samples of their covariance (open): histograms, "
                     "second moment with its leading order, and the smallest and largest "
                     "eigenvalues of the rows'. Error bars: standard error over replicates; band: "
                     "declared margin."
                   : "Eigenvalues of the predictor A of masked ridge regression. Density: lines, "
                     "deterministic equivalent; points, histogram over replicates, without the "
                     "kernel's atom. Second moment with its leading order dashed; edges of the "
                     "bulk with the largest and smallest eigenvalues outside the atom, and its "
                     "place (open). Error bars: standard error over replicates; band: declared "
                     "margin."};
}

/// Whether the fluctuations of G_kk leave the gap between atom and bulk open at that size. G_kk/g -
/// 1 has variance (2/n) κ'/(1+κ)², which smears the atom with standard deviation (1-w_0) sqrt((2/n)
/// κ'(1-n/d))/(1+κ); the middle of the gap is to be four of them away.
bool gap_open(double d, double alpha, double lambda) {
  if (alpha >= 1) return false;
  constexpr double kDeviations = 4;
  const IsotropicSpectrum s = isotropic_spectrum(1 / alpha, lambda);
  const double one = 1 + s.kappa;
  const double slope = 1 / (1 - 1 / (alpha * one * one));
  const double smear = (1 - *s.atom) * std::sqrt(2 / (alpha * d) * slope * (1 - alpha)) / one;
  return (s.lower - *s.atom) / 2 >= kDeviations * smear;
}

/// Bins are differences of the cumulative law: that the density is its slope is claimed besides.
ClaimResult density_claim(const Configuration& c) {
  constexpr double kStep = 1e-3;
  constexpr double kAccuracy = 1e-3;
  double worst = 0;
  for (const double alpha : c.reals("sweep.alpha")) {
    for (const double lambda : c.reals("sweep.lambda")) {
      const MaskedEquivalent m = masked_equivalent({SiteGroup{}}, 1 / alpha, lambda);
      const IsotropicSpectrum bulk = isotropic_spectrum(1 / alpha, lambda);
      const double middle = (bulk.lower + bulk.upper) / 2;  // away from the edges
      const double step = kStep * (bulk.upper - bulk.lower);
      const double slope =
          (masked_cdf(m, middle + step) - masked_cdf(m, middle - step)) / (2 * step);
      worst = std::max(worst, std::abs(masked_density(m, middle) / slope - 1));
    }
  }
  return claim_certain(
      "density-is-the-slope",
      "with equal variances the density is the slope of the cumulative law within 0.1 %",
      worst < kAccuracy,
      fmt::format("largest difference {:.2g}", worst));
}

/// (1/d) tr A² by Cauchy's formula from the resolvent, around all eigenvalues.
double contour_moment2(const MaskedEquivalent& m) {
  constexpr int kNodes = 64;
  const MaskedSupport support = masked_support(m);
  const double centre = (support.lower + support.upper) / 2;
  const double radius = support.upper - support.lower;
  double sum = 0;
  for (int k = 0; k < kNodes; ++k) {
    const auto turn = std::polar(radius, 2 * std::numbers::pi * (k + 0.5) / kNodes);
    const auto w = centre + turn;
    sum -= (w * w * masked_resolvent(m, w) * turn).real() / kNodes;
  }
  return sum;
}

/// Other covariances are simulated only where they are asked for: that their second moment, to
/// leading order, is that of their spectrum is claimed here.
ClaimResult moment_claim(const Configuration& c) {
  constexpr double kAccuracy = 1e-6;
  constexpr Index kSites = 24;
  constexpr double kRho = 0.5;
  const double ratio = MaskedSpectrum::kRatio;
  // A ring, whose eigenvectors are waves: all sites are alike, far from any end.
  const Eigen::MatrixXd ring = Eigen::MatrixXd::NullaryExpr(kSites, kSites, [](Index i, Index j) {
    const auto apart = static_cast<double>(std::abs(i - j));
    return std::pow(kRho, apart) + std::pow(kRho, kSites - apart);
  });
  std::vector<SiteGroup> waves;
  const VectorXd spectrum = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(ring).eigenvalues();
  for (const double value : spectrum) waves.push_back({value, 1.0 / kSites});
  VectorXd halves = VectorXd::Ones(kSites);
  halves.tail(kSites / 2).setConstant(ratio);
  double worst = 0;
  for (const double alpha : c.reals("sweep.alpha")) {
    if (alpha * kSites < 1) continue;  // less than one sample
    for (const double lambda : c.reals("sweep.lambda")) {
      const auto compare = [&](double value, double exact) {
        worst = std::max(worst, std::abs(value / exact - 1));
      };
      const MaskedEquivalent groups =
          masked_equivalent({{1, 0.5}, {ratio, 0.5}}, 1 / alpha, lambda);
      const double of_groups = contour_moment2(groups);
      compare(masked_moment2(groups), of_groups);
      compare(masked_moment2(halves.asDiagonal(), alpha * kSites, lambda), of_groups);
      compare(masked_moment2(ring, alpha * kSites, lambda),
              contour_moment2(masked_stationary(waves, 1 / alpha, lambda)));
    }
  }
  return claim_certain("moments-of-other-covariances",
                       "with two variances, and on a ring, the second moment is that of the "
                       "resolvent within 1e-6",
                       worst < kAccuracy,
                       fmt::format("largest difference {:.2g}", worst));
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all = {density_claim(c), moment_claim(c)};
  const auto d = static_cast<double>(c.integer("model.dimension"));
  const bool identity = c.text("model.covariance") == "identity";
  const auto name = [](const char* what, const ObservedCurve& curve, std::size_t k) {
    return fmt::format("{}[alpha={:.4g},{}]", what, curve.mean.x[k], describe(curve.mean.point));
  };
  const auto holds = [](const std::vector<double>& values, const auto& test) {
    std::vector<bool> found;
    for (const double value : values) found.push_back(test(value));
    return found;
  };
  for (const ObservedCurve& curve : observed.simulation) {
    const double lambda =
        curve.mean.point.empty() ? 0 : std::get<double>(curve.mean.point.back().second);
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      const double alpha = curve.mean.x[k];
      const std::vector<double>& values = curve.values[k];
      if (curve.mean.name == "upper_edge") {
        all.push_back(claim_rate(name("below-one", curve, k),
                                 "all eigenvalues are below 1",
                                 holds(values, [](double w) { return w < 1; }),
                                 fmt::format("largest on average {:.6g}", curve.mean.y[k])));
      } else if (curve.mean.name == "trace") {
        // Rounding of the inverse, of condition (x + λ)/λ.
        constexpr double kRounding = 1e-10;
        const double most = kRounding * d * (1 + 1 / lambda);
        all.push_back(claim_rate(name("trace", curve, k),
                                 fmt::format("the eigenvalues sum to 0 within {:.1e}", most),
                                 holds(values, [&](double sum) { return std::abs(sum) <= most; }),
                                 fmt::format("sum on average {:.1e}", curve.mean.y[k])));
      } else if (curve.mean.name == "below_gap" && identity && gap_open(d, alpha, lambda)) {
        const double kernel = d - std::round(alpha * d);
        all.push_back(claim_rate(name("kernel", curve, k),
                                 fmt::format("d - n = {} eigenvalues are below the gap", kernel),
                                 holds(values, [&](double count) { return count == kernel; }),
                                 fmt::format("on average {:.6g}", curve.mean.y[k])));
      } else if (curve.mean.name == "moment2" && identity && alpha >= 1 && lambda >= 0.1) {
        const double leading = isotropic_spectrum(1 / alpha, lambda).moment2;
        const double next = isotropic_moment2(d, std::round(alpha * d), lambda);
        const std::string words = fmt::format(
            "the mean of tr A²/d is nearer to the order 1/n ({:.6g}) than to the "
            "leading one ({:.6g})",
            next,
            leading);
        const auto side = next < leading ? claim_below : claim_above;
        all.push_back(side(name("next-order", curve, k), words, values, (leading + next) / 2, {}));
      }
    }
  }
  return all;
}

}  // namespace

Study study() {
  return described({.name = "masked-spectrum",
                    .make = make<MaskedSpectrum>,
                    .figure = figure,
                    .claims = claims});
}

}  // namespace attica::masked_spectrum
