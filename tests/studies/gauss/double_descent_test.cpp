#include <unistd.h>

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "attica/core/error.hpp"
#include "attica/core/gauss/ensembles.hpp"
#include "attica/studies/gauss/model.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "configured_study.hpp"

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;

namespace gauss_double_descent_test {

const Study& study() {
  static const Study instance = study_named("gauss-double-descent");
  return instance;
}

Configuration configured(const Table& overrides) {
  return attica::testing::configured(study(), overrides);
}

std::unique_ptr<Experiment> make(const Table& overrides) {
  Configuration c = configured(overrides);
  return study().make(c);
}

std::string error(const Table& overrides) {
  try {
    make(overrides)->theory(TheoryGrid::run);
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::input);
    return e.what();
  }
  return "(no error)";
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(std::filesystem::temp_directory_path() /
              ("attica-studies-" + std::to_string(::getpid()) + ".csv")) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string csv(const MatrixXd& m) {
  static const Eigen::IOFormat format(Eigen::FullPrecision, Eigen::DontAlignCols, ",", "\n");
  std::ostringstream text;
  text << m.format(format) << '\n';
  return text.str();
}

const Value& fact(const Table& facts, const std::string& name) {
  for (const auto& [key, value] : facts) {
    if (key == name) return value;
  }
  throw std::runtime_error("no fact " + name);
}

const Prediction& find(const TheoryResult& theory, const std::string& series, double lambda) {
  for (const Prediction& p : theory.predictions) {
    if (p.series.name == series && p.series.point == Point{{"lambda", lambda}}) return p;
  }
  throw std::runtime_error("no series " + series);
}

double at(const Prediction& p, double x) {
  const auto k = std::find(p.series.x.begin(), p.series.x.end(), x);
  REQUIRE(k != p.series.x.end());
  return p.series.y[static_cast<std::size_t>(k - p.series.x.begin())];
}

const Value kSmallAlpha = List{0.5, 2.0};

/// Six observations of a table with two columns that do not vary.
constexpr const char* kData =
    "height,zero,width,depth,seven\n"
    "1,0,2,0.5,7\n2,0,1,0.1,7\n3,0,5,-0.4,7\n5,0,-1,0.3,7\n8,0,2,0.2,7\n-4,0,3,-0.9,7\n";

TEST_CASE("gauss-double-descent: the theory is GaussianRidge on every model covariance",
          "[studies][gauss][study:gauss-double-descent]") {
  constexpr Index kSites = 12;
  constexpr std::uint64_t kSeed = 5;
  RandomStream stream({.seed = kSeed, .id = StreamId::model});
  const std::vector<std::pair<Table, MatrixXd>> cases = {
      {{{"model.covariance", "ar1"}, {"model.rho", -0.4}}, ar1_covariance(kSites, -0.4)},
      {{{"model.covariance", "equi"}, {"model.rho", 0.3}}, equi_covariance(kSites, 0.3)},
      {{{"model.covariance", "arrow"}, {"model.rho", 0.9}}, arrow_covariance(kSites, 0.9)},
      {{{"model.covariance", "precision"}, {"model.nu", 4.0}, {"model.tau", 1.5}},
       precision_covariance({.sites = kSites, .nu = 4, .tau = 1.5}, stream)},
  };
  for (const auto& [overrides, sigma] : cases) {
    Table all = overrides;
    all.emplace_back("model.sites", kSites);
    all.emplace_back("sim.seed", std::int64_t{kSeed});
    all.emplace_back("sweep.alpha", List{0.5, 0.77, 2.0});
    all.emplace_back("sweep.lambda", List{0.0, 0.3});
    const auto experiment = make(all);
    const GaussianRidge ridge(GaussianMlm(sigma), RidgeOrder::first);
    const TheoryResult requested = experiment->theory(TheoryGrid::requested);
    CHECK(requested.predictions.size() == 2 * 5);
    for (const double lambda : {0.0, 0.3}) {
      // As asked for: real M.
      CHECK(at(find(requested, "test_error", lambda), 0.77) ==
            Approx(ridge.average(0.77 * 11, lambda).test_error).epsilon(1e-12));
      // As simulated: M = 6, 8, 22 of alpha N = 5.5, 8.47, 22.
      const TheoryResult run = experiment->theory(TheoryGrid::run);
      REQUIRE(experiment->points() == 3);
      for (const double samples : {6.0, 8.0, 22.0}) {
        const RidgePoint expected = ridge.average(samples, lambda);
        CHECK(at(find(run, "test_error", lambda), samples / 11) ==
              Approx(expected.test_error).epsilon(1e-12));
        CHECK(at(find(run, "train_error", lambda), samples / 11) ==
              Approx(expected.train_error).epsilon(1e-12).margin(1e-300));
        const double sum = at(find(run, "bias", lambda), samples / 11) +
                           at(find(run, "sampling_variance", lambda), samples / 11) +
                           at(find(run, "noise_variance", lambda), samples / 11) +
                           expected.bayes_error;
        CHECK(sum == Approx(expected.test_error).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("gauss-double-descent: M is rounded to an integer >= 1",
          "[studies][gauss][study:gauss-double-descent]") {
  // N = 10; alpha N = 1.2, 2.4, 2.6
  const auto experiment = make(
      {{"model.sites", 11}, {"sweep.alpha", List{0.26, 0.12, 0.24}}, {"sweep.lambda", List{0.1}}});
  REQUIRE(experiment->points() == 3);
  std::vector<double> realised;
  for (std::size_t point = 0; point < 3; ++point) {
    const auto outcomes = experiment->simulate({.point = point, .stream_point = point, .seed = 1});
    REQUIRE(outcomes.size() == 1);
    realised.push_back(outcomes[0].series[0].x[0]);
    CHECK(outcomes[0].series[0].x_name == "alpha");
    // The prediction at the very same x exists, for every compared series.
    const TheoryResult theory = experiment->theory(TheoryGrid::run);
    for (const Series& s : outcomes[0].series)
      CHECK(std::isfinite(at(find(theory, s.name, 0.1), s.x[0])));
  }
  CHECK(realised == std::vector<double>{1.0 / 10, 2.0 / 10, 3.0 / 10});
}

TEST_CASE(
    "gauss-double-descent: an alpha whose product with N rounds below an integer is that integer",
    "[studies][gauss][study:gauss-double-descent]") {
  // (1/49) 49 < 1 and (5/49) 49 != 5 in double precision.
  volatile double inputs = 49;
  REQUIRE(1 / inputs * inputs < 1);
  const auto experiment = make({{"model.sites", 50},
                                {"sweep.alpha", List{1 / inputs, 0.5}},
                                {"sweep.lambda", List{0.0, 1.0}}});
  const GaussianRidge ridge(GaussianMlm(ar1_covariance(50, 0.7)), RidgeOrder::first);
  for (const auto grid : {TheoryGrid::run, TheoryGrid::requested}) {
    CHECK(at(find(experiment->theory(grid), "test_error", 1.0), 1 / inputs) ==
          ridge.average(1, 1).test_error);
  }
}

TEST_CASE("gauss-double-descent: theory at the requested points refuses less than one sample",
          "[studies][gauss][study:gauss-double-descent]") {
  const auto experiment = make({{"model.sites", 11}, {"sweep.alpha", List{0.5, 0.09}}});
  try {
    (void)experiment->theory(TheoryGrid::requested);
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::input);
    CHECK(std::string(e.what()) ==
          "parameter 'sweep.alpha' = 0.09: expected alpha N >= 1, at least one sample, N = 10");
  }
  CHECK_THROWS_WITH(experiment->theory(TheoryGrid::run), Catch::Contains("alpha N >= 1"));
}

TEST_CASE("gauss-double-descent: at lambda = 0 and M = N the theory diverges, near it it does not",
          "[studies][gauss][study:gauss-double-descent]") {
  const auto experiment =
      make({{"model.sites", 9}, {"sweep.alpha", List{0.5, 1.0, 1.5}}, {"sweep.lambda", List{0.0}}});
  const TheoryResult theory = experiment->theory(TheoryGrid::run);
  const Prediction& test = find(theory, "test_error", 0.0);
  CHECK(std::isinf(at(test, 1.0)));
  for (const Prediction& p : theory.predictions) {
    const auto peak = std::find(p.series.x.begin(), p.series.x.end(), 1.0) - p.series.x.begin();
    CHECK_FALSE(attica::testing::is_compared(p, static_cast<std::size_t>(peak)));
    for (const double allowance : p.finite_size) CHECK(std::isfinite(allowance));
  }
  CHECK(std::count_if(test.series.y.begin(), test.series.y.end(), [](double y) {
          return !std::isfinite(y);
        }) == 1);
  const auto outcomes = experiment->simulate({.point = 1, .seed = 1});
  CHECK(std::isfinite(outcomes[0].series[0].y[0]));
}

TEST_CASE("gauss-double-descent: the same numbers however replicates are split into pieces",
          "[studies][gauss][study:gauss-double-descent]") {
  const TemporaryFile file(kData);
  const Table gaussian{{"model.sites", 7}};
  const Table data{{"model.covariance", "data"}, {"model.file", file.name().c_str()}};
  for (const auto& [model, series] : {std::pair{gaussian, 5U}, {data, 2U}}) {
    Table overrides = model;
    overrides.emplace_back("sim.data_sets", 3);
    overrides.emplace_back("sweep.alpha", kSmallAlpha);
    const auto experiment = make(overrides);
    const auto values = [&](std::vector<std::uint64_t> blocks) {
      std::vector<double> all;
      std::uint64_t first = 0;
      for (const std::uint64_t n : blocks) {
        for (const Outcome& o : experiment->simulate({.point = 1,
                                .stream_point = 4,
                                .first_replicate = first,
                                .replicates = n,
                                .seed = 9})) {
          CHECK_FALSE(o.failed);
          for (const Series& s : o.series) all.insert(all.end(), s.y.begin(), s.y.end());
        }
        first += n;
      }
      return all;
    };
    const std::vector<double> whole = values({12});
    CHECK(whole.size() == 12 * series * 3);
    CHECK(values({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}) == whole);
    CHECK(values({5, 7}) == whole);
    CHECK(values({11, 1}) == whole);
    // Other points, replicates and seeds have numbers of their own.
    const auto other = experiment->simulate({.point = 1, .stream_point = 5, .seed = 9});
    CHECK(other[0].series[0].y[0] != whole[0]);
    CHECK(experiment->simulate({.point = 1, .stream_point = 4, .seed = 10})[0].series[0].y[0] !=
          whole[0]);
    CHECK(whole[0] != whole[3 * series]);
  }
}

TEST_CASE(
    "gauss-double-descent: an explicit covariance, with header or without, is that covariance",
    "[studies][gauss][study:gauss-double-descent]") {
  MatrixXd sigma = ar1_covariance(5, 0.6);
  sigma *= 4;
  for (const char* header : {"", "a,b,c,d,e\n"}) {
    const TemporaryFile file(header + csv(sigma));
    Configuration c = configured({{"model.covariance", "explicit"},
                                  {"model.file", file.name().c_str()},
                                  {"sweep.alpha", List{2.0}},
                                  {"sweep.lambda", List{0.5}}});
    const auto experiment = study().make(c);
    CHECK(c.integer("model.sites") == 5);
    CHECK(c.text("model.lambda_unit") == "absolute");
    CHECK(at(find(experiment->theory(TheoryGrid::requested), "test_error", 0.5), 2.0) ==
          Approx(GaussianRidge(GaussianMlm(sigma), RidgeOrder::first).average(8, 0.5).test_error)
              .epsilon(1e-12));
  }
}

TEST_CASE("gauss-double-descent: lambda in units of the mean eigenvalue",
          "[studies][gauss][study:gauss-double-descent]") {
  const TemporaryFile file(csv(4 * ar1_covariance(5, 0.6)));  // mean eigenvalue 4
  const Table explicit_model{{"model.covariance", "explicit"},
                             {"model.file", file.name().c_str()},
                             {"sweep.alpha", List{2.0}}};
  Table relative = explicit_model;
  relative.emplace_back("model.lambda_unit", "mean_eigenvalue");
  relative.emplace_back("sweep.lambda", List{0.5});
  Table absolute = explicit_model;
  absolute.emplace_back("sweep.lambda", List{2.0});
  // The point keeps the configured value.
  CHECK(at(find(make(relative)->theory(TheoryGrid::requested), "test_error", 0.5), 2.0) ==
        Approx(at(find(make(absolute)->theory(TheoryGrid::requested), "test_error", 2.0), 2.0)));
  CHECK(make(relative)->simulate({.seed = 3})[0].series[0].y[0] ==
        Approx(make(absolute)->simulate({.seed = 3})[0].series[0].y[0]));
  CHECK(std::get<double>(fact(make(relative)->diagnostics(), "lambda_unit")) == Approx(4));
  CHECK(std::get<double>(fact(make(absolute)->diagnostics(), "lambda_unit")) == 1);
}

TEST_CASE(
    "gauss-double-descent: data become their covariance with divisor n, constant columns are named",
    "[studies][gauss][study:gauss-double-descent]") {
  const TemporaryFile file(kData);
  Configuration c = configured({{"model.covariance", "data"}, {"model.file", file.name().c_str()}});
  const auto experiment = study().make(c);
  CHECK(c.integer("model.sites") == 3);
  CHECK(c.text("model.lambda_unit") == "mean_eigenvalue");
  REQUIRE(experiment->warnings().size() == 1);
  CHECK(experiment->warnings()[0] == "columns without variance are left out: zero, seven");
  const Table facts = experiment->diagnostics();
  CHECK(std::get<List>(fact(facts, "dropped_columns")) == List{"zero", "seven"});
  CHECK(std::get<std::int64_t>(fact(facts, "observations")) == 6);
  // By hand: the variances of height, width, depth with divisor 6.
  MatrixXd rows(6, 3);
  rows << 1, 2, 0.5, 2, 1, 0.1, 3, 5, -0.4, 5, -1, 0.3, 8, 2, 0.2, -4, 3, -0.9;
  rows.rowwise() -= rows.colwise().mean().eval();
  const MatrixXd sigma = rows.transpose() * rows / 6;
  CHECK(std::get<double>(fact(facts, "mean_eigenvalue")) == Approx(sigma.trace() / 3));
  const Table& kurtosis = std::get<Table>(fact(facts, "excess_kurtosis"));
  REQUIRE(kurtosis.size() == 3);
  CHECK(kurtosis[1].first == "width");
  CHECK(std::get<double>(kurtosis[1].second) ==
        Approx(rows.col(1).array().pow(4).mean() / std::pow(sigma(1, 1), 2) - 3));
  CHECK_THAT(std::get<std::string>(fact(facts, "likely_cause")),
             Catch::Contains("no column has heavy tails"));

  const Configuration& resolved = c;
  const Prediction test = find(experiment->theory(TheoryGrid::run), "test_error", 0.1);
  CHECK(test.finite_size.empty());  // on data the margin is the claim itself
  CHECK(study().agreement(resolved)[0].relative == 0.05);
  CHECK(study().agreement(configured({}))[0].relative == 0.01);

  // Standardised: correlations instead.
  const auto standardised = make({{"model.covariance", "data"},
                                  {"model.file", file.name().c_str()},
                                  {"model.standardise", true},
                                  {"sweep.alpha", List{2.0}}});
  CHECK(std::get<double>(fact(standardised->diagnostics(), "mean_eigenvalue")) == Approx(1));
}

TEST_CASE("gauss-double-descent: the simulated errors average to the theory",
          "[studies][gauss][study:gauss-double-descent]") {
  const auto experiment = make({{"model.sites", 41},
                                {"sweep.alpha", List{2.0}},
                                {"sweep.lambda", List{0.1}},
                                {"sim.data_sets", 4}});
  constexpr std::uint64_t kReplicates = 60;
  double sum = 0;
  double squares = 0;
  for (const Outcome& o : experiment->simulate({.replicates = kReplicates, .seed = 4})) {
    sum += o.series[0].y[0];
    squares += o.series[0].y[0] * o.series[0].y[0];
  }
  const double mean = sum / kReplicates;
  const double sem = std::sqrt((squares / kReplicates - mean * mean) / (kReplicates - 1));
  const TheoryResult result = experiment->theory(TheoryGrid::run);
  const Prediction& theory = find(result, "test_error", 0.1);
  // 4 SEM (1 in 10^4) and the declared allowance.
  CHECK(mean == Approx(at(theory, 2.0)).margin(4 * sem + theory.finite_size[0]).epsilon(0));
}

TEST_CASE("gauss-double-descent: train error far below the test error is not compared",
          "[studies][gauss][study:gauss-double-descent]") {
  const auto experiment = make({{"model.sites", 20},
                                {"sweep.alpha", List{0.5, 3.0}},
                                {"sweep.lambda", List{0.0, 1.0}},
                                {"theory.order", "leading"}});
  const TheoryResult theory = experiment->theory(TheoryGrid::run);
  for (const double lambda : {0.0, 1.0}) {
    const Prediction& test = find(theory, "test_error", lambda);
    const Prediction& train = find(theory, "train_error", lambda);
    CHECK(test.compared.empty());
    REQUIRE(train.compared.empty() == (lambda == 1.0));  // of a large penalty all are compared
    for (std::size_t k = 0; k < train.compared.size(); ++k) {
      CHECK(train.compared[k] == (train.series.y[k] >= 0.01 * test.series.y[k]));
    }
  }
}

TEST_CASE("gauss-double-descent: the order of the theory is one word; data have the leading one",
          "[studies][gauss][study:gauss-double-descent]") {
  const Table few{
      {"model.sites", 20}, {"sweep.alpha", List{0.5, 1.0, 3.0}}, {"sweep.lambda", List{1e-4, 1.0}}};
  Table leading = few;
  leading.emplace_back("theory.order", "leading");
  const GaussianRidge ridge(GaussianMlm(ar1_covariance(20, 0.7)));
  const TheoryResult first = make(few)->theory(TheoryGrid::requested);
  const TheoryResult old = make(leading)->theory(TheoryGrid::requested);
  for (const char* name : {"test_error", "train_error"}) {
    CHECK(at(find(first, name, 1.0), 0.5) != at(find(old, name, 1.0), 0.5));
  }
  CHECK(at(find(old, "test_error", 1.0), 0.5) ==
        Approx(ridge.average(9.5, 1.0).test_error).epsilon(1e-12));
  // To order 1/M the allowance is a part of the error of which a tenth is the most.
  for (const Prediction& p : first.predictions) {
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      if (!attica::testing::is_compared(p, k) || p.finite_size.empty()) continue;
      CHECK(p.finite_size[k] <= 0.1 * p.series.y[k]);
    }
  }
  CHECK_FALSE(attica::testing::is_compared(find(first, "train_error", 1e-4), 1));  // the peak
  CHECK(attica::testing::is_compared(find(first, "test_error", 1e-4), 2));

  const TemporaryFile file(kData);
  Configuration c = configured({{"model.covariance", "data"}, {"model.file", file.name().c_str()}});
  (void)study().make(c);
  CHECK(c.text("theory.order") == "leading");
}

TEST_CASE("gauss-double-descent: bad input names the parameter",
          "[studies][gauss][input][study:gauss-double-descent]") {
  using Catch::Contains;
  const auto file_error = [](const std::string& content, const char* covariance) {
    const TemporaryFile file(content);
    return error({{"model.covariance", covariance}, {"model.file", file.name().c_str()}});
  };
  SECTION("explicit covariances") {
    const auto e = [&](const std::string& content) { return file_error(content, "explicit"); };
    CHECK_THAT(e("1,0\n0,1\n0,0\n"),
               Contains("'model.file'") && Contains("(3 x 2)") && Contains("square"));
    CHECK_THAT(e("1\n"), Contains("'model.file'") && Contains("at least 2 x 2"));
    CHECK_THAT(e("1,0.5\n0.4,1\n"),
               Contains("'model.file'") && Contains("symmetric") && Contains("0.5"));
    CHECK_THAT(e("1,nan\nnan,1\n"),
               Contains("'model.file'") && Contains(":1:") && Contains("finite"));
    CHECK_THAT(e("1,inf\ninf,1\n"), Contains("'model.file'") && Contains("finite"));
    CHECK_THAT(e("1,2\n2,1\n"), Contains("'model.file'") && Contains("smallest eigenvalue -"));
    CHECK_THAT(e("1,1\n1,1\n"), Contains("'model.file'") && Contains("smallest eigenvalue"));
    CHECK_THAT(e("1,x\nx,1\n1,2\n"), Contains("'model.file'"));
    CHECK(e("1,0.5\n0.50000000001,1\n") == "(no error)");  // rounding is averaged away
  }
  SECTION("data") {
    const auto e = [&](const std::string& content) { return file_error(content, "data"); };
    CHECK_THAT(e("a,b\n1,2\n"), Contains("'model.file'") && Contains("at least two rows"));
    CHECK_THAT(e("a,b\n1,2\n2,2\n"),
               Contains("'model.file'") && Contains("at least two columns that vary"));
    CHECK_THAT(e("1,2\n3,4\n"), Contains("'model.file'") && Contains("header"));
    CHECK_THAT(e("a,b\n1,2\n3,nan\n"), Contains("'model.file'") && Contains(":3:"));
    CHECK_THAT(e("a,b\n1,2\n3\n"), Contains("'model.file'") && Contains(":3:"));
    CHECK_THAT(e("a,b\n1e200,2\n-1e200,3\n"), Contains("'model.file'"));
  }
  SECTION("files and sites") {
    CHECK_THAT(error({{"model.covariance", "data"}}), Contains("'model.file' = (unset)"));
    CHECK_THAT(error({{"model.covariance", "explicit"}}), Contains("'model.file' = (unset)"));
    CHECK_THAT(error({{"model.covariance", "data"}, {"model.file", "/no/such.csv"}}),
               Contains("'model.file' = /no/such.csv: expected an existing file"));
    const TemporaryFile file(kData);
    CHECK_THAT(error({{"model.covariance", "data"},
                      {"model.file", file.name().c_str()},
                      {"model.sites", 5}}),
               Contains("'model.sites' = 5: expected 3, as the file has"));
    CHECK(error({{"model.covariance", "data"},
                 {"model.file", file.name().c_str()},
                 {"model.sites", 3}}) == "(no error)");
  }
  SECTION("model covariances") {
    CHECK_THAT(error({{"model.covariance", "precision"}, {"model.nu", 2.0}}),
               Contains("'nu' = 2") && Contains("nu > 2 tau = 2"));
    // A small system far from its limit can be indefinite although nu > 2 tau.
    std::string errors;
    for (const std::int64_t seed : {2, 3, 4, 5}) {
      errors += error({{"model.covariance", "precision"},
                       {"model.nu", 0.0201},
                       {"model.tau", 0.01},
                       {"model.sites", 3},
                       {"sim.seed", seed}});
    }
    CHECK_THAT(errors, Contains("smallest eigenvalue"));
    CHECK_THAT(error({{"model.covariance", "equi"}, {"model.rho", -0.5}, {"model.sites", 10}}),
               Contains("'rho' = -0.5"));
  }
  SECTION("parameters without meaning are refused unless they stand at their default") {
    CHECK_THAT(error({{"model.nu", 5.0}}),
               Contains("'model.nu' has no meaning for model.covariance = \"ar1\""));
    CHECK_THAT(error({{"model.covariance", "precision"}, {"model.rho", 0.5}}),
               Contains("'model.rho' has no meaning"));
    CHECK_THAT(error({{"model.standardise", true}}),
               Contains("'model.standardise' has no meaning"));
    CHECK_THAT(error({{"model.file", "x.csv"}}), Contains("'model.file' has no meaning"));
    CHECK(error({{"model.nu", 3.0}, {"model.standardise", false}}) == "(no error)");
  }
  SECTION("more samples than memory") {
    CHECK_THAT(error({{"sweep.alpha", List{1.0, 1e12}}}),
               Contains("'sweep.alpha' = 1000000000000"));
    CHECK_THAT(error({{"sweep.alpha", List{1e300}}}), Contains("'sweep.alpha' = 1e+300"));
  }
}

TEST_CASE("gauss-double-descent: a covariance singular in double precision is its parameter's",
          "[studies][gauss][input][study:gauss-double-descent]") {
  for (const char* family : {"ar1", "equi"}) {
    const Table values{{"model.covariance", family}, {"model.rho", 1 - 1e-15}};
    CHECK(attica::testing::refusal(study(), values).find("'model.rho'") != std::string::npos);
  }
}

TEST_CASE("gauss-double-descent: declared ranges, choices and presets",
          "[studies][gauss][input][study:gauss-double-descent]") {
  const auto refused = [](const char* key, const Value& value) {
    for (const Parameter& p : study().parameters) {
      if (p.key != key) continue;
      try {
        (void)p.checked(value, p.key);
      } catch (const Error& e) {
        return std::string(e.what()).find(std::string("'") + key + "'") != std::string::npos;
      }
    }
    return false;
  };
  CHECK(refused("model.sites", 1));
  CHECK(refused("model.sites", 2.5));
  CHECK(refused("model.rho", 1.0));
  CHECK(refused("model.rho", -1.0));
  CHECK(refused("model.nu", 0.0));
  CHECK(refused("model.tau", -0.1));
  CHECK(refused("model.covariance", "ar2"));
  CHECK(refused("model.lambda_unit", "eigenvalue"));
  CHECK(refused("sweep.lambda", -1e-9));
  CHECK(refused("sweep.lambda", std::nan("")));
  CHECK(refused("sweep.alpha", 0.0));
  CHECK(refused("sweep.alpha", -1.0));
  CHECK(refused("sim.replicates", 0));
  CHECK_FALSE(refused("sweep.lambda", 0.0));

  for (const Preset& preset : study().presets) {
    for (const auto& [key, value] : preset.values) {
      const auto p = std::find_if(study().parameters.begin(),
                                  study().parameters.end(),
                                  [&, &k = key](const Parameter& q) { return q.key == k; });
      REQUIRE(p != study().parameters.end());
      const List* list = std::get_if<List>(&value);
      for (const Value& v : list != nullptr ? *list : List{value}) CHECK(p->checked(v, key) == v);
    }
  }
}

TEST_CASE("gauss-double-descent: every simulated series is described and judged, errors are drawn",
          "[studies][gauss][study:gauss-double-descent]") {
  const auto experiment = make({{"model.sites", 5}, {"sweep.alpha", kSmallAlpha}});
  const Configuration c = configured({});
  const std::vector<Outcome> outcomes = experiment->simulate({.seed = 1});
  for (const Series& s : outcomes[0].series) {
    const auto& known = study().series;
    CHECK(std::any_of(
        known.begin(), known.end(), [&](const SeriesInfo& i) { return i.name == s.name; }));
    const auto rules = study().agreement(c);
    CHECK(std::any_of(
        rules.begin(), rules.end(), [&](const AgreementRule& r) { return r.series == s.name; }));
    if (!s.name.ends_with("_error")) continue;  // the parts stand in the tables
    std::size_t drawn = 0;
    for (const Panel& panel : study().figure(c).panels) {
      for (const Layer& layer : panel.layers) drawn += layer.series == s.name ? 1 : 0;
    }
    CHECK(drawn == 1);
  }
}

}  // namespace gauss_double_descent_test
