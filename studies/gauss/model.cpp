#include "attica/studies/gauss/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/core/input_files.hpp"
#include "attica/sim/gauss/ridge.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Covariances = GaussianMlm (*)(const Configuration&, Index sites);

/// Covariances of any size.
const Choices<Covariances>& families() {
  static const Choices<Covariances> all = {
      {"ar1",
       [](const Configuration& c, Index sites) {
         return GaussianMlm(ar1_covariance(sites, c.real("model.rho")));
       }},
      {"equi",
       [](const Configuration& c, Index sites) {
         return GaussianMlm(equi_covariance(sites, c.real("model.rho")));
       }},
      {"precision",
       [](const Configuration& c, Index sites) {
         RandomStream stream({.seed = c.seed(), .id = StreamId::model});
         return GaussianMlm(precision_covariance(
             {.sites = sites, .nu = c.real("model.nu"), .tau = c.real("model.tau")}, stream));
       }},
      {"arrow", [](const Configuration& c, Index sites) {
         return GaussianMlm(arrow_covariance(sites, c.real("model.rho")));
       }}};
  return all;
}

/// That a family's matrix is singular in double precision is the mistake of the family's parameter.
GaussianMlm of_family(const Configuration& c, Index sites) {
  try {
    return families().of(c, "model.covariance")(c, sites);
  } catch (const Error& error) {
    if (error.parameter() != "covariance") throw;
    const char* key = c.text("model.covariance") == "precision" ? "model.tau" : "model.rho";
    throw invalid_parameter(
        key, c.real(key), "a covariance that is positive definite in double precision");
  }
}

/// Whatever is wrong with the content of model.file is that parameter's mistake.
template <class Build>
GaussianModel build_from_file(const Configuration& c, const Build& build) {
  const std::filesystem::path path = c.input_file("model.file");
  try {
    return build(path);
  } catch (const Error& error) {
    if (error.parameter().starts_with("model.")) throw;
    throw Error(
        error.kind(), fmt::format("parameter 'model.file': {}", error.what()), "model.file");
  }
}

void set_sites(Configuration& c, Index sites) {
  if (c.given("model.sites") && c.integer("model.sites") != sites) {
    throw invalid_parameter("model.sites",
                            static_cast<double>(c.integer("model.sites")),
                            fmt::format("{}, as the file has, or no value", sites));
  }
  c.set("model.sites", static_cast<std::int64_t>(sites), false);
}

/// Why a Gaussian theory may fail on data.
std::string likely_cause(const std::vector<std::string>& columns, const VectorXd& kurtosis) {
  constexpr double kHeavy = 10;
  constexpr std::size_t kNamed = 3;
  std::vector<Index> order(columns.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(
      order.begin(), order.end(), [&](Index a, Index b) { return kurtosis(a) > kurtosis(b); });
  order.resize(std::min(kNamed, order.size()));
  std::vector<std::string> named;
  for (const Index k : order) {
    named.push_back(fmt::format("{} ({:.3g})", columns[static_cast<std::size_t>(k)], kurtosis(k)));
  }
  if (kurtosis.maxCoeff() <= kHeavy) {
    return fmt::format(
        "the data are not Gaussian, although no column has heavy tails (largest excess kurtosis "
        "{}): few distinct rows, or columns that depend on each other beyond their covariance",
        named.front());
  }
  return fmt::format(
      "the data are not Gaussian: {} of {} columns have excess kurtosis above {} (Gaussian: 0), "
      "the largest {}; rare large values make few samples less informative than the covariance "
      "says",
      (kurtosis.array() > kHeavy).count(),
      columns.size(),
      kHeavy,
      fmt::join(named, ", "));
}

}  // namespace

bool on_data(const Configuration& c) { return c.text("model.covariance") == "data"; }

GaussianModel::GaussianModel(GaussianMlm problem, double lambda_unit)
    : problem_(std::move(problem)), factor_(problem_.factor()), lambda_unit_(lambda_unit) {
  // Cubes of eigenvalues are formed, and must stay finite and apart from 0.
  constexpr double kLargest = 1e60;
  const double mean = problem_.mean_eigenvalue();
  require(mean <= kLargest && mean >= 1 / kLargest,
          "model.file",
          mean,
          fmt::format("data or a covariance in units in which the mean variance of the sites lies "
                      "between {:g} and {:g}: rescale the numbers",
                      1 / kLargest,
                      kLargest));
  /// Eigenvalues then carry few digits.
  constexpr double kLargeCondition = 1e12;
  factor_is_lower_ = factor_.isLowerTriangular(0);
  if (problem_.condition_number() > kLargeCondition) {
    warnings_.push_back(fmt::format("the covariance has condition number {:.2g} (rank {} of {})",
                                    problem_.condition_number(),
                                    problem_.rank(),
                                    problem_.sites()));
  }
}

namespace {

/// "c0 has 1e+16 times the variance of the other columns ...": columns whose variance lies a factor
/// 1e6 or more from the median. Empty: none.
std::string unlike_scales(const Observations& data) {
  constexpr double kUnlike = 1e6;
  constexpr std::size_t kNamed = 5;
  const VectorXd variance =
      data.rows.colwise().squaredNorm().transpose() / static_cast<double>(data.rows.rows());
  std::vector<double> sorted(variance.begin(), variance.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  std::vector<std::string> unlike;
  std::size_t count = 0;
  for (std::size_t j = 0; j < data.columns.size(); ++j) {
    const double ratio = variance(static_cast<Index>(j)) / *middle;
    if (ratio < kUnlike && ratio * kUnlike > 1) continue;
    if (++count <= kNamed) unlike.push_back(fmt::format("{} has {:.0e}", data.columns[j], ratio));
  }
  if (count == 0) return {};
  return fmt::format(
      "{}{} times the variance of the other columns (their median); another unit? "
      "model.standardise=true gives every column variance 1",
      fmt::join(unlike, ", "),
      count > kNamed ? fmt::format(" and {} more", count - kNamed) : "");
}

}  // namespace

GaussianModel GaussianModel::from(Configuration& c) {
  const std::string covariance = c.text("model.covariance");
  const bool data = on_data(c);
  if ((data || covariance == "explicit") && !c.has("model.file")) {
    throw invalid_parameter(
        "model.file", "(unset)", fmt::format("a file for model.covariance = \"{}\"", covariance));
  }
  if (!c.has("model.lambda_unit")) {
    c.set("model.lambda_unit", Value(data ? "mean_eigenvalue" : "absolute"), false);
  }
  const auto finished = [&](GaussianMlm problem) {
    const double unit = c.text("model.lambda_unit") == "absolute" ? 1.0 : problem.mean_eigenvalue();
    return GaussianModel(std::move(problem), unit);
  };
  if (data) {
    return build_from_file(c, [&](const std::filesystem::path& path) {
      Observations observed = centred_observations(
          input_numbers(c.inputs, path, CsvHeader::required), c.flag("model.standardise"));
      set_sites(c, observed.rows.cols());
      GaussianModel model =
          finished(GaussianMlm(observed.covariance(), Definiteness::semi_positive));
      if (!observed.constants.empty()) {
        model.warnings_.push_back(fmt::format("columns without variance are left out: {}",
                                              fmt::join(observed.constants, ", ")));
      }
      if (std::string unlike = unlike_scales(observed); !unlike.empty())
        model.warnings_.push_back(std::move(unlike));
      model.data_ = std::move(observed);
      return model;
    });
  }
  if (covariance == "explicit") {
    return build_from_file(c, [&](const std::filesystem::path& path) {
      const MatrixXd sigma = input_numbers(c.inputs, path, CsvHeader::optional).values;
      if (sigma.rows() != sigma.cols()) {
        throw invalid_parameter(
            "model.file",
            fmt::format("{} ({} x {})", path.string(), sigma.rows(), sigma.cols()),
            "a square covariance matrix");
      }
      set_sites(c, sigma.rows());
      return finished(GaussianMlm(sigma));
    });
  }
  return finished(of_family(c, c.integer("model.sites")));
}

GaussianModel GaussianModel::family(const Configuration& c, Index sites) {
  return GaussianModel(of_family(c, sites), 1.0);
}

void GaussianModel::require_penalties(const std::vector<double>& configured,
                                      const std::string& key) const {
  constexpr double kLargest = 1e60;
  for (const double lambda : configured) {
    require(absolute_lambda(lambda) <= kLargest * problem_.mean_eigenvalue(),
            key,
            lambda,
            fmt::format("at most {:g} mean eigenvalues of the covariance, where nothing has been "
                        "learnt for long",
                        kLargest));
  }
}

SampleSizes GaussianModel::sizes(const Configuration& c) const {
  constexpr double kMostNumbers = 1e9;  // 8 GB
  return {c.reals("sweep.alpha"),
          inputs(),
          std::floor(kMostNumbers / (inputs() + 1)),
          "sweep.alpha",
          SampleCheck::when_used};
}

MatrixXd GaussianModel::samples(Index count, RandomStream& stream) const {
  return from_data() ? resampled_rows(data_.rows, count, stream)
                     : gaussian_samples(factor_, factor_is_lower_, count, stream);
}

Table GaussianModel::diagnostics() const {
  Table facts{{"sites", static_cast<std::int64_t>(problem_.sites())},
              {"rank", static_cast<std::int64_t>(problem_.rank())},
              {"mean_eigenvalue", problem_.mean_eigenvalue()},
              {"lambda_unit", lambda_unit_}};
  if (std::isfinite(problem_.condition_number())) {
    facts.emplace_back("condition_number", problem_.condition_number());
  }
  if (!from_data()) return facts;
  facts.emplace_back("observations", static_cast<std::int64_t>(data_.rows.rows()));
  const VectorXd kurtosis = data_.excess_kurtosis();
  Table kurtoses;
  for (std::size_t j = 0; j < data_.columns.size(); ++j) {
    kurtoses.emplace_back(data_.columns[j], kurtosis(static_cast<Index>(j)));
  }
  facts.emplace_back("excess_kurtosis", std::move(kurtoses));
  facts.emplace_back("dropped_columns", List(data_.constants.begin(), data_.constants.end()));
  facts.emplace_back("likely_cause", likely_cause(data_.columns, kurtosis));
  return facts;
}

}  // namespace attica
