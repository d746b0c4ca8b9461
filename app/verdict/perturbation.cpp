#include "attica/app/verdict/perturbation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica::app {
namespace {

/// A series times a factor, or stretched by it along x.
struct Distortion {
  std::string series;
  bool in_x = false;
  double factor = 1;
};

Error unreadable(const std::string& perturbation) {
  return invalid_parameter("--perturb",
                           perturbation,
                           "KEY=VALUE, SERIES*=FACTOR or SERIES.x*=FACTOR with a factor above 0");
}

Distortion read_distortion(const std::string& perturbation, std::size_t at) {
  Distortion d{.series = perturbation.substr(0, at)};
  constexpr std::string_view kInX = ".x";
  if (d.series.ends_with(kInX)) {
    d.in_x = true;
    d.series.resize(d.series.size() - kInX.size());
  }
  const char* const end = perturbation.data() + perturbation.size();
  const auto [rest, code] = std::from_chars(perturbation.data() + at + 2, end, d.factor);
  if (code != std::errc() || rest != end || !std::isfinite(d.factor) || !(d.factor > 0)) {
    throw unreadable(perturbation);
  }
  return d;
}

/// y at x by straight lines; the end values beyond the ends.
double between(const Series& series, double x) {
  const auto above = std::upper_bound(series.x.begin(), series.x.end(), x);
  if (above == series.x.begin()) return series.y.front();
  if (above == series.x.end()) return series.y.back();
  const auto k = static_cast<std::size_t>(above - series.x.begin());
  const double part = (x - series.x[k - 1]) / (series.x[k] - series.x[k - 1]);
  return series.y[k - 1] + part * (series.y[k] - series.y[k - 1]);
}

void distort(std::vector<Prediction>& theory, const Distortion& d) {
  bool found = false;
  for (Prediction& p : theory) {
    if (p.series.name != d.series) continue;
    found = true;
    const Series right = p.series;
    for (std::size_t k = 0; k < right.x.size(); ++k) {
      p.series.y[k] = d.in_x ? between(right, right.x[k] / d.factor) : d.factor * right.y[k];
    }
  }
  if (found) return;
  throw Error(ErrorKind::input, fmt::format("--perturb: the theory has no series '{}'", d.series));
}

/// The perturbed curve that stands for the right one: the same of the name, counted in order.
Prediction under_the_right_name(const std::vector<Prediction>& perturbed,
                                const std::vector<Prediction>& right,
                                std::size_t which) {
  const std::string& name = right[which].series.name;
  const auto same = [&](const Prediction& p) { return p.series.name == name; };
  auto rank =
      std::count_if(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(which), same);
  for (const Prediction& p : perturbed) {
    if (!same(p) || rank-- > 0) continue;
    Prediction renamed = p;
    renamed.series.point = right[which].series.point;
    return renamed;
  }
  throw Error(
      ErrorKind::input,
      fmt::format(
          "--perturb: the perturbed theory has no '{}' at {}: it has values at other points "
          "than the simulation",
          name,
          describe(right[which].series.point)));
}

}  // namespace

std::vector<std::string> perturbation_texts(const PerturbedTheory& perturbation) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : perturbation.values)
    texts.push_back(fmt::format("{}={}", key, to_toml(value)));
  if (!perturbation.series.empty())
    texts.push_back(fmt::format("{}*={}", perturbation.series, perturbation.factor));
  return texts;
}

std::vector<Prediction> perturbed_theory(const ConfigurationRequest& request,
                                         const Registry& registry,
                                         const std::vector<Prediction>& theory,
                                         const std::vector<std::string>& perturbations) {
  ConfigurationRequest wrong = request;
  std::vector<Distortion> distortions;
  for (const std::string& perturbation : perturbations) {
    if (const auto at = perturbation.find("*="); at != std::string::npos) {
      distortions.push_back(read_distortion(perturbation, at));
    } else if (perturbation.find('=') != std::string::npos) {
      wrong.overrides.push_back({.shown = "--perturb " + perturbation, .assignment = perturbation});
    } else {
      throw unreadable(perturbation);
    }
  }
  std::vector<Prediction> perturbed = theory;
  if (wrong.overrides.size() > request.overrides.size()) {
    const TheoryRecord other =
        compute_theory(prepare(read_configuration(wrong, registry)), TheoryGrid::run);
    for (std::size_t k = 0; k < theory.size(); ++k)
      perturbed[k] = under_the_right_name(other.predictions, theory, k);
  }
  for (const Distortion& d : distortions) distort(perturbed, d);
  return perturbed;
}

}  // namespace attica::app
