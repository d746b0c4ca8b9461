/// @file
/// @brief What masked-spectrum refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "attica/core/random.hpp"
#include "configured_study.hpp"

using namespace attica;

namespace studies_masked_spectrum_test {

using attica::testing::is_compared;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Matchers::Contains;

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

TEST_CASE("masked-spectrum: strong and weak penalties, and few samples, have a theory",
          "[studies][masked][study:masked-spectrum]") {
  for (const double lambda : {1e-6, 100.0, 1e6}) {
    CAPTURE(lambda);
    const auto experiment = made(study_named("masked-spectrum"), {{"sweep.lambda", List{lambda}}});
    CHECK_NOTHROW(experiment->theory(TheoryGrid::run));
  }
  const Study study = study_named("masked-spectrum");
  const Configuration few = attica::testing::configured(study, {{"sweep.alpha", List{0.02}}});
  CHECK_NOTHROW(study.claims(few, {}));
}

TEST_CASE("masked-spectrum: below the smallest gap with two variances only moments are compared",
          "[studies][masked][study:masked-spectrum]") {
  const auto experiment = made(study_named("masked-spectrum"),
                               {{"model.covariance", "groups"}, {"sweep.alpha", List{0.5, 2.0}}});
  for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
    if (p.series.name != "density") continue;
    CHECK(is_compared(p, 0) == (p.series.point.front() == Point{{"alpha", 2.0}}.front()));
  }
}

TEST_CASE("masked-spectrum: the histogram's theory has mass 1 with the kernel's atom",
          "[studies][masked][study:masked-spectrum]") {
  const auto experiment = made(study_named("masked-spectrum"), {{"sweep.alpha", List{0.25, 2.0}}});
  for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
    if (p.series.name != "density") continue;
    double mass = 0;
    for (const double y : p.series.y) mass += y * (p.series.x[1] - p.series.x[0]);
    const double alpha = std::get<double>(p.series.point.front().second);
    CHECK_THAT(mass, Catch::WithinAbs(std::min(1.0, alpha), 1e-6));
  }
}

TEST_CASE("masked-spectrum: quadratic forms of rows scatter as their lengths do",
          "[studies][masked][study:masked-spectrum]") {
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

TEST_CASE("masked-spectrum: data have a file, and it its dimension",
          "[studies][masked][study:masked-spectrum]") {
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

}  // namespace studies_masked_spectrum_test
