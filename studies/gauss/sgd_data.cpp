/// @file
/// @brief Study gauss-sgd-data: test error of SGD with replacement on one fixed data set, against
/// the exact mean over the choice of batches.

#include <fmt/format.h>

#include "attica/studies/gauss/sgd_curves.hpp"

namespace attica::gauss_sgd_data {
namespace {

class DataCurves : public SgdCurves {
 public:
  explicit DataCurves(Configuration& c) : SgdCurves(c) {
    constexpr double kMostSites = 101;
    const auto sites = static_cast<double>(model().problem().sites());
    require(sites <= kMostSites,
            "model.sites",
            sites,
            fmt::format("at most {}, a step of the theory costs M L^3", kMostSites));
    RandomStream stream({.seed = c.seed()});
    data_ = model().samples(c.integer("model.samples"), stream);
  }

 protected:
  std::vector<double> errors(const SgdRule& rule,
                             const std::vector<std::int64_t>& steps) const override {
    return data_sgd_errors(model().problem(), data_, rule.parameters, steps);
  }

  std::optional<double> limit(const SgdRule&) const override { return std::nullopt; }

  std::optional<std::string> instability(const SgdRule& rule) const override {
    if (data_sgd_stable(data_, rule.parameters)) return std::nullopt;
    return "a smaller learning rate";
  }

  SampleSource source(RandomStream& stream) const override {
    return resampling_source(data_, stream);
  }

 private:
  Eigen::MatrixXd data_;
};

}  // namespace

Study study() { return described({.name = "gauss-sgd-data", .make = make<DataCurves>}); }

}  // namespace attica::gauss_sgd_data
