#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "attica/core/random.hpp"
#include "configured_study.hpp"

using namespace attica;
using attica::testing::is_compared;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;

TEST_CASE("masked studies: bad input names the parameter", "[studies][masked]") {
  const Study spectrum = study_named("masked-spectrum");
  const Study spike = study_named("masked-spike");
  const Study versus = study_named("masked-vs-pca");
  const Study transfer = study_named("masked-transfer");
  for (const Study& study : {spectrum, spike, versus, transfer}) {
    INFO(study.name);
    // n = alpha d must be two at least.
    CHECK_THAT(refusal(study, {{"sweep.alpha", List{0.009}}}), Contains("sweep.alpha"));
  }
  CHECK_THAT(refusal(spectrum, {{"model.covariance", "groups"}, {"model.dimension", 201}}),
             Contains("model.dimension"));
  CHECK_THAT(refusal(spectrum, {{"model.noise_ratio", 3.0}}), Contains("model.noise_ratio"));
  CHECK_THAT(refusal(spectrum, {{"model.rho", 0.2}}), Contains("model.rho"));
  CHECK(refusal(spectrum, {{"model.covariance", "ar1"}, {"model.rho", 0.2}}) == "accepted");
  CHECK_THAT(refusal(spike, {{"model.noise_ratio", 4.0}, {"model.dimension", 201}}),
             Contains("model.dimension"));
  CHECK_THAT(refusal(spike, {{"model.noise_ratio", 4.0}, {"model.signal", "localised"}}),
             Contains("model.noise_ratio"));
  CHECK_THAT(refusal(versus, {{"model.dimension", 201}}), Contains("model.dimension"));
}

TEST_CASE("masked studies: penalties, strengths and bins out of range are no values",
          "[studies][masked]") {
  const auto range = [](const char* study, const char* key) {
    for (const Parameter& p : study_named(study).parameters) {
      if (p.key == key) return p.range;
    }
    FAIL("no parameter " << key);
    return Range{};
  };
  for (const char* study : {"masked-spectrum", "masked-spike", "masked-vs-pca"}) {
    CHECK_FALSE(range(study, "sweep.lambda").contains(0));
    CHECK_FALSE(range(study, "sweep.lambda").contains(-1));
    CHECK(range(study, "sweep.lambda").contains(1e-8));
    CHECK_FALSE(range(study, "model.noise_ratio").contains(0));
  }
  CHECK_FALSE(range("masked-spike", "sweep.theta").contains(-0.1));
  CHECK_FALSE(range("masked-vs-pca", "sweep.theta").contains(-0.1));
  CHECK_FALSE(range("masked-spectrum", "sim.bins").contains(4));
}

TEST_CASE("masked-spectrum: strong and weak penalties, and few samples, have a theory",
          "[studies][masked]") {
  for (const double lambda : {1e-6, 100.0, 1e6}) {
    CAPTURE(lambda);
    const auto experiment = made(study_named("masked-spectrum"), {{"sweep.lambda", List{lambda}}});
    CHECK_NOTHROW(experiment->theory(TheoryGrid::run));
  }
  const Study study = study_named("masked-spectrum");
  const Configuration few = attica::testing::configured(study, {{"sweep.alpha", List{0.02}}});
  CHECK_NOTHROW(study.claims(few, {}));
}

TEST_CASE("masked studies: memory is refused before any work", "[studies][masked]") {
  for (const char* name : {"masked-spectrum", "masked-spike", "masked-vs-pca", "masked-transfer"}) {
    const auto experiment =
        made(study_named(name), {{"model.dimension", 20000}, {"sim.max_memory", 1.0}});
    try {
      experiment->require_simulable();
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.parameter() == "sim.max_memory");
      CHECK(error.kind() == ErrorKind::input);
    }
  }
}

TEST_CASE("masked-spike: near the threshold nothing is compared", "[studies][masked]") {
  // γ = 1/2: θ_c = 0.7071.
  const auto experiment = made(study_named("masked-spike"), {{"sweep.theta", List{0.3, 0.8, 2.0}}});
  CHECK_FALSE(experiment->warnings().empty());
  for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
    if (p.series.x_name != "theta") continue;
    INFO(p.series.name);
    CHECK_FALSE(is_compared(p, 1));
    CHECK(is_compared(p, 2));
    const bool eigenvalue = p.series.name.find("outlier") != std::string::npos;
    CHECK(is_compared(p, 0) != eigenvalue);
  }
}

TEST_CASE("masked-spectrum: below the smallest gap with two variances only moments are compared",
          "[studies][masked]") {
  const auto experiment = made(study_named("masked-spectrum"),
                               {{"model.covariance", "groups"}, {"sweep.alpha", List{0.5, 2.0}}});
  for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
    if (p.series.name != "density") continue;
    CHECK(is_compared(p, 0) == (p.series.point.front() == Point{{"alpha", 2.0}}.front()));
  }
}

TEST_CASE("masked-spectrum: the histogram's theory has mass 1 with the kernel's atom",
          "[studies][masked]") {
  const auto experiment = made(study_named("masked-spectrum"), {{"sweep.alpha", List{0.25, 2.0}}});
  for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
    if (p.series.name != "density") continue;
    double mass = 0;
    for (const double y : p.series.y) mass += y * (p.series.x[1] - p.series.x[0]);
    const double alpha = std::get<double>(p.series.point.front().second);
    CHECK_THAT(mass, Catch::WithinAbs(std::min(1.0, alpha), 1e-6));
  }
}

namespace {

/// Rows r z, z standard normal and r² one of 1 ± split, each twice with either sign: mean zero.
class RowsFile {
 public:
  RowsFile(int rows, int columns, double split)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("attica-masked-{}-{}.csv", ::getpid(), split)) {
    std::ofstream file(path_);
    for (int k = 0; k < columns; ++k) file << (k > 0 ? "," : "") << "x" << k;
    RandomStream stream({.seed = 5});
    for (int row = 0; row < rows; ++row) {
      const double scale = std::sqrt(row % 2 == 0 ? 1 + split : 1 - split);
      std::string line = "\n";
      std::string opposite = "\n";
      for (int k = 0; k < columns; ++k) {
        const double x = scale * stream.normal();
        line += fmt::format("{}{}", k > 0 ? "," : "", x);
        opposite += fmt::format("{}{}", k > 0 ? "," : "", -x);
      }
      file << line << opposite;
    }
  }
  ~RowsFile() { std::filesystem::remove(path_); }
  RowsFile(const RowsFile&) = delete;
  RowsFile& operator=(const RowsFile&) = delete;
  std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("masked-spectrum: quadratic forms of rows scatter as their lengths do",
          "[studies][masked]") {
  // With Σ = 1 the form is |x|²/(1+κ): its variance (1+v)(2d+d²) - d², v that of r², over 2d.
  constexpr int kColumns = 6;
  for (const double split : {0.0, 0.5}) {
    CAPTURE(split);
    const RowsFile file(4000, kColumns, split);
    const auto experiment = made(
        study_named("masked-spectrum"),
        {{"model.covariance", "data"}, {"model.file", file.name()}, {"sweep.alpha", List{4.0}}});
    const double v = split * split;
    const double expected = 1 + v + v * kColumns / 2;
    int found = 0;
    for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
      if (p.series.name != "form_variance") continue;
      // Of 4000 rows; their covariance is off by 2 %.
      for (const double y : p.series.y) CHECK_THAT(y, Catch::WithinRel(expected, 0.08));
      ++found;
    }
    CHECK(found == 1);
  }
}

TEST_CASE("masked-spectrum: data have a file, and it its dimension", "[studies][masked]") {
  const Study study = study_named("masked-spectrum");
  CHECK_THAT(refusal(study, {{"model.covariance", "data"}}), Contains("model.file"));
  CHECK_THAT(refusal(study, {{"model.covariance", "data"}, {"model.file", "nothing.csv"}}),
             Contains("model.file"));
  CHECK_THAT(refusal(study, {{"model.covariance", "data"}, {"model.file", "ring.fa"}}),
             Contains("model.file"));
  CHECK_THAT(refusal(study, {{"model.file", "digits.csv"}}), Contains("model.file"));
  CHECK_THAT(refusal(study, {{"model.standardise", true}}), Contains("model.standardise"));
  const Table digits = {{"model.covariance", "data"}, {"model.file", "digits.csv"}};
  Table sized = digits;
  sized.emplace_back("model.dimension", 200);
  CHECK_THAT(refusal(study, sized), Contains("model.dimension"));
  Configuration c = attica::testing::configured(study, digits);
  const auto experiment = study.make(c);
  CHECK(c.integer("model.dimension") == 61);
  for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
    INFO(p.series.name);
    CHECK(p.series.name != "density");
    CHECK(is_compared(p, 0) == (p.series.name != "form_variance"));
  }
}

TEST_CASE("masked-transfer: labels, strengths and noise out of range are no values",
          "[studies][masked]") {
  const Study study = study_named("masked-transfer");
  for (const Parameter& p : study.parameters) {
    if (p.key == "sweep.labels") CHECK_FALSE(p.range.contains(4));
    if (p.key == "model.theta" || p.key == "model.noise") CHECK_FALSE(p.range.contains(-0.1));
    if (p.key == "model.lambda") CHECK_FALSE(p.range.contains(0));
  }
}

TEST_CASE("masked-transfer: gains are differences, and zero at the crossing", "[studies][masked]") {
  const auto experiment = made(study_named("masked-transfer"), {{"model.dimension", 60}});
  CHECK_FALSE(experiment->warnings().empty());
  const std::vector<Prediction> theory = experiment->theory(TheoryGrid::requested).predictions;
  const auto curve = [&](const std::string& name, const Point& point) {
    for (const Prediction& p : theory) {
      if (p.series.name == name && p.series.point == point) return p;
    }
    FAIL("no series " << name);
    return theory.front();
  };
  const Prediction raw = curve("raw_risk", {});
  const Prediction crossing = curve("crossing", {});
  // Below the threshold, at alpha = 0.05, there is no crossing and nothing is compared.
  CHECK(crossing.series.x == std::vector<double>{1.5, 3});
  for (const double alpha : {0.05, 1.5, 3.0}) {
    const Prediction risk = curve("feature_risk", {{"alpha", alpha}});
    const Prediction gain = curve("gain", {{"alpha", alpha}});
    const Prediction overlap = curve("overlap_right", {{"alpha", alpha}});
    CHECK((overlap.series.y[0] > 0) == (alpha > 0.25));
    CHECK(is_compared(overlap, 0) == (alpha > 0.25));
    for (std::size_t k = 0; k < raw.series.x.size(); ++k) {
      CHECK_THAT(gain.series.y[k], Catch::WithinAbs(raw.series.y[k] - risk.series.y[k], 1e-12));
      CHECK(is_compared(gain, k) == (alpha > 0.25));
      if (alpha < 0.25) {
        CHECK(gain.series.y[k] < 0);
        continue;
      }
      const double at = 60 * crossing.series.y[alpha == 1.5 ? 0 : 1];
      CHECK((gain.series.y[k] > 0) == (raw.series.x[k] < at));
    }
  }
}
