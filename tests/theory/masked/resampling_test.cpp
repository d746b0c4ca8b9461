#include "attica/theory/masked/resampling.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "reference_values.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::number;
using attica::testing::Reference;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace masked_resampling_test {

std::vector<NoiseShare> noise_of(const std::string& law) {
  static const std::map<std::string, NoiseVariances> laws = {{"beta", {NoiseLaw::beta, 1}},
                                                             {"equal", {NoiseLaw::equal, 1}},
                                                             {"groups", {NoiseLaw::groups, 0.4}}};
  return noise_shares(laws.at(law));
}

/// K = 0 means fresh masks there.
ResamplingProblem problem_of(Reference entry) {
  ResamplingProblem p{.noise = noise_of(entry["law"].text()),
                      .alpha = entry.value("alpha", 1.0),
                      .beta = number(entry["beta"]),
                      .rho = number(entry["rho"]),
                      .lambda = number(entry["lam"])};
  if (entry["K"].integer() > 0) p.masks = number(entry["K"]);
  return p;
}

double moment(const std::vector<NoiseShare>& noise, int power) {
  double sum = 0;
  for (const auto& [variance, share] : noise) sum += share * std::pow(variance, power);
  return sum;
}

TEST_CASE("resampled_masks: reference fixed points", "[theory][masked]") {
  constexpr double kAccuracy = 1e-10;
  for (const char* part : {"fixed_points", "other_parameters"}) {
    for (const Reference entry : reference_values("masked-resampling")[part]) {
      CAPTURE(part, entry.dump());
      const ResamplingPoint p = resampled_masks(problem_of(entry));
      CHECK_THAT(p.alignment, WithinAbs(number(entry["M"]), kAccuracy));
      CHECK_THAT(p.weight_norm, WithinRel(number(entry["Q"]), kAccuracy));
      CHECK_THAT(p.noise_norm, WithinRel(number(entry["C"]), kAccuracy));
      CHECK_THAT(p.response, WithinRel(number(entry["Delta"]), kAccuracy));
      CHECK_THAT(p.cosine, WithinAbs(number(entry["cos"]), kAccuracy));
      CHECK_THAT(p.train_loss, WithinRel(number(entry["train"]), kAccuracy));
      CHECK_THAT(p.test_loss, WithinAbs(number(entry["test"]), kAccuracy));
      CHECK_THAT(p.accuracy, WithinRel(number(entry["accuracy_population"]), kAccuracy));
      CHECK_THAT(p.replicon, WithinRel(number(entry["replicon"]), kAccuracy));
      if (entry.contains("d_cos2")) {
        CHECK_THAT(p.alignment_excess, WithinRel(number(entry["d_cos2"]), 1e-8));
      }
      CHECK(p.residual < 1e-13);
      // Stable wherever there is an overlap, marginal without.
      if (p.alignment > 0) CHECK(p.replicon < 1);
      if (p.alignment == 0) CHECK_THAT(p.replicon, WithinAbs(1, 1e-9));
    }
  }
}

TEST_CASE("resampling_threshold: reference values, closed forms and the weak signal",
          "[theory][masked]") {
  constexpr double kAccuracy = 1e-9;
  for (const Reference entry : reference_values("masked-resampling")["thresholds"]) {
    CAPTURE(entry.dump());
    ResamplingProblem p = problem_of(entry);
    const double found = resampling_threshold(p);
    CHECK_THAT(found, WithinRel(number(entry["alpha_c"]), kAccuracy));
    CHECK_THAT(bayes_threshold(p), WithinRel(number(entry["bayes"]), kAccuracy));
    if (p.masks.value_or(0) == 1) {
      const double kappa2 = moment(p.noise, 2);
      const double c = p.rho * (1 - p.rho);
      const double excess = 2 * kappa2 - p.beta * (2 * p.rho - 1);
      const double closed = (1 + excess * excess / (4 * c * p.beta * p.beta)) / (2 * kappa2);
      CHECK_THAT(found, WithinRel(closed, kAccuracy));
    }
    if (!entry["lam_1e4"].is_null()) {
      p.lambda = 1e-4;
      CHECK_THAT(resampling_threshold(p), WithinRel(number(entry["lam_1e4"]), kAccuracy));
    }
  }
  for (const std::optional<double> masks :
       {std::optional(1.0), std::optional(4.0), std::optional<double>()}) {
    ResamplingProblem weak{.noise = noise_of("beta"), .masks = masks, .beta = 1e-3};
    CHECK_THAT(resampling_threshold(weak), WithinRel(weak_signal_threshold(weak), 2e-3));
  }
}

TEST_CASE("resampled_masks: one mask without penalty below the threshold in closed form",
          "[theory][masked]") {
  for (const double alpha : {0.6, 1.0, 2.0}) {
    const ResamplingProblem p{.noise = noise_of("beta"), .masks = 1, .alpha = alpha};
    const double kappa2 = moment(p.noise, 2);
    const double delta = 1 / (2 * std::sqrt(0.75 * 0.25 * (2 * alpha * kappa2 - 1)));
    const ResamplingPoint at = resampled_masks(p);
    CHECK_THAT(at.response, WithinRel(delta, 1e-9));
    CHECK_THAT(at.weight_norm, WithinRel(4 * delta, 1e-9));
    CHECK_THAT(at.noise_norm, WithinRel(4 * kappa2 * delta, 1e-9));
    CHECK_THAT(at.train_loss, WithinRel(-2 / alpha, 1e-9));
  }
}

TEST_CASE("resampled_masks: fresh masks at equal noise in closed form", "[theory][masked]") {
  for (const double alpha : {0.5, 1.5, 8.0}) {
    for (const double beta : {0.7, 1.0, 2.5}) {
      for (const double rho : {0.2, 0.75}) {
        CAPTURE(alpha, beta, rho);
        constexpr double kLambda = 1e-3;
        const ResamplingPoint at =
            resampled_masks({.alpha = alpha, .beta = beta, .rho = rho, .lambda = kLambda});
        const bool seen = alpha * beta * beta > 1;
        const double root = 1 + 1 / std::sqrt(alpha);
        const double x = seen ? (1 + beta) * (1 + 1 / (alpha * beta)) : root * root;
        const double squared =
            seen ? (1 - 1 / (alpha * beta * beta)) / (1 + 1 / (alpha * beta)) : 0;
        const double q = (x - 1 - kLambda / (4 * alpha * rho * (1 - rho))) / ((1 - rho) * x + rho);
        CHECK_THAT(at.weight_norm, WithinRel(q, 1e-9));
        CHECK_THAT(at.noise_norm, WithinRel(q, 1e-9));
        CHECK_THAT(at.cosine * at.cosine, WithinAbs(squared, 1e-9));
      }
    }
  }
}

/// The largest eigenvalue of S - τ diag S in the limit, S the second moments of n = αd samples: its
/// resolvent follows from e = (1/n) Σ γ/(γc - τγ - z), c = 1/(1+e), and a spike's outlier from 1 +
/// βc E[1/(γc - τγ - z)] = 0.
double tilted_eigenvalue(const ResamplingProblem& p, double tau) {
  const auto eigenvalue = [&](double e) {
    const double c = 1 / (1 + e);
    double low = -std::numeric_limits<double>::infinity();
    for (const auto& [g, share] : p.noise) low = std::max(low, g * (c - tau));
    double high = low + 1e6;
    for (int k = 0; k < 100; ++k) {
      const double z = (low + high) / 2;
      double f = 0;
      for (const auto& [g, share] : p.noise) f += share * g / (g * (c - tau) - z) / p.alpha;
      (f < e ? low : high) = z;
    }
    return high;
  };
  const auto outlier = [&](double e) {
    const double c = 1 / (1 + e);
    const double z = eigenvalue(e);
    double f = 1;
    for (const auto& [g, share] : p.noise) f += p.beta * c * share / (g * (c - tau) - z);
    return f;
  };
  // The edge is the least eigenvalue along e; the outlier lies above it.
  double low = -1 + 1e-9;
  double high = -1e-9;
  for (int k = 0; k < 80; ++k) {
    const double a = low + (high - low) / 3;
    const double b = high - (high - low) / 3;
    (eigenvalue(a) < eigenvalue(b) ? high : low) = eigenvalue(a) < eigenvalue(b) ? b : a;
  }
  const double edge = low;
  if (outlier(edge) >= 0) return eigenvalue(edge);
  double left = edge;
  double right = -1e-9;
  for (int k = 0; k < 100; ++k) {
    const double middle = (left + right) / 2;
    (outlier(middle) < 0 ? left : right) = middle;
  }
  return eigenvalue(left);
}

TEST_CASE("resampled_masks: fresh masks are an eigenvector of S - tau diag S", "[theory][masked]") {
  // w is the top eigenvector for τ = (2+bQ)/(2-aQ), and stationary in its norm; by Hellmann and
  // Feynman y = wᵀ diag(γ) w/|w|² is minus the derivative of the eigenvalue in τ.
  for (const char* law : {"beta", "groups"}) {
    for (const double alpha : {0.7, 3.0, 8.0}) {
      CAPTURE(law, alpha);
      const ResamplingProblem p{.noise = noise_of(law), .alpha = alpha, .lambda = 1e-4};
      const double a = 1 - p.rho;
      const double b = p.rho;
      double slope = 0;
      const auto norm = [&](double q) {
        constexpr double kStep = 1e-4;
        const double tau = (2 + b * q) / (2 - a * q);
        slope =
            -(tilted_eigenvalue(p, tau + kStep) - tilted_eigenvalue(p, tau - kStep)) / (2 * kStep);
        const double x = tilted_eigenvalue(p, tau) + tau * slope;
        return (x - slope - p.lambda / (4 * alpha * a * b)) / (a * x + b * slope);
      };
      const ResamplingPoint at = resampled_masks(p);
      CHECK_THAT(norm(at.weight_norm), WithinRel(at.weight_norm, 2e-6));
      CHECK_THAT(at.weight_norm * slope, WithinRel(at.noise_norm, 2e-6));
    }
  }
}

TEST_CASE("resampled_masks: many stored masks are fresh ones", "[theory][masked]") {
  for (const Reference entry : reference_values("masked-resampling")["large_K"]) {
    const ResamplingProblem p{.noise = noise_of(entry["law"].text()),
                              .masks = number(entry["K"]),
                              .alpha = number(entry["alpha"]),
                              .lambda = 1e-4};
    CHECK_THAT(resampled_masks(p).weight_norm, WithinRel(number(entry["Q"]), 1e-9));
  }
  for (const double alpha : {0.8, 3.0}) {
    const ResamplingProblem fresh{.noise = noise_of("beta"), .alpha = alpha, .lambda = 1e-4};
    ResamplingProblem many = fresh;
    many.masks = 1e6;
    CHECK_THAT(resampled_masks(many).weight_norm,
               WithinRel(resampled_masks(fresh).weight_norm, 3e-6));
  }
}

TEST_CASE("masked-resampling: Bayes and eigenvectors next to their references",
          "[theory][masked]") {
  for (const Reference entry : reference_values("masked-resampling")["baselines"]) {
    CAPTURE(entry.dump());
    const ResamplingProblem p{.noise = noise_of(entry["law"].text()),
                              .alpha = number(entry["alpha"]),
                              .beta = number(entry["beta"])};
    CHECK_THAT(bayes_cosine(p), WithinAbs(number(entry["bayes"]), 1e-9));
    const std::vector<RivalOverlap> rivals = rival_overlaps(p);
    const std::vector<std::string> names = {"pca", "hollow", "correlation_right"};
    for (std::size_t k = 0; k < names.size(); ++k) {
      CHECK_THAT(std::sqrt(rivals[k].overlap), WithinAbs(number(entry[names[k]]), 1e-9));
      CHECK((rivals[k].overlap > 0) == (p.beta > rivals[k].threshold));
    }
  }
}

TEST_CASE("few_labels_accuracy: reference values, one label, many labels", "[theory][masked]") {
  for (const Reference entry : reference_values("masked-resampling")["downstream"]) {
    ResamplingProblem p{.noise = noise_of("beta"), .alpha = number(entry["alpha"]), .lambda = 1e-4};
    if (entry["K"].integer() > 0) p.masks = number(entry["K"]);
    const double accuracy = resampled_masks(p).accuracy;
    for (const int n : {1, 4, 16, 100}) {
      CHECK_THAT(few_labels_accuracy(accuracy, n),
                 WithinAbs(number(entry["N" + std::to_string(n)]), 1e-8));
    }
  }
  // One label sets the slope right as often as the feature has the label's sign.
  CHECK_THAT(few_labels_accuracy(0.8, 1), WithinAbs(0.5 + 2 * 0.3 * 0.3, 1e-7));
  CHECK_THAT(few_labels_accuracy(0.8, 1000), WithinAbs(0.8, 1e-9));
  CHECK_THAT(few_labels_accuracy(0.5, 10), WithinAbs(0.5, 1e-9));
}

TEST_CASE("resampled_masks: bad input is refused by name", "[theory][masked]") {
  const auto refusal = [](const ResamplingProblem& p) {
    return refused([&] { static_cast<void>(resampled_masks(p)); });
  };
  CHECK(refusal({.alpha = 0}) == "alpha");
  CHECK(refusal({.rho = 0}) == "rho");
  CHECK(refusal({.rho = 1}) == "rho");
  CHECK(refusal({.lambda = -1}) == "lambda");
  CHECK(refusal({.masks = 0.5}) == "masks");
  CHECK(refusal({.beta = -1}) == "beta");
  CHECK(refusal({.noise = {{2, 0.5}, {1, 0.5}}}) == "variance");
  CHECK(refusal({.noise = {{-1, 0.5}, {3, 0.5}}}) == "variance");
  CHECK(refusal({.noise = {{1, 0.5}}}) == "share");
  // One mask and few samples: no finite minimum without a penalty, Q ~ lambda^(-1/3) with one.
  ResamplingProblem few{.noise = noise_of("beta"), .masks = 1, .alpha = 0.35};
  CHECK(refusal(few) == "lambda");
  few.lambda = 1e-6;
  const double q = resampled_masks(few).weight_norm;
  few.lambda = 1e-9;
  CHECK_THAT(resampled_masks(few).weight_norm / q, WithinRel(10.0, 0.1));
  CHECK(refused([] { static_cast<void>(resampling_threshold({.beta = 0})); }) == "beta");
  CHECK(refused([] { static_cast<void>(few_labels_accuracy(0.4, 1)); }) == "accuracy");
  CHECK(refused([] { static_cast<void>(few_labels_accuracy(0.6, 0)); }) == "labels");
}

}  // namespace masked_resampling_test
