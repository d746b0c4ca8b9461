#include "attica/theory/gaussian_flow.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "attica/core/error.hpp"
#include "attica/core/gaussian_ensembles.hpp"
#include "attica/theory/site_regression.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

nlohmann::json reference(const std::string& entry) {
  std::ifstream file(ATTICA_SOURCE_DIR "/tests/reference/potts.json");
  return nlohmann::json::parse(file).at(entry);
}

}  // namespace

TEST_CASE("GaussianFlow: reference values of gradient flow", "[theory][flow]") {
  const nlohmann::json entry = reference("gf_rmt");
  const GaussianFlow flow{GaussianMlm(ar1_covariance(40, 0.6))};
  const Eigen::Index site = entry.at("site");
  for (const auto& c : entry.at("cases")) {
    const ResidualFilter filter = flow_filter(c.at("t"));
    const FlowPoint point = flow.site(site, c.at("M"), std::span(&filter, 1)).front();
    INFO(c.dump() << " got " << point.test_error << " " << point.train_error << " "
                  << point.signal_error << " " << point.noise_error << " e "
                  << point.numerical_error);
    CHECK(point.status == FlowStatus::converged);
    CHECK_THAT(point.test_error, WithinRel(c.at("test").get<double>(), 1e-9));
    CHECK_THAT(point.train_error, WithinAbs(c.at("train").get<double>(), 1e-9));
    CHECK_THAT(point.noise_error, WithinAbs(c.at("var").get<double>(), 1e-9));
  }
}

TEST_CASE("GaussianFlow: reference values of gradient descent", "[theory][flow]") {
  const GaussianFlow flow{GaussianMlm(ar1_covariance(40, 0.6))};
  for (const auto& c : reference("gd_rmt")) {
    const ResidualFilter filter = descent_filter(c.at("eta"), c.at("steps"));
    const FlowPoint point = flow.site(13, c.at("M"), std::span(&filter, 1)).front();
    CHECK(point.status == FlowStatus::converged);
    CHECK_THAT(point.test_error, WithinRel(c.at("test").get<double>(), 1e-9));
    CHECK_THAT(point.train_error, WithinAbs(c.at("train").get<double>(), 1e-9));
  }
}
