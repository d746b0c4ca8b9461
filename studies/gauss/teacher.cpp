/// @file
/// @brief Study gauss-teacher: masked modelling of Gaussian sequences beside a linear teacher on
/// the same inputs: test error against the number of samples, and the height of the peak against
/// the noise of the labels.

#include "attica/sim/gauss/teacher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "attica/core/parallel.hpp"
#include "attica/studies/gauss/ridge_sweep.hpp"
#include "attica/studies/sample_ratios.hpp"
#include "attica/theory/gauss/labels.hpp"
#include "attica/theory/gauss/site_regression.hpp"

namespace attica::gauss_teacher {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

constexpr const char* kPeakRho = "sweep.peak_rho";

/// The family's member of another correlation.
GaussianModel member(const Configuration& c, double rho) {
  Configuration other = c;
  other.set("model.rho", Value(rho), false);
  return GaussianModel::family(other, c.integer("model.sites"));
}

/// Labels of variance 1, by a teacher on the inputs of the last site.
PredictedValue taught(
    const ArrayXd& spectrum, double noise, double samples, double lambda, RidgeOrder order) {
  const LabelRidge ridge =
      label_ridge(random_teacher(spectrum, 1 - noise, noise), samples, lambda, order);
  return test_error_value(order, ridge.test_error, ridge.finite_size_test);
}

/// Eigenvalues of the covariance of all sites but the last.
ArrayXd teacher_spectrum(const GaussianMlm& problem) {
  return site_regression(problem, problem.sites() - 1).s;
}

/// One covariance at M = N.
struct Peak {
  GaussianModel model;
  double noise;  ///< mean over the sites
};

class Teacher : public PointwiseExperiment {
 public:
  explicit Teacher(Configuration& c)
      : configuration_(c),
        model_(GaussianModel::family(c, c.integer("model.sites"))),
        order_(configured_order(c)),
        sizes_(model_.sizes(with_distinct_ratios(c, model_.inputs()))),
        lambdas_(ascending(c.reals("sweep.lambda"))),
        noises_(ascending(c.reals("sweep.noise"))),
        data_sets_(c.integer("sim.data_sets")),
        teachers_(c.integer("sim.teachers")) {
    model_.require_penalties(lambdas_, "sweep.lambda");
    for (const double rho : ascending(c.reals(kPeakRho))) {
      GaussianModel peaked = member(c, rho);
      const double noise = peaked.problem().noise_variances().mean();
      peaks_.push_back({std::move(peaked), noise});
    }
    warnings_ = rounded_ratios(c, sizes_);
    diagnostics_ = model_.diagnostics();
    diagnostics_.emplace_back("intrinsic_noise", model_.problem().noise_variances().mean());
  }

  void require_simulable() const override { require_distinct_samples(sizes_); }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kLinePoints = 120;
    TheoryResult result;
    const ArrayXd spectrum = teacher_spectrum(model_.problem());
    const std::vector<double> alphas =
        line_through(sizes_.alphas(grid), kLinePoints, AxisScale::log, grid);
    std::vector<double> samples;
    for (const double alpha : alphas) samples.push_back(sizes_.samples(alpha));
    const auto errors = masked_errors(model_.problem(), samples, lambdas_, order_);
    for (std::size_t l = 0; l < lambdas_.size(); ++l) {
      const double lambda = lambdas_[l];
      Curves masked({{"lambda", lambda}}, "alpha", {"test_error"});
      for (std::size_t k = 0; k < alphas.size(); ++k) {
        const MaskedError& error = errors[l][k];
        masked.add(alphas[k], {test_error_value(order_, error.test_error, error.finite_size_test)});
      }
      masked.into(result);
      for (const double noise : noises_) {
        Curves teacher = teacher_curves(lambda, noise);
        for (std::size_t k = 0; k < alphas.size(); ++k) {
          teacher.add(alphas[k], {taught(spectrum, noise, samples[k], lambda, order_)});
        }
        teacher.into(result);
      }
    }
    peak_theory(grid, result);
    return result;
  }

  std::size_t points() const override { return sizes_.count() + peaks_.size(); }

 protected:
  double flops(std::size_t point) const override {
    const double m = point < sizes_.count() ? static_cast<double>(sizes_[point]) : inputs();
    const double labels = 2 * static_cast<double>(teachers_);
    return static_cast<double>(data_sets_) *
           (2 * ridge_flops(static_cast<Index>(m), model_.problem().sites(), lambdas_.size()) +
            4 * m * inputs() * labels * static_cast<double>(1 + lambdas_.size()));
  }

  Outcome run(const Replicate& replicate) const override {
    const std::size_t point = replicate.point();
    Outcome outcome;
    if (point < sizes_.count()) {
      const double alpha = sizes_.alpha(point);
      const std::vector<TeacherErrors> errors = observe(model_, sizes_[point], noises_, replicate);
      for (std::size_t l = 0; l < lambdas_.size(); ++l) {
        Curves({{"lambda", lambdas_[l]}}, "alpha", {"test_error"})
            .add(alpha, {errors[l].masked})
            .into(outcome);
        for (std::size_t k = 0; k < noises_.size(); ++k) {
          teacher_curves(lambdas_[l], noises_[k]).add(alpha, {errors[l].taught[k]}).into(outcome);
        }
      }
    } else {
      const Peak& peak = peaks_[point - sizes_.count()];
      const std::vector<double> noises = {peak.noise, 0.0};
      const std::vector<TeacherErrors> errors =
          observe(peak.model, static_cast<Index>(inputs()), noises, replicate);
      for (std::size_t l = 0; l < lambdas_.size(); ++l) {
        peak_curves(lambdas_[l])
            .add(peak.noise, {errors[l].masked, errors[l].taught.front(), errors[l].taught.back()})
            .into(outcome);
      }
    }
    return outcome;
  }

 private:
  double inputs() const { return model_.inputs(); }

  static Curves teacher_curves(double lambda, double noise) {
    return {{{"lambda", lambda}, {"noise", noise}}, "alpha", {"teacher_error"}};
  }
  static Curves peak_curves(double lambda) {
    return {{{"lambda", lambda}}, "noise", {"peak", "teacher_peak", "clean_peak"}};
  }

  void peak_theory(TheoryGrid grid, TheoryResult& result) const {
    constexpr int kParts = 4;
    std::vector<double> rhos = ascending(configuration_.reals(kPeakRho));
    rhos = line_between(rhos, AxisScale::linear, grid, kParts);
    struct Line {
      double noise;
      ArrayXd spectrum;
      std::vector<std::vector<MaskedError>> errors;  ///< at M = N
    };
    std::vector<std::unique_ptr<Line>> lines(rhos.size());
    in_parallel(rhos.size(), [&](std::size_t k) {
      const GaussianModel model = member(configuration_, rhos[k]);
      const GaussianMlm& problem = model.problem();
      const double samples = inputs();
      lines[k] = std::make_unique<Line>(
          Line{problem.noise_variances().mean(),
               teacher_spectrum(problem),
               masked_errors(problem, std::span(&samples, 1), lambdas_, order_)});
    });
    std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
      return a->noise < b->noise;
    });
    for (std::size_t l = 0; l < lambdas_.size(); ++l) {
      const double lambda = lambdas_[l];
      Curves curves = peak_curves(lambda);
      for (const auto& line : lines) {
        const MaskedError& error = line->errors[l].front();
        curves.add(line->noise,
                   {test_error_value(order_, error.test_error, error.finite_size_test),
                    taught(line->spectrum, line->noise, inputs(), lambda, order_),
                    taught(line->spectrum, 0, inputs(), lambda, order_)});
      }
      curves.into(result);
    }
  }

  std::vector<TeacherErrors> observe(const GaussianModel& model,
                                     Index samples,
                                     const std::vector<double>& noises,
                                     const Replicate& replicate) const {
    RandomStream stream = replicate.stream();
    RandomStream labels = replicate.stream(StreamId::model);
    return teacher_errors(
        {.problem = model.problem(),
         .factor = model.factor(),
         .lambdas = lambdas_,
         .noises = noises,
         .data_sets = data_sets_,
         .teachers = teachers_},
        [&] { return model.samples(samples, stream); },
        labels);
  }

  Configuration configuration_;
  GaussianModel model_;
  RidgeOrder order_;
  SampleSizes sizes_;
  std::vector<double> lambdas_;
  std::vector<double> noises_;
  std::int64_t data_sets_;
  Index teachers_;
  std::vector<Peak> peaks_;
};

Figure figure(const Configuration& c) {
  const std::string lambda = c.reals("sweep.lambda").size() > 1 ? ", {/:Italic λ} = {lambda}" : "";
  const Axis error{.label = "test error {/:Italic E}_{test}", .scale = AxisScale::log};
  Panel curves{
      .x = {.label = "{/:Italic α} = {/:Italic M} / {/:Italic N}", .scale = AxisScale::log},
      .y = error,
      .layers = {{.series = "test_error", .label = "masked" + lambda},
                 {.series = "teacher_error",
                  .label = "teacher, {/:Italic σ}^2 = {noise}" + lambda,
                  .hollow = true}},
      .x_name = "alpha",
      .vertical_marks = {1.0}};
  Panel peaks{
      .x = {.label = "noise of the labels {/:Italic σ}^2"},
      .y = {.label = "{/:Italic E}_{test} at {/:Italic M} = {/:Italic N}", .scale = AxisScale::log},
      .layers = {{.series = "peak", .label = "masked" + lambda},
                 {.series = "teacher_peak",
                  .label = "teacher, {/:Italic σ}^2" + lambda,
                  .hollow = true},
                 {.series = "clean_peak", .label = "teacher, no noise" + lambda}},
      .x_name = "noise"};
  return {
      .name = "gauss-teacher",
      .panels = {curves, peaks},
      .columns = 2,
      .caption =
          "Ridge regression of masked sites, whose noise the covariance sets, next to that of a "
          "linear teacher's labels on the same Gaussian inputs, whose noise is a parameter; all "
          "labels have variance 1. Left: test error against samples per input. Right: test "
          "error at M = N against the noise, which correlations vary. Lines: " +
          order_words(c) + "; points: simulation, mean and standard error over replicates."};
}

/// Whether the theory denies a peak at M = N, as it does of large penalties.
bool denies_peak(const Observed& observed, const Series& masked) {
  for (const Prediction& theory : observed.theory) {
    if (theory.series.name != masked.name || theory.series.point != masked.point) continue;
    const auto at = [&](double alpha) {
      const auto found = std::ranges::find(theory.series.x, alpha);
      const auto k = static_cast<std::size_t>(found - theory.series.x.begin());
      return found == theory.series.x.end() ? std::nan("") : theory.series.y[k];
    };
    return at(1) <= at(masked.x.front()) || at(1) <= at(masked.x.back());
  }
  return false;
}

/// Noise makes the peak, a parameter or not: at M = N masked modelling is worse than with fewer
/// and with more samples, a teacher without noise better than with fewer.
std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  for (const double lambda : ascending(c.reals("sweep.lambda"))) {
    const auto at_peak = [&](const ObservedCurve* curve) -> std::optional<std::size_t> {
      if (curve == nullptr) return {};
      const std::vector<double>& x = curve->mean.x;
      const auto found = std::find(x.begin(), x.end(), 1.0);
      if (found == x.end() || found == x.begin() || found + 1 == x.end()) return {};
      return static_cast<std::size_t>(found - x.begin());
    };
    const auto where = fmt::format("[lambda={:.4g}]", lambda);
    const ObservedCurve* masked = observed.curve("test_error", {{"lambda", lambda}});
    if (const auto peak = at_peak(masked); peak && !denies_peak(observed, masked->mean)) {
      const std::vector<std::vector<double>> ends = {masked->values.front(), masked->values.back()};
      all.push_back(claim_tested("peak" + where,
                                 "the test error of masked modelling at M = N is above that with "
                                 "the fewest and the most samples",
                                 some_above_all(std::span(&masked->values[*peak], 1), ends),
                                 {}));
    }
    const ObservedCurve* clean =
        observed.curve("teacher_error", {{"lambda", lambda}, {"noise", 0.0}});
    if (const auto peak = at_peak(clean)) {
      std::vector<double> fall;
      const std::vector<double>& before = clean->values[*peak - 1];
      const std::vector<double>& there = clean->values[*peak];
      for (std::size_t r = 0; r < std::min(before.size(), there.size()); ++r) {
        fall.push_back(before[r] - there[r]);
      }
      all.push_back(claim_above("no_peak" + where,
                                "the test error of a teacher without noise is lower at M = N than "
                                "with fewer samples",
                                fall,
                                0));
    }
  }
  return all;
}

}  // namespace

Study study() {
  return described(
      {.name = "gauss-teacher", .make = make<Teacher>, .figure = figure, .claims = claims});
}

}  // namespace attica::gauss_teacher
