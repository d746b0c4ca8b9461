// Boundaries that are known in closed form, found by `attica map` from verdicts alone.

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>

#include "app/toy_study.hpp"
#include "attica/app/command/exit_codes.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/json.hpp"
#include "attica/app/verbs/verbs.hpp"

using namespace attica;
using namespace attica::app;

namespace map_test {

/// The learning rate beyond which online SGD with batches of `batch` diverges at some site of an
/// AR(1) sequence: chi = (eta/B) sum_k s_k / (2 - eta s_k (1 + 1/B)) reaches 1, where s_k are the
/// eigenvalues of the covariance of the other sites. chi rises from 0 to infinity before the first
/// denominator vanishes; bisection.
double largest_eta(int sites, double rho, double batch) {
  double least = HUGE_VAL;
  for (int site = 0; site < sites; ++site) {
    Eigen::MatrixXd covariance(sites - 1, sites - 1);
    for (int i = 0; i < sites - 1; ++i) {
      for (int j = 0; j < sites - 1; ++j) {
        const int a = i + (i >= site ? 1 : 0);
        const int b = j + (j >= site ? 1 : 0);
        covariance(i, j) = std::pow(rho, std::abs(a - b));
      }
    }
    const Eigen::VectorXd s =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(covariance, Eigen::EigenvaluesOnly)
            .eigenvalues();
    double low = 0;
    double high = 2 / (s.maxCoeff() * (1 + 1 / batch));
    for (int k = 0; k < 60; ++k) {
      const double eta = (low + high) / 2;
      const double chi = (eta / batch * s.array() / (2 - eta * s.array() * (1 + 1 / batch))).sum();
      (chi < 1 ? low : high) = eta;
    }
    least = std::min(least, low);
  }
  return least;
}

/// The longest autocorrelation time, 1 + 2 times the sum of correlations, in sweeps, of the colour
/// of a site and of the energy, for two colours on a complete graph: from the transition matrix
/// between all 2^sites states, a product of one heat-bath step per site, whose resolvent sums the
/// correlations.
double autocorrelation_time(int sites, double beta) {
  const Eigen::Index states = Eigen::Index{1} << sites;
  Eigen::MatrixXd sweep = Eigen::MatrixXd::Identity(states, states);
  Eigen::MatrixXd observables(states, sites + 1);
  Eigen::VectorXd weights(states);
  for (int site = 0; site < sites; ++site) {
    Eigen::MatrixXd next = Eigen::MatrixXd::Zero(states, states);
    for (Eigen::Index s = 0; s < states; ++s) {
      const Eigen::Index with = s | (Eigen::Index{1} << site);
      const Eigen::Index without = with ^ (Eigen::Index{1} << site);
      const int others = std::popcount(static_cast<std::uint64_t>(without));
      const double up = 1 / (1 + std::exp(-beta * (2 * others - (sites - 1))));
      next(s, with) = up;
      next(s, without) = 1 - up;
      observables(s, site) = with == s ? 1 : 0;
    }
    sweep *= next;
  }
  for (Eigen::Index s = 0; s < states; ++s) {
    const int ones = std::popcount(static_cast<std::uint64_t>(s));
    const int zeros = sites - ones;
    observables(s, sites) = (ones * (ones - 1) + zeros * (zeros - 1)) / 2.0;
    weights[s] = std::exp(beta * observables(s, sites));
  }
  weights /= weights.sum();
  observables.rowwise() -= weights.transpose() * observables;
  const Eigen::MatrixXd resolvent = Eigen::MatrixXd::Identity(states, states) - sweep +
                                    Eigen::VectorXd::Ones(states) * weights.transpose();
  const Eigen::MatrixXd sums = resolvent.partialPivLu().solve(observables);
  const auto mean = [&](const Eigen::MatrixXd& other) -> Eigen::RowVectorXd {
    return weights.transpose() * observables.cwiseProduct(other);
  };
  return (2 * mean(sums).array() / mean(observables).array() - 1).maxCoeff();
}

/// map.json of a map made with these assignments.
Json map_of(const std::string& study,
            const std::string& x,
            const std::string& y,
            int depth,
            const std::vector<std::string>& assignments) {
  const toy::Folder folder;
  Options options;
  options.target = study;
  options.x = x;
  options.y = y;
  options.depth = depth;
  for (const std::string& one : assignments) options.overrides.push_back({one, one});
  options.out = (folder / "maps").string();
  options.formats = {"svg"};
  options.quiet = true;
  REQUIRE(map_verb(options, studies()) == kExitDone);
  const auto made = std::filesystem::directory_iterator(folder / "maps")->path();
  return Json::parse(read_whole(made / "map.json"));
}

TEST_CASE("map: the Gibbs sampler ends where order makes it slow",
          "[agreement][map][study:potts-sampler]") {
  // Two colours on a complete graph of 8 sites; were the graph large, they would order at beta =
  // 2/8. A run fails if split R-hat is 1.01 or more in a replicate. R-hat² - 1 is (q tau - 1)/n
  // over 32 halves of n = draws/2, with q = chi²/31 of 31 degrees of freedom: its median is 1, and
  // above 2 it is in one of 1500.
  constexpr int kSites = 8;
  const Json map = map_of("potts-sampler",
                          "sweep.beta=0.125..0.5:4",
                          "sim.draws=200..3200:3:log",
                          2,
                          {"model.sites=8",
                           "model.colours=2",
                           "model.couplings=\"binary\"",
                           "model.density=1",
                           "model.colour_couplings=\"potts\"",
                           "check.margin=0.1",
                           "sim.replicates=8"});
  std::map<double, double> times;
  int early = 0;
  int late = 0;
  for (const Json& cell : map["cells"]) {
    const double beta = cell["x"].get<double>();
    const double draws = cell["y"].get<double>();
    const auto [time, added] = times.try_emplace(beta, 0);
    if (added) time->second = autocorrelation_time(kSites, beta);
    constexpr double kLargest = 1.01 * 1.01 - 1;
    const double median = 2 * (time->second - 1) / draws / kLargest;
    const double extreme = 2 * (2 * time->second - 1) / draws / kLargest;
    const bool failed = cell["verdict"] == "ERROR";
    CAPTURE(beta, draws, time->second, median, extreme);
    if (median > 1) CHECK(failed);
    if (extreme < 1) CHECK_FALSE(failed);
    early += median > 1 && median < 2 ? 1 : 0;
    late += extreme < 1 && extreme > 0.5 ? 1 : 0;
  }
  // The edge was approached from both sides to a factor of two.
  CHECK(early >= 3);
  CHECK(late >= 3);
}

TEST_CASE("map: the largest learning rate of SGD is where its verdicts end",
          "[agreement][map][study:gauss-sgd]") {
  constexpr int kSites = 6;
  constexpr int kDepth = 3;
  const Json map =
      map_of("gauss-sgd",
             "sweep.eta=0.02..2:4:log",
             "model.rho=0.1..0.9:3",
             kDepth,
             {"model.sites=6", "sweep.batch=[2]", "sim.steps=[1, 2, 5]", "sim.replicates=20"});
  // Of every row that was refined: the largest rate with a verdict, the smallest without.
  std::map<double, std::pair<double, double>> ends;
  for (const Json& cell : map["cells"]) {
    const double eta = cell["x"].get<double>();
    const double rho = cell["y"].get<double>();
    auto& [last, first] = ends.try_emplace(rho, 0, HUGE_VAL).first->second;
    const bool refused = cell["verdict"] == "ERROR";
    (refused ? first : last) = refused ? std::min(first, eta) : std::max(last, eta);
    CAPTURE(eta, rho);
    CHECK(refused == (eta >= largest_eta(kSites, rho, 2)));
  }
  // Bisection brings both as close as the finest grid allows, at the rows of the coarse one too.
  const double ratio = std::pow(100.0, 1.0 / (3 << kDepth));
  for (const double rho : {0.1, 0.5, 0.9}) {
    const auto& [last, first] = ends.at(rho);
    CAPTURE(rho, last, first);
    CHECK(first / last == Approx(ratio).epsilon(1e-9));
    const double exact = largest_eta(kSites, rho, 2);
    CHECK(last < exact);
    CHECK(exact <= first);
  }
}

}  // namespace map_test
