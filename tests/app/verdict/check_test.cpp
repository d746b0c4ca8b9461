#include "attica/app/verdict/check.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "app/toy_study.hpp"
#include "attica/studies/claims.hpp"

using namespace attica;
using namespace attica::app;

namespace check_test {

/// n replicates, symmetric about `mean` with standard deviation about `spread`.
std::vector<double> sample(double mean, double spread, int n) {
  std::vector<double> values;
  for (int r = 0; r < n; ++r)
    values.push_back(mean + spread * ((r % 2 == 0) ? 1 : -1) * (1 + 0.1 * (r / 2 % 3)));
  return values;
}

/// A run with one curve y(x) at lambda = 0.1, of which everything is known.
struct Run {
  Prediction theory{
      .series = {.name = "y", .point = {{"lambda", 0.1}}, .x_name = "x", .x = {}, .y = {}}};
  Replicates simulation;
  std::vector<AgreementRule> rules{{.series = "y", .relative = 0.05}};
  std::vector<ClaimResult> claims = {};
  Json diagnostics = Json::object();

  void point(double x, double t, const std::vector<double>& values, bool failed = false) {
    theory.series.x.push_back(x);
    theory.series.y.push_back(t);
    simulate(x, values, failed);
  }
  void simulate(double x, const std::vector<double>& values, bool failed = false) {
    PartRecord part;
    for (const double v : values) {
      part.outcomes.push_back({.series = {{"y", {{"lambda", 0.1}}, "x", {x}, {v}}},
                               .failed = failed && !std::isfinite(v)});
    }
    simulation.add(part, {});
  }
  CheckRecord check(std::optional<double> post_hoc = {}, bool failed = false) {
    simulation.finish();
    return app::check({.study = "toy",
                       .run = "/runs/toy",
                       .rules = rules,
                       .theory = std::span(&theory, 1),
                       .simulation = &simulation,
                       .claims = claims,
                       .diagnostics = diagnostics,
                       .post_hoc_margin = post_hoc,
                       .failed = failed,
                       .why_not_compared = "above x = 2, where it is steep"});
  }
};

TEST_CASE("check: AGREE when every point is inside its margin", "[app][check]") {
  Run run;
  for (int k = 1; k <= 5; ++k) run.point(k, k, sample(1.01 * k, 0.02 * k, 100));
  const CheckRecord record = run.check();
  CHECK(record.verdict == Verdict::agree);
  CHECK(record.exit_code() == 0);
  CHECK(explanation(record).empty());
  CHECK(to_json(record)["verdict"] == "AGREE");
  CHECK(to_json(record)["margin"] == 0.05);
  CHECK(to_json(record)["post_hoc_margin"] == false);
  CHECK(to_json(record)["counts"]["agree"] == 5);
  CHECK(to_json(record)["claims"].empty());
  REQUIRE(to_json(record)["points"].size() == 5);
  const Json point = to_json(record)["points"][1];
  CHECK(point["series"] == "y");
  CHECK(point["point"]["lambda"] == 0.1);
  CHECK(point["x"] == 2.0);
  CHECK(point["theory"] == 2.0);
  CHECK(point["mean"].get<double>() == Approx(2.02).epsilon(1e-3));
  CHECK(point["n"] == 100);
  CHECK(point["margin"].get<double>() == Approx(0.1));
  CHECK(point["verdict"] == "AGREE");
  CHECK_THAT(text(record),
             Catch::Contains("AGREE: 5 of 5 points agree, 0 disagree, 0 inconclusive"));
  REQUIRE(record.residuals().size() == 5);
  CHECK(record.residuals()[1].margin == Approx(0.1));
  CHECK_NOTHROW(dump(to_json(record)));
}

TEST_CASE("check: DISAGREE names at most six points, the worst first, and the likely cause",
          "[app][check]") {
  Run run;
  run.diagnostics["likely_cause"] = "the moon is full";
  run.point(0.5, 1, sample(1, 0.02, 100));
  for (int k = 1; k <= 8; ++k) run.point(k, k, sample((1.1 + 0.01 * k) * k, 0.02 * k, 100));
  const CheckRecord record = run.check();
  CHECK(record.verdict == Verdict::disagree);
  CHECK(record.exit_code() == 1);
  CHECK(to_json(record)["likely_cause"] == "the moon is full");
  CHECK_THAT(explanation(record),
             Catch::StartsWith("disagrees: y at lambda=0.1, x=8: simulation 9.44 +- "));
  CHECK_THAT(explanation(record), Catch::Contains(", theory 8 +- 0.4\n"));
  CHECK_THAT(explanation(record), Catch::Contains("and 2 more\nlikely cause: the moon is full\n"));
  CHECK(explanation(record).find("x=2:") == std::string::npos);
  CHECK_THAT(text(record), Catch::Contains("DISAGREE: 1 of 9 points agree, 8 disagree"));
  CHECK_THAT(text(record), Catch::EndsWith(explanation(record)));

  Run one;
  one.point(1, 1, sample(1.2, 0.02, 100));
  CHECK_THAT(explanation(one.check()),
             !Catch::Contains("more") && !Catch::Contains("likely cause"));
  CHECK_FALSE(to_json(one.check()).contains("likely_cause"));
  // The causes of a sweep's problems are all told, each once, and only when something disagrees.
  one.diagnostics = {{"file=a", {{"likely_cause", "a"}}},
                     {"file=b", {{"likely_cause", "b"}}},
                     {"c", {{"likely_cause", "a"}}}};
  CHECK(to_json(one.check())["likely_cause"] == "a; b");
  Run good;
  good.diagnostics["likely_cause"] = "the moon is full";
  good.point(1, 1, sample(1, 0.02, 100));
  CHECK_THAT(text(good.check()), !Catch::Contains("moon"));
}

TEST_CASE("check: a control is judged and is no point of the user's", "[app][check]") {
  // A second series, drawn around its theory of 1 or away from it.
  const auto run_with = [](double mean, double margin, double control_mean, bool control) {
    Run run;
    run.rules = {{.series = "y", .relative = 0.05},
                 {.series = "watch", .relative = 0.05, .control = control}};
    for (int k = 1; k <= 5; ++k) run.point(k, k, sample(mean * k, margin * k, 100));
    PartRecord part;
    for (const double v : sample(control_mean, 0.02, 100))
      part.outcomes.push_back({.series = {{"watch", {}, "none", {0}, {v}}}, .failed = false});
    run.simulation.add(part, {});
    run.simulation.finish();
    const std::vector<Prediction> theory{
        run.theory,
        {.series = {.name = "watch", .point = {}, .x_name = "none", .x = {0}, .y = {1}}}};
    return app::check({.study = "toy",
                       .run = "/runs/toy",
                       .rules = run.rules,
                       .theory = theory,
                       .simulation = &run.simulation,
                       .claims = {},
                       .post_hoc_margin = std::nullopt});
  };
  const CheckRecord good = run_with(1.01, 0.02, 1.0, true);
  CHECK(good.verdict == Verdict::agree);
  CHECK(good.points.compared == 5);
  CHECK(good.places.size() == 5);
  CHECK(good.residuals().size() == 5);
  CHECK(good.resolution.size() == 1);
  CHECK_THAT(summary(good), Catch::StartsWith("AGREE: 5 of 5 points agree"));
  CHECK(explanation(good) == "controls agree: watch\n");
  REQUIRE(to_json(good)["controls"].size() == 1);
  CHECK(to_json(good)["controls"][0]["series"] == "watch");
  CHECK(to_json(good)["controls"][0]["verdict"] == "AGREE");
  CHECK(to_json(good)["controls"][0]["worst"]["theory"] == 1.0);
  CHECK(to_json(good)["points"].size() == 5);

  const CheckRecord bad = run_with(1.01, 0.02, 1.2, true);
  CHECK(bad.verdict == Verdict::disagree);
  CHECK_THAT(summary(bad),
             Catch::StartsWith("DISAGREE: 5 of 5 points agree") &&
                 Catch::Contains("; control watch: DISAGREE"));
  CHECK_THAT(
      explanation(bad),
      Catch::Contains("control DISAGREE: 0 of 1 points agree; watch at none=0: simulation "));
  // It is judged as strictly as it was as a point: in one family with them.
  const CheckRecord counted = run_with(1.01, 0.02, 1.07, false);
  const CheckRecord apart = run_with(1.01, 0.02, 1.07, true);
  CHECK(counted.verdict == apart.verdict);
  REQUIRE(counted.points.points.size() == 6);
  CHECK(counted.points.points[5].p_disagree_adjusted ==
        apart.controls[0].points.points[0].p_disagree_adjusted);
  // A control that is undecided keeps the run from AGREE; one alone is no agreement.
  CHECK(run_with(1.01, 0.02, 1.049, true).verdict == Verdict::inconclusive);
}

TEST_CASE("check: INCONCLUSIVE says how many replicates would decide, once", "[app][check]") {
  Run run;
  run.point(1, 1, sample(1.01, 0.2, 40));
  const CheckRecord record = run.check();
  CHECK(record.verdict == Verdict::inconclusive);
  CHECK(record.exit_code() == 3);
  const std::size_t needed = to_json(record)["points"][0]["replicates_needed"];
  CHECK(needed > 40);
  const std::string hint = std::to_string(needed) + " replicates would decide";
  const auto at = text(record).find(hint);
  REQUIRE(at != std::string::npos);
  CHECK(text(record).find(hint, at + 1) == std::string::npos);
}

TEST_CASE("check: few replicates have no error bar and no verdict", "[app][check]") {
  Run run;
  run.point(1, 1, {1.0});
  const CheckRecord record = run.check();
  CHECK(record.exit_code() == 3);
  CHECK(to_json(record)["points"][0]["sem"].is_null());
  CHECK(to_json(record)["points"][0]["mean"] == 1.0);
}

TEST_CASE("check: NONE when nothing is compared", "[app][check]") {
  Run run;
  run.rules.clear();
  run.point(1, 1, sample(1.2, 0.02, 100));
  const CheckRecord record = run.check();
  CHECK(record.verdict == Verdict::none);
  CHECK(record.exit_code() == 0);
  CHECK(to_json(record)["summary"] == "NONE: nothing to compare");
}

TEST_CASE("check: points without theory or outside its claim are counted, not judged",
          "[app][check]") {
  Run run;
  run.point(1, 1, sample(1, 0.02, 100));
  run.simulate(2, sample(9, 0.02, 100));  // theory diverges there
  run.point(3, 3, sample(9, 0.02, 100));  // not claimed
  run.theory.compared = {true, false};
  const CheckRecord record = run.check();
  CHECK(record.verdict == Verdict::agree);
  CHECK(to_json(record)["counts"]["compared"] == 1);
  CHECK(to_json(record)["counts"]["no_theory"] == 1);
  CHECK(to_json(record)["counts"]["not_compared"] == 1);
  CHECK_FALSE(to_json(record)["points"][1].contains("theory"));
  CHECK(to_json(record)["points"][1]["margin"].is_null());
  CHECK_THAT(text(record), Catch::Contains("1 without theory, 1 not compared"));
  CHECK(to_json(record)["not_compared"].size() == 1);
  CHECK(to_json(record)["not_compared"][0]["x"] == 3.0);
  CHECK_THAT(text(record), Catch::Contains("3  not compared"));
  CHECK_THAT(text(record), Catch::Contains("\nnot compared: above x = 2, where it is steep\n"));
  CHECK(to_json(record)["not_compared_because"] == "above x = 2, where it is steep");
  CHECK(record.residuals().size() == 1);
}

TEST_CASE("check: a failed replicate or theory point ends with exit code 4, whatever the rest says",
          "[app][check]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Run run;
  run.point(1, 1, sample(1, 0.02, 100));
  std::vector<double> values = sample(2, 0.02, 100);
  values[17] = nan;
  run.point(2, 2, values, true);
  run.point(3, 3, std::vector<double>(10, nan), true);
  const CheckRecord record = run.check();
  CHECK(record.exit_code() == 4);
  CHECK(to_json(record)["counts"]["failed"] == 2);
  CHECK(to_json(record)["points"][2]["mean"].is_null());
  CHECK_THAT(text(record), Catch::Contains("FAILED numerically"));
  CHECK_NOTHROW(dump(to_json(record)));

  Run theory;
  theory.point(1, 1, sample(1, 0.02, 100));
  CHECK(theory.check({}, true).exit_code() == 4);
}

TEST_CASE("check: claims count as points do", "[app][check]") {
  const auto verdict = [](double mean, std::vector<Verdict> claims, bool compared = true) {
    Run run;
    if (!compared) run.rules.clear();
    run.point(1, 1, sample(mean, 0.02, 100));
    for (const Verdict v : claims)
      run.claims.push_back({"order", "3 < 2 < 1", v, "found 3 < 1 < 2"});
    return run.check().verdict;
  };
  constexpr auto agree = Verdict::agree;
  constexpr auto disagree = Verdict::disagree;
  constexpr auto inconclusive = Verdict::inconclusive;
  constexpr auto none = Verdict::none;
  CHECK(verdict(1, {agree, agree}) == agree);
  CHECK(verdict(1, {agree, disagree}) == disagree);
  CHECK(verdict(1, {disagree, inconclusive}) == disagree);
  CHECK(verdict(1, {inconclusive, agree}) == inconclusive);
  CHECK(verdict(1, {none}) == agree);
  CHECK(verdict(1.2, {agree}) == disagree);
  CHECK(verdict(1.2, {inconclusive}) == disagree);
  // Claims alone agree with no theory: they hold.
  CHECK(verdict(1, {agree}, false) == Verdict::claims_hold);
  CHECK(verdict(1, {agree, none}, false) == Verdict::claims_hold);
  CHECK(verdict(1, {inconclusive, disagree}, false) == disagree);
  CHECK(verdict(1, {agree, inconclusive}, false) == inconclusive);
  CHECK(verdict(1, {none}, false) == none);

  Run run;
  run.claims = {{"order", "3 < 2 < 1", disagree, "found 3 < 1 < 2"}};
  const CheckRecord record = run.check();
  CHECK(record.exit_code() == 1);
  CHECK(to_json(record)["claims"][0]["verdict"] == "DISAGREE");
  CHECK_THAT(explanation(record), Catch::Contains("fails: order: 3 < 2 < 1 (found 3 < 1 < 2)"));
}

TEST_CASE("check: the disagreements of a run's claims share one level", "[app][check]") {
  const auto verdicts = [](std::vector<double> p_disagree) {
    Run run;
    for (const double p : p_disagree) {
      run.claims.push_back(
          {.name = "c", .statement = "s", .detail = "d", .p_agree = 1.0, .p_disagree = p});
    }
    return run.check().verdict;
  };
  CHECK(verdicts({0.04}) == Verdict::disagree);
  CHECK(verdicts({0.04, 0.9}) == Verdict::inconclusive);
  CHECK(verdicts({0.02, 0.9}) == Verdict::disagree);
}

TEST_CASE("check: a claim that so few replicates could not refute is told", "[app][check]") {
  const auto checked = [](std::size_t claims, int replicates) {
    Run run;
    for (std::size_t k = 0; k < claims; ++k) {
      run.claims.push_back(claim_rate(
          "c", "s", std::vector<bool>(static_cast<std::size_t>(replicates), true), "d", kHalf));
    }
    return run.check();
  };
  // Five failures of five have p = 1/32: enough for one claim, not for one of two.
  CHECK(to_json(checked(1, 5))["claims"][0]["refutable"] == true);
  const CheckRecord two = checked(2, 5);
  CHECK(two.verdict == Verdict::claims_hold);
  CHECK(to_json(two)["claims"][0]["refutable"] == false);
  CHECK_THAT(text(two), Catch::Contains("too few replicates to refute it as one of 2 claims"));
  CHECK(to_json(checked(2, 6))["claims"][1]["refutable"] == true);
}

TEST_CASE("check: what was perturbed and what was edited is told", "[app][check]") {
  Run run;
  run.point(1, 1, sample(1, 0.02, 100));
  run.simulation.finish();
  const CheckRecord record = app::check({.study = "toy",
                                         .run = "/runs/toy",
                                         .rules = run.rules,
                                         .theory = std::span(&run.theory, 1),
                                         .simulation = &run.simulation,
                                         .claims = {},
                                         .post_hoc_margin = {},
                                         .perturbed = {"y*=1.1"},
                                         .edited = {"theory.json"}});
  CHECK_THAT(summary(record), Catch::Contains("perturbed theory: y*=1.1"));
  CHECK_THAT(summary(record), Catch::Contains("edited after the run: theory.json"));
  CHECK(to_json(record)["perturbed"][0] == "y*=1.1");
  CHECK(to_json(record)["edited"][0] == "theory.json");
}

TEST_CASE("check: resolution of a series and of its decades", "[app][check]") {
  Run run;
  // The second decade is ten times less precise.
  for (const double x : {1.0, 2.0, 5.0}) run.point(x, 1, sample(1, 0.001, 100));
  for (const double x : {10.0, 20.0, 50.0}) run.point(x, 1, sample(1, 0.1, 100));
  const CheckRecord record = run.check();
  REQUIRE(record.resolution.size() == 1);
  const SeriesResolution& r = record.resolution.front();
  REQUIRE(r.parts.size() == 2);
  CHECK(r.parts[0].first == 1);
  CHECK(r.parts[0].last == 5);
  CHECK(r.parts[1].first == 10);
  const auto rejects = [&](std::size_t part) {
    return r.parts[part].resolution.disagree.both().value();
  };
  CHECK(rejects(0) < rejects(1));
  CHECK(r.resolution.disagree.both() == r.parts[0].resolution.disagree.both());
  // What it states is so: a theory wrong by more in that decade alone, up or down, is rejected, and
  // one wrong by less, of the sign that is noticed later, is not.
  const auto rejected = [&](double x) {
    int found = 0;
    for (const double factor : {1 + x, 1 - x}) {
      Run wrong = run;
      for (std::size_t k = 3; k < 6; ++k) wrong.theory.series.y[k] *= factor;
      found += wrong.check().verdict == Verdict::disagree;
    }
    return found;
  };
  CHECK(rejected(1.001 * rejects(1)) == 2);
  CHECK(rejected(0.999 * rejects(1)) < 2);
  // Two of six points are the bluntest third.
  const Json told = to_json(record)["resolution"][0];
  CHECK(told["coarsest_third"]["disagree"].get<double>() == Approx(rejects(1)));
  CHECK(told["not_agree"].get<double>() == std::max(told["lower"]["not_agree"].get<double>(),
                                                    told["higher"]["not_agree"].get<double>()));
}

TEST_CASE("check: a margin given afterwards replaces the relative one and is recorded as post hoc",
          "[app][check]") {
  Run run;
  run.point(1, 1, sample(1.1, 0.02, 100));
  run.theory.finite_size = {0.01};
  CHECK(run.check().verdict == Verdict::disagree);
  const CheckRecord wide = run.check(0.2);
  CHECK(wide.verdict == Verdict::agree);
  CHECK(to_json(wide)["post_hoc_margin"] == true);
  CHECK(to_json(wide)["margin"] == 0.2);
  CHECK(to_json(wide)["points"][0]["margin"].get<double>() == Approx(0.21));
  CHECK_THAT(text(wide), Catch::Contains("post hoc margin 0.2"));
  CHECK_THROWS_AS(run.check(-0.1), Error);
  CHECK_THROWS_AS(run.check(std::numeric_limits<double>::quiet_NaN()), Error);
  // Without any margin there is no verdict.
  run.theory.finite_size.clear();
  CHECK(run.check(0.0).verdict == Verdict::none);
}

TEST_CASE("check: an INCONCLUSIVE names its points and what would decide them", "[app][check]") {
  Run run;
  run.point(1, 1, sample(1, 0.02, 40));
  run.point(2, 2, sample(2, 0.5, 40));
  const CheckRecord record = run.check();
  REQUIRE(record.verdict == Verdict::inconclusive);
  CHECK_THAT(explanation(record), Catch::Contains("undecided: y at lambda=0.1, x=2: about "));
  CHECK_THAT(explanation(record), !Catch::Contains("x=1:"));
  CHECK_THAT(explanation(record), Catch::Contains("another --seed and --replicates"));
}

TEST_CASE("check: what lacks is said where more replicates are not the question", "[app][check]") {
  Run run;
  run.point(1, 1, {0.9, 1.0, 1.1});
  run.point(2, 2, std::vector<double>(10, 2.0));
  run.point(3, 3, {3, 3.1, 2.9, 3, 3.1, 2.9, 3, std::numeric_limits<double>::quiet_NaN()});
  run.point(4, 4, {4});
  const CheckRecord record = run.check();
  for (const char* what : {"x=1: 3 replicates, fewer than 8",
                           "x=2: all 10 replicates are",
                           "x=3: 1 of 8 replicates failed",
                           "x=4: one replicate has no error bar"}) {
    CHECK_THAT(explanation(record), Catch::Contains(what));
  }
  const Json told = to_json(record);
  REQUIRE(told["points"].size() == 4);
  for (const Json& point : told["points"]) CHECK_FALSE(point.contains("replicates_needed"));
}

TEST_CASE("check: looks, and margins that came late or say nothing, are told", "[app][check]") {
  Run run;
  run.point(1, 1, sample(1, 0.02, 100));
  CheckRecord record = run.check();
  CHECK_FALSE(to_json(record).contains("looks"));
  record.looks = {60};
  CHECK_THAT(summary(record), !Catch::Contains("looks"));  // the first is what the rates are of
  record.looks = {60, 100};
  CHECK_THAT(summary(record), Catch::Contains("2 looks at these data, at 60, 100 replicates"));
  record.judged_before = "other-12345678";
  CHECK(to_json(record)["post_hoc_margin"] == true);
  CHECK_THAT(summary(record), Catch::Contains("after run other-12345678 had shown the same data"));
  CHECK_THAT(summary(run.check(0.99)), !Catch::Contains("% of the theory"));
  CHECK_THAT(summary(run.check(5.0)), Catch::Contains("500 % of the theory"));
}

TEST_CASE("check: the error bar of a single replicate is empty, not zero", "[app][check]") {
  Run run;
  run.point(1, 1, {1.0});
  CHECK_THAT(text(run.check()), !Catch::Contains(" 0      1"));
}

namespace {

/// A simulation that was brought, against theory at 0, 1/6, ... 1.
struct Brought {
  std::vector<Prediction> theory{{.series = {"y", {}, "t", {}, {}}}};
  Replicates simulation;
  std::vector<AgreementRule> rules{{.series = "y", .relative = 0.05}};
  CheckInput input{.study = "own",
                   .run = "/runs/own",
                   .rules = {},
                   .theory = {},
                   .claims = {},
                   .post_hoc_margin = {}};

  Brought() {
    for (int k = 0; k <= 6; ++k) {
      theory[0].series.x.push_back(k / 6.0);
      theory[0].series.y.push_back(1);
    }
    input.brought = input.from_table = true;
  }
  void simulate(double x,
                const std::vector<double>& values,
                const std::string& series = "y",
                const Point& point = {}) {
    PartRecord part;
    for (const double v : values)
      part.outcomes.push_back({.series = {{series, point, "t", {x}, {v}}}});
    simulation.add(part, {});
  }
  CheckRecord check() {
    simulation.finish();
    input.rules = rules;
    input.theory = theory;
    input.simulation = &simulation;
    return app::check(input);
  }
};

}  // namespace

TEST_CASE("check: what was brought matches by its printed digits", "[app][check]") {
  Brought run;
  for (const double x : {0.0, 0.166667, 0.33333334, 0.5, 0.6667, double(5.0F / 6.0F), 1.0})
    run.simulate(x, sample(1, 0.02, 100));
  const CheckRecord record = run.check();
  CHECK(record.verdict == Verdict::agree);
  CHECK(record.points.compared == 7);
  CHECK(record.unmatched.empty());
  CHECK(record.theory_only == 0);
}

TEST_CASE("check: a series that no margin names is named itself", "[app][check]") {
  Brought run;
  run.simulate(0.5, sample(1, 0.02, 100));
  run.simulate(0.5, sample(3, 0.02, 100), "spread");
  const CheckRecord record = run.check();
  CHECK(record.verdict == Verdict::agree);
  CHECK(record.points.compared == 1);
  CHECK_THAT(text(record), Catch::Contains("no [agreement.NAME] names them: series spread"));
  CHECK(to_json(record)["without_margin"] == Json::array({"spread"}));
}

TEST_CASE("check: a simulated point without theory keeps the verdict open", "[app][check]") {
  Brought run;
  run.simulate(0.5, sample(1, 0.02, 100));
  run.simulate(0.1668, sample(1, 0.02, 100));
  const CheckRecord open = run.check();
  CHECK(open.verdict == Verdict::inconclusive);
  CHECK(open.exit_code() == 3);
  REQUIRE(open.unmatched.size() == 1);
  CHECK_THAT(text(open),
             Catch::Contains("no theory: y at t=0.1668: the nearest t of the theory is "
                             "0.16666666666666666, 0.0008 off (relative): --match 0.001"));
  CHECK_THAT(summary(open),
             Catch::Contains("1 without theory, 6 of the theory without simulation"));
  CHECK(to_json(open)["unmatched"][0]["x"] == 0.1668);
  run.input.match = 1e-3;
  CHECK(run.check().verdict == Verdict::agree);
  CHECK(run.check().points.compared == 2);
  run.input.match.reset();
  run.input.partial = true;
  CHECK(run.check().verdict == Verdict::agree);
  // An accusation stands.
  run.input.partial = false;
  run.theory[0].series.y[3] = 2;
  CHECK(run.check().verdict == Verdict::disagree);
  // Where the theory diverges nothing was left out.
  run.theory[0].series.y[3] = 1;
  run.input.diagnostics = {{"diverged", {{{"series", "y"}, {"t", 0.1668}}}}};
  CHECK(run.check().verdict == Verdict::agree);
  // A study's own points may have no theory.
  run.input.diagnostics = Json::object();
  run.input.brought = false;
  CHECK(run.check().verdict == Verdict::agree);
}

TEST_CASE("check: curves without theory are named with what the theory has", "[app][check]") {
  Brought run;
  run.theory[0].series.point = {{"lambda", 0.1}};
  run.simulate(0.5, sample(1, 0.02, 100));
  CHECK_THAT(
      run.check().unmatched.at(0).why,
      Catch::Contains("y of the theory has the coordinate lambda (0.1), the simulation none"));
  CHECK(run.check().verdict == Verdict::inconclusive);  // a margin, and nothing met it
  CHECK(run.check().exit_code() == 3);
  run.simulate(0.5, sample(1, 0.02, 100), "y", {{"lambda", 0.2}});
  CHECK_THAT(run.check().unmatched.at(1).why, Catch::Contains("lambda of the theory (0.1)"));
  run.rules.push_back({.series = "z", .relative = 0});
  run.simulate(0.5, sample(1, 0.02, 100), "z");
  CHECK_THAT(run.check().unmatched.at(2).why,
             Catch::Contains("the theory has no series 'z' (it has y)"));
}

TEST_CASE("check: successes are rates, correlated replicates are no replicates", "[app][check]") {
  Brought rates;
  rates.rules[0] = {.series = "y", .relative = 0, .absolute = 0.05};
  rates.simulate(1, std::vector<double>(400, 1.0));
  CHECK(rates.check().verdict == Verdict::agree);
  CHECK(to_json(rates.check())["points"][0]["tails"] == "rate");
  rates.simulate(0.5, std::vector<double>(400, 1.5));
  CHECK(rates.check().verdict == Verdict::inconclusive);

  Brought chain;
  std::vector<double> values;
  for (int r = 0; r < 200; ++r) values.push_back(1.1 + 0.05 * std::sin(0.05 * r));
  chain.simulate(1, values);
  CHECK(chain.check().verdict == Verdict::disagree);
  chain.input.ordered = true;
  const CheckRecord open = chain.check();
  CHECK(open.verdict == Verdict::inconclusive);
  CHECK_THAT(explanation(open), Catch::Contains("correlated replicates: autocorrelation "));
  CHECK(to_json(open)["serial_correlation"]["correlated"] == true);
  CHECK_THAT(explanation(open), !Catch::Contains("--seed"));
}

TEST_CASE("check: a theory that withdraws its points does not agree", "[app][check]") {
  const auto expecting = [](Run& run, const std::map<std::string, std::size_t>& expected) {
    run.simulation.finish();
    return app::check({.study = "toy",
                       .run = "/runs/toy",
                       .rules = run.rules,
                       .theory = std::span(&run.theory, 1),
                       .simulation = &run.simulation,
                       .claims = run.claims,
                       .post_hoc_margin = {},
                       .expected = expected});
  };
  Run run;
  for (int k = 1; k <= 20; ++k) run.point(k, 1, sample(1, 0.02, 100));
  CHECK(expecting(run, {{"y", 20}}).verdict == Verdict::agree);
  run.theory.compared.assign(20, true);
  run.theory.compared[0] = run.theory.compared[7] = false;
  CHECK(expecting(run, {{"y", 20}}).verdict == Verdict::agree);  // nine tenths
  run.theory.compared[3] = false;
  const CheckRecord fewer = expecting(run, {{"y", 20}});
  CHECK(fewer.verdict == Verdict::inconclusive);
  CHECK(fewer.exit_code() == 3);
  CHECK_THAT(explanation(fewer), Catch::Contains("17 of 20 points of y are compared"));
  CHECK_THAT(summary(fewer), Catch::Contains("of 20 expected"));
  CHECK(to_json(fewer)["expected"]["y"] == 20);
  CHECK(expecting(run, {}).verdict == Verdict::agree);  // no preset says how many
  // A series that is gone altogether, and points without any value of the theory.
  CHECK(expecting(run, {{"y", 17}, {"z", 3}}).verdict == Verdict::inconclusive);
  run.theory.compared.clear();
  run.theory.series.x.resize(10);
  run.theory.series.y.resize(10);
  CHECK(expecting(run, {{"y", 20}}).verdict == Verdict::inconclusive);
  // Disagreement stands.
  run.theory.series.y[0] = 2;
  CHECK(expecting(run, {{"y", 20}}).verdict == Verdict::disagree);

  // Of no point nothing holds, whatever the claims say, unless the preset says that none is meant.
  Run none;
  none.point(1, 1, sample(1, 0.02, 100));
  none.theory.compared = {false};
  none.claims = {{.name = "c", .statement = "s", .verdict = Verdict::agree, .detail = ""}};
  CHECK(none.check().verdict == Verdict::inconclusive);
  CHECK(none.check().exit_code() == 3);
  CHECK_THAT(explanation(none.check()), Catch::Contains("no recorded point is compared"));
  CHECK(expecting(none, {{"y", 0}}).verdict == Verdict::claims_hold);
  const CheckRecord without_theory = app::check({.study = "toy",
                                                 .run = "/runs/toy",
                                                 .rules = none.rules,
                                                 .theory = {},
                                                 .simulation = &none.simulation,
                                                 .claims = none.claims,
                                                 .post_hoc_margin = {}});
  CHECK(without_theory.verdict == Verdict::claims_hold);
  none.rules.clear();
  CHECK(none.check().verdict == Verdict::claims_hold);
}

TEST_CASE("check: two simulations, one of them in the theory's place", "[app][check]") {
  Brought run;
  run.theory[0].series = {"y", {}, "t", {1}, {1}};
  std::vector<double>& other = run.input.theory_replicates["y at t=1"];
  other = sample(1, 0.02, 60);
  run.simulate(1, sample(1.01, 0.02, 60));
  const CheckRecord same = run.check();
  CHECK(same.verdict == Verdict::agree);
  const Json point = to_json(same)["points"][0];
  CHECK(point["theory_n"] == 60);
  CHECK(point["degrees_of_freedom"].get<double>() == Approx(118).margin(0.5));
  CHECK(point["standard_error"].get<double>() > 1.4 * point["sem"].get<double>());
  run.theory[0].series.y[0] = 1.2;
  for (double& y : other) y += 0.2;
  CHECK(run.check().verdict == Verdict::disagree);
  // Chains on the theory's side are no replicates either.
  other.clear();
  for (int r = 0; r < 200; ++r) other.push_back(1.1 + 0.05 * std::sin(0.05 * r));
  run.theory[0].series.y[0] = 1.1;
  CHECK(run.check().verdict == Verdict::disagree);
  run.input.ordered = true;
  CHECK(run.check().verdict == Verdict::inconclusive);
}

TEST_CASE("check: replicates without a value are counted, failures or not", "[app][check]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Run run;
  run.diagnostics = {{"statuses", {{"finished", 90}, {"not converged", 14}}}};
  run.point(1, 1, sample(1, 0.02, 100));
  std::vector<double> some = sample(2, 0.02, 100);
  for (const std::size_t r : {3, 5, 90}) some[r] = nan;
  run.point(2, 2, some);
  run.point(3, 3, std::vector<double>(11, nan));
  run.simulation.finish();
  CheckInput input{.study = "toy",
                   .run = "/runs/toy",
                   .rules = run.rules,
                   .theory = std::span(&run.theory, 1),
                   .simulation = &run.simulation,
                   .claims = {},
                   .diagnostics = run.diagnostics,
                   .post_hoc_margin = {},
                   .failures_known = true};
  const CheckRecord record = app::check(input);
  CHECK(record.verdict == Verdict::inconclusive);
  CHECK(record.exit_code() == 3);
  CHECK_THAT(
      text(record),
      Catch::Contains("no value: y at lambda=0.1, x=2: 3 of 100 not converged; the mean is"));
  CHECK_THAT(text(record),
             Catch::Contains("no value: y at lambda=0.1, x=3: 11 of 11 not converged\n"));
  CHECK(to_json(record)["incomplete"][1]["failed"] == 11);
  input.failed = true;
  CHECK(app::check(input).exit_code() == 4);
}

}  // namespace check_test
