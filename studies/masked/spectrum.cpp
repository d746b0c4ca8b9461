/// @file
/// @brief Study masked-spectrum: eigenvalues of the predictor of masked ridge regression, their
/// deterministic equivalent against finite samples.

#include "attica/theory/masked/spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/studies/masked/model.hpp"
#include "attica/studies/masked/population.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica::masked_spectrum {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Kind = SpectrumPopulation::Kind;

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
      : population_(c),
        configuration_(c),
        lambdas_(ascending(c.reals("sweep.lambda"))),
        most_bins_(c.integer("sim.bins")),
        sizes_(masked_sizes(with_distinct_ratios(c, population_.dimension()))),
        simulated_bins_([this] {
          std::vector<Bins> all;
          for (const double alpha : sizes_.alphas(TheoryGrid::run)) {
            for (const double lambda : lambdas_) all.push_back(bins_of(alpha, lambda));
          }
          return all;
        }) {
    warnings_ = rounded_ratios(c, sizes_);
  }

  void require_simulable() const override {
    require_distinct_samples(sizes_);
    require_masked_memory(configuration_, static_cast<double>(sizes_[sizes_.count() - 1]));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    if (population_.on_rows()) return theory_of_rows(grid);
    for (const double alpha : sizes_.alphas(grid)) {
      for (const double lambda : lambdas_) density(alpha, lambda, grid).into(result);
    }
    std::vector<double> alphas = sizes_.alphas(grid);
    if (population_.kind() != Kind::ar1) alphas = line_between(alphas, AxisScale::log, grid);
    for (const double lambda : lambdas_) {
      const Point point = {{"lambda", lambda}};
      Curves moments(point, "alpha", {"moment2"});
      for (const double alpha : alphas)
        moments.add(alpha, {population_.moment2(alpha, sizes_.samples(alpha), lambda)});
      moments.into(result);
      if (population_.kind() == Kind::ar1) continue;
      Curves edges(point, "alpha", {"lower_edge", "upper_edge"});
      for (const double alpha : alphas) {
        const MaskedSupport support = population_.bulk(alpha, sizes_.samples(alpha), lambda);
        edges.add(alpha, {{support.lower, 0, false}, {support.upper, 0, false}});
      }
      edges.into(result);
      if (population_.kind() != Kind::identity) continue;
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
    const Eigen::MatrixXd s = population_.sample_covariance(n, stream);
    for (std::size_t l = 0; l < lambdas_.size(); ++l) {
      const double lambda = lambdas_[l];
      const VectorXd w = MaskedRidge(s, population_.absolute(lambda)).eigenvalues();
      const Bins& bins = simulated_bins_.get()[replicate.point() * lambdas_.size() + l];
      // With equal variances the kernel of S gives the lowest d - n eigenvalues.
      const Index kernel =
          population_.kind() == Kind::identity ? std::max<Index>(0, population_.sites() - n) : 0;
      histogram("density",
                {{"alpha", alpha}, {"lambda", lambda}},
                w.tail(population_.sites() - kernel),
                bins)
          .into(outcome);
      Curves numbers({{"lambda", lambda}},
                     "alpha",
                     {"moment2", "upper_edge", "lower_edge", "trace", "below_gap"});
      numbers.add(alpha,
                  std::vector<double>{w.squaredNorm() / dimension(),
                                      w(w.size() - 1),
                                      w(kernel),
                                      w.sum(),
                                      static_cast<double>((w.array() < bins.floor).count())});
      numbers.into(outcome);
      if (population_.kind() == Kind::identity) {  // of which there is a theory
        Curves({{"lambda", lambda}}, "alpha", {"moment3"})
            .add(alpha, std::vector<double>{w.array().cube().mean()})
            .into(outcome);
      }
      if (kernel > 0) {
        Curves({{"lambda", lambda}}, "alpha", {"atom"})
            .add(alpha, std::vector<double>{w.head(kernel).mean()})
            .into(outcome);
      }
    }
    if (population_.on_rows()) gaussian_control(replicate.point(), stream, outcome);
    return outcome;
  }

 private:
  double dimension() const { return population_.dimension(); }

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
    const Eigen::MatrixXd s = population_.gaussian_covariance(sizes_[point], stream);
    const double alpha = sizes_.alpha(point);
    for (std::size_t l = 0; l < lambdas_.size(); ++l) {
      const double lambda = lambdas_[l];
      const VectorXd w = MaskedRidge(s, population_.absolute(lambda)).eigenvalues();
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
        const double value = population_.moment2(alpha, n, lambda).y;
        curves.add(alpha,
                   {value,
                    {value, population_.first_order(value)},
                    {population_.form_variance(n, lambda), 0, false}});
      }
      curves.into(result);
    }
    result.diagnostics = population_.diagnostics();
    return result;
  }

  Bins bins_of(double alpha, double lambda) const {
    const MaskedSupport support = population_.bulk(alpha, sizes_.samples(alpha), lambda);
    const std::optional<double> atom = population_.atom(alpha, lambda);
    return Bins::over(
        support,
        most_bins_,
        atom ? (*atom + support.lower) / 2 : -std::numeric_limits<double>::infinity());
  }

  /// Averages over bins. In a run also over intervals of that width between them, for a smooth
  /// line, and over empty bins on either side, where a theory of other parameters may have some.
  Curves density(double alpha, double lambda, TheoryGrid grid) const {
    const MaskedEquivalent m = population_.equivalent(alpha, lambda);
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
        population_.kind() == Kind::identity || (population_.kind() == Kind::groups && gamma <= 1);
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

  SpectrumPopulation population_;
  Configuration configuration_;
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

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  const auto d = static_cast<double>(c.integer("model.dimension"));
  const bool identity = c.text("model.covariance") == "identity";
  const auto name = [](const char* what, const ObservedCurve& curve, std::size_t k) {
    return fmt::format("{}[alpha={:.4g},{}]", what, curve.mean.x[k], describe(curve.mean.point));
  };
  for (const ObservedCurve& curve : observed.simulation) {
    const double lambda =
        curve.mean.point.empty() ? 0 : std::get<double>(curve.mean.point.back().second);
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      const double alpha = curve.mean.x[k];
      const auto values = by_replicate(curve.values[k]);
      if (curve.mean.name == "upper_edge") {
        all.push_back(claim_rate(name("below-one", curve, k),
                                 "all eigenvalues are below 1",
                                 values.where([](double w) { return w < 1; }),
                                 fmt::format("largest on average {:.6g}", curve.mean.y[k])));
      } else if (curve.mean.name == "trace") {
        // Rounding of the inverse, of condition (x + λ)/λ.
        constexpr double kRounding = 1e-10;
        const double most = kRounding * d * (1 + 1 / lambda);
        all.push_back(claim_rate(name("trace", curve, k),
                                 fmt::format("the eigenvalues sum to 0 within {:.1e}", most),
                                 values.where([&](double sum) { return std::abs(sum) <= most; }),
                                 fmt::format("sum on average {:.1e}", curve.mean.y[k])));
      } else if (curve.mean.name == "below_gap" && identity && gap_open(d, alpha, lambda)) {
        const double kernel = d - std::round(alpha * d);
        all.push_back(claim_rate(name("kernel", curve, k),
                                 fmt::format("d - n = {} eigenvalues are below the gap", kernel),
                                 values.where([&](double count) { return count == kernel; }),
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
        all.push_back(
            side(name("next-order", curve, k), words, values.entries(), (leading + next) / 2, {}));
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
