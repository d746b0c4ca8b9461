// Boundaries that are known in closed form, found by `attica map` from verdicts alone.

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>

#include "app/toy_study.hpp"
#include "attica/app/exit_codes.hpp"
#include "attica/app/files.hpp"
#include "attica/app/json.hpp"
#include "attica/app/verbs.hpp"

using namespace attica;
using namespace attica::app;

namespace {

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

}  // namespace

TEST_CASE("map: the largest learning rate of SGD is where its verdicts end", "[agreement][map]") {
  constexpr int kSites = 6;
  constexpr int kDepth = 4;
  const toy::Folder folder;
  Options options;
  options.target = "gauss-sgd";
  options.x = "sweep.eta=0.02..2:4:log";
  options.y = "model.rho=0.1..0.9:3";
  options.depth = kDepth;
  for (const char* assignment :
       {"model.sites=6", "sweep.batch=[2]", "sim.steps=[1, 2, 5]", "sim.replicates=20"})
    options.overrides.push_back({assignment, assignment});
  options.out = (folder / "maps").string();
  options.formats = {"svg"};
  options.quiet = true;
  REQUIRE(map_verb(options, studies()) == kExitDone);
  const auto made = std::filesystem::directory_iterator(folder / "maps")->path();
  const Json map = Json::parse(read_whole(made / "map.json"));
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
