/// Bad input of the studies of attention dynamics, latent trees and deep networks is refused by
/// name before any work.

#include "attica/studies/joma_studies.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "attica/core/error.hpp"
#include "attica/studies/deep_common.hpp"
#include "configured_study.hpp"

namespace {

using namespace attica;
using attica::testing::configured;
using Catch::Matchers::Contains;

/// What `make`, or the theory if it is accepted, says.
std::string refusal(const Study& study, const Table& overrides) {
  return attica::testing::refusal(study, overrides, true);
}

Series series_of(const Study& study, const Table& overrides, const std::string& name) {
  Configuration c = configured(study, overrides);
  for (const Prediction& p : study.make(c)->theory(TheoryGrid::requested).predictions) {
    if (p.series.name == name) return p.series;
  }
  FAIL("no series " << name);
  return {};
}

}  // namespace

TEST_CASE("joma studies: bad input is refused by name", "[studies][joma]") {
  CHECK_THAT(refusal(joma_softmax(), {{"sim.steps", List{0, 5}}}), Contains("sim.steps"));
  CHECK_THAT(refusal(joma_erf(), {{"sim.eta", 10.0}}), Contains("sim.eta"));
  CHECK_THAT(refusal(joma_blowup(), {{"model.delta", List{0.0, 0.0}}}), Contains("model.delta"));
  CHECK_THAT(refusal(joma_convergence_time(), {{"sweep.mu", List{0.0}}}), Contains("sweep.mu"));
  CHECK_THAT(refusal(joma_convergence_time(), {{"sweep.mu", List{60.0}}}), Contains("600"));
  CHECK_THAT(refusal(joma_salience(), {{"sweep.mu_j", List{1.0}}}), Contains("sweep.mu_k"));
  CHECK_THAT(refusal(joma_salience(), {{"sweep.mu_k", List{0.0}}}), Contains("sweep.mu_k"));
  CHECK_THAT(refusal(joma_bounce(), {{"sweep.gamma", List{100.0}}}), Contains("300"));
  CHECK_THAT(refusal(joma_bounce(), {{"model.probability", List{0.5, 0.3, 0.1, 0.2}}}),
             Contains("model.probability"));
  CHECK_THAT(refusal(joma_bounce(), {{"model.target", List{1.0}}}), Contains("model.target"));
}

TEST_CASE("joma studies: degenerate input has its limit", "[studies][joma]") {
  // Nothing to learn: constant solution, with a warning; no blow-up time is printed.
  Configuration c = configured(joma_erf(), {{"model.delta", List{0.0, 0.0}}});
  const auto still = joma_erf().make(c);
  CHECK(still->points() == 0);
  CHECK_THAT(still->warnings().at(0), Contains("never blows up"));
  CHECK(still->theory(TheoryGrid::requested).diagnostics.empty());
  // Already there.
  const Series time = series_of(
      joma_convergence_time(), {{"sweep.mu", List{2.0}}, {"model.v0", 2.0}}, "convergence_time");
  CHECK(time.y == std::vector<double>(time.y.size(), 0.0));
  // Without attention there is no minimum: its series are left out, the depth is 0.
  const Series depth = series_of(joma_bounce(), {{"model.kind", "none"}}, "bounce_depth");
  CHECK(depth.y == std::vector<double>(depth.y.size(), 0.0));
  Configuration rest = configured(joma_invariants(), {{"sim.scale", 0.0}, {"sim.logit", 0.0}});
  CHECK_THAT(joma_invariants().make(rest)->warnings().at(0), Contains("nothing will move"));
}

TEST_CASE("tree studies: bad input is refused by name", "[studies][tree]") {
  const Study study = tree_cooccurrence();
  CHECK_THAT(refusal(study, {{"model.root_prior", List{0.5, 0.3, 0.3}}}), Contains("sum to 1"));
  CHECK_THAT(refusal(study, {{"model.root_child", List{List{0.9, 0.2}, List{0.9, 0.2}}}}),
             Contains("model.root_child"));
  CHECK_THAT(refusal(study,
                     {{"model.root_child", List{List{0.0, 0.0, 0.0}, List{0.0, 0.0, 0.0}}},
                      {"sweep.rho", List{1.0}}}),
             Contains("sweep.rho"));
  CHECK_THAT(refusal(study, {{"model.depth", 20}}), Contains("model.depth"));
  const Series one_row =
      series_of(study, {{"model.root_child", List{0.9, 0.2, 0.6}}}, "conditional_probability_root");
  CHECK(one_row.y == series_of(study, {}, "conditional_probability_root").y);

  CHECK_THAT(refusal(tree_latents(), {{"model.units", List{10}}}), Contains("model.units"));
  CHECK_THAT(refusal(tree_latents(), {{"model.units", List{3, 20}}}), Contains("model.units"));
  CHECK_THAT(refusal(tree_latents(), {{"model.children", 11}}), Contains("model.children"));
  CHECK_THAT(refusal(tree_latents(), {{"model.classes", 10000}}), Contains("model.classes"));
  CHECK_THAT(refusal(tree_latents(), {{"model.length", 3}}), Contains("model.length"));
  CHECK_THAT(refusal(tree_latents(), {{"model.heads", 3}}), Contains("model.heads"));
}

TEST_CASE("deep studies: bad input, and what follows from the data", "[studies][deep]") {
  CHECK_THAT(refusal(deep_entropy(), {{"model.heads", 5}}), Contains("model.heads"));
  CHECK_THAT(refusal(deep_entropy(), {{"model.file", "/nowhere"}}), Contains("model.file"));
  Configuration c = configured(deep_entropy(), {});
  static_cast<void>(deep_entropy().make(c));
  CHECK(c.integer("model.layers") == 2);
  CHECK(c.integer("model.width") == 32);

  const std::filesystem::path file = std::filesystem::temp_directory_path() / "attica-short.txt";
  std::ofstream(file) << "too short a text";
  Configuration text = configured(deep_entropy(), {{"model.file", file.string()}});
  CHECK_THROWS_WITH(deep_entropy().make(text), Contains("model.file"));
  CHECK(text.integer("model.layers") == 1);
  CHECK(text.integer("model.width") == 64);
  std::filesystem::remove(file);
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THAT(refusal(deep_entropy(), {{"model.file", folder}}), Contains("no folder"));
}

TEST_CASE("bounce_statistic: smooth minimum after the start", "[studies][deep]") {
  const std::vector<double> curve = {2, 1, 1, 1, 1, 1, 1.5, 1.5, 1.5, 1.5, 1.5};
  CHECK(bounce_statistic(curve) == Approx(0.5));
  CHECK(bounce_statistic({2, 1.8, 1.6, 1.4, 1.2, 1.0, 0.8}) == Approx(0));
  CHECK(bounce_statistic({1, 2, 2, 2, 2, 2, 2}) == 0);  // never falls
}
