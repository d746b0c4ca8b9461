#include "attica/studies/gaussian_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/core/gaussian_ensembles.hpp"
#include "attica/core/numeric_csv.hpp"
#include "attica/sim/gaussian_ridge.hpp"
#include "attica/studies/parameters.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Condition numbers above this are worth a warning: eigenvalues then carry few digits.
constexpr double kLargeCondition = 1e12;

struct DataSet {
  MatrixXd rows;  ///< centred, zero-variance columns removed, optionally scaled to unit variance
  std::vector<std::string> columns;
  std::vector<std::string> dropped;
};

/// Whatever is wrong with the content of model.file is that parameter's mistake.
template <class Build>
GaussianModel build_from_file(const Configuration& c, const Build& build) {
  const std::filesystem::path path = c.input_file("model.file");
  try {
    return build(path);
  } catch (const Error& error) {
    if (error.parameter().starts_with("model.")) throw;
    throw Error(error.kind(),
                fmt::format("parameter 'model.file' = {}: {}", path.string(), error.what()),
                "model.file");
  }
}

DataSet read_data(const Configuration& configuration, const std::filesystem::path& path) {
  const NumericTable table = read_numeric_csv(path, CsvHeader::required);
  const Index n = table.values.rows();
  constexpr Index kFewestRows = 2;
  if (n < kFewestRows) {
    throw invalid_parameter("model.file", path.string(), "at least two rows of data");
  }
  DataSet data;
  std::vector<Index> kept;
  for (Index j = 0; j < table.values.cols(); ++j) {
    const bool constant = (table.values.col(j).array() == table.values(0, j)).all();
    if (constant) {
      data.dropped.push_back(table.columns[static_cast<std::size_t>(j)]);
    } else {
      kept.push_back(j);
      data.columns.push_back(table.columns[static_cast<std::size_t>(j)]);
    }
  }
  if (kept.size() < 2) {
    throw invalid_parameter("model.file", path.string(), "at least two columns that vary");
  }
  data.rows = table.values(Eigen::all, kept);
  data.rows.rowwise() -= data.rows.colwise().mean().eval();
  if (configuration.flag("model.standardise")) {
    const VectorXd deviation =
        (data.rows.colwise().squaredNorm() / static_cast<double>(n)).cwiseSqrt();
    data.rows *= deviation.cwiseInverse().asDiagonal();
  }
  return data;
}

/// Parameters that mean nothing for the chosen covariance are refused rather than ignored, unless
/// they stand at their default, as in the generated configurations.
void refuse_unused(const Configuration& c, const std::string& covariance) {
  const std::vector<Parameter> parameters = gaussian_model_parameters();
  const auto unused = [&](const char* key, std::initializer_list<const char*> users) {
    const auto parameter = std::find_if(
        parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.key == key; });
    if (!c.given(key) || parameter->fallback == c.at(key)) return;
    if (std::find(users.begin(), users.end(), covariance) != users.end()) return;
    throw Error(
        ErrorKind::input,
        fmt::format("parameter '{}' has no meaning for model.covariance = \"{}\"", key, covariance),
        key);
  };
  unused("model.rho", {"ar1", "equi", "arrow"});
  unused("model.nu", {"precision"});
  unused("model.tau", {"precision"});
  unused("model.file", {"explicit", "data"});
  unused("model.standardise", {"data"});
}

GaussianMlm family_member(const Configuration& c, Index sites) {
  const std::string& covariance = c.text("model.covariance");
  if (covariance == "ar1") return GaussianMlm(ar1_covariance(sites, c.real("model.rho")));
  if (covariance == "equi") return GaussianMlm(equi_covariance(sites, c.real("model.rho")));
  if (covariance == "arrow") return GaussianMlm(arrow_covariance(sites, c.real("model.rho")));
  RandomStream stream(
      {.seed = static_cast<std::uint64_t>(c.integer("sim.seed")), .id = StreamId::model});
  return GaussianMlm(precision_covariance(
      {.sites = sites, .nu = c.real("model.nu"), .tau = c.real("model.tau")}, stream));
}

void set_sites(Configuration& c, Index sites) {
  if (c.given("model.sites") && c.integer("model.sites") != sites) {
    throw invalid_parameter("model.sites",
                            static_cast<double>(c.integer("model.sites")),
                            fmt::format("{}, as the file has, or no value", sites));
  }
  c.set("model.sites", static_cast<std::int64_t>(sites), false);
}

}  // namespace

std::vector<Parameter> gaussian_family_parameters() {
  return {
      word_parameter("model.covariance",
                     "ar1",
                     "covariance of the sites: ar1 rho^|i-j|; equi rho off the diagonal; precision "
                     "(GOE/sqrt(L) + nu)^-1; arrow: site 0 linked to all others",
                     {"ar1", "equi", "precision", "arrow"}),
      real_parameter(
          "model.rho",
          0.7,
          "correlation: ar1 nearest neighbours; equi every pair; arrow: norm of the links "
          "of site 0",
          {.low = -1, .high = 1, .low_open = true, .high_open = true}),
      real_parameter("model.nu",
                     3.0,
                     "precision: shift of the random precision matrix, above 2 tau",
                     kPositive),
      real_parameter("model.tau",
                     1.0,
                     "precision: standard deviation of the off-diagonal entries of the GOE matrix",
                     kNotNegative),
  };
}

std::vector<Parameter> gaussian_model_parameters(std::int64_t sites) {
  std::vector<Parameter> parameters = gaussian_family_parameters();
  Parameter& covariance = parameters.front();
  covariance.meaning += "; explicit: from file; data: empirical, with its rows as population";
  covariance.choices.insert(covariance.choices.end(), {"explicit", "data"});
  parameters.insert(parameters.begin() + 1,
                    integer_parameter("model.sites",
                                      sites,
                                      "number of sites L; from the file for explicit and data",
                                      {.low = 2, .high = 100000}));
  for (
      Parameter& p : std::vector<Parameter>{
          {.key = "model.file",
        .type = ParameterType::file,
        .fallback = std::nullopt,
        .meaning =
               "explicit: CSV of the covariance; data: CSV with a header, one row per observation"},
          {.key = "model.standardise",
          .type = ParameterType::flag,
          .fallback = Value(false),
          .meaning = "data: scale every column to unit variance"},
          {.key = "model.lambda_unit",
          .type = ParameterType::text,
          .fallback = std::nullopt,
          .meaning =
               "unit of lambda; unset: mean_eigenvalue (of the covariance) for data, else absolute",
          .choices = {"absolute", "mean_eigenvalue"}}}) {
    parameters.push_back(std::move(p));
  }
  return parameters;
}

GaussianModel::GaussianModel(GaussianMlm problem, double lambda_unit)
    : problem_(std::move(problem)), factor_(problem_.factor()), lambda_unit_(lambda_unit) {
  factor_is_lower_ = factor_.isLowerTriangular(0);
  if (problem_.condition_number() > kLargeCondition) {
    warnings_.push_back(fmt::format("the covariance has condition number {:.2g} (rank {} of {})",
                                    problem_.condition_number(),
                                    problem_.rank(),
                                    problem_.sites()));
  }
}

GaussianModel GaussianModel::from(Configuration& c) {
  const std::string covariance = c.text("model.covariance");
  refuse_unused(c, covariance);
  const bool uses_file = covariance == "explicit" || covariance == "data";
  if (uses_file && !c.has("model.file")) {
    throw invalid_parameter(
        "model.file", "(unset)", fmt::format("a file for model.covariance = \"{}\"", covariance));
  }
  if (!c.has("model.lambda_unit")) {
    c.set("model.lambda_unit", Value(covariance == "data" ? "mean_eigenvalue" : "absolute"), false);
  }
  const auto finished = [&](GaussianMlm problem) {
    const double unit = c.text("model.lambda_unit") == "absolute" ? 1.0 : problem.mean_eigenvalue();
    return GaussianModel(std::move(problem), unit);
  };

  if (covariance == "data")
    return build_from_file(c, [&](const std::filesystem::path& path) {
      DataSet data = read_data(c, path);
      const double n = static_cast<double>(data.rows.rows());
      set_sites(c, data.rows.cols());
      GaussianModel model =
          finished(GaussianMlm(data.rows.transpose() * data.rows / n, Definiteness::semi_positive));
      const Eigen::RowVectorXd deviation = (data.rows.colwise().squaredNorm() / n).cwiseSqrt();
      constexpr double kGaussianKurtosis = 3;
      model.excess_kurtosis_ =
          (data.rows.array().rowwise() / deviation.array()).square().square().colwise().mean() -
          kGaussianKurtosis;
      model.rows_ = std::move(data.rows);
      model.columns_ = std::move(data.columns);
      model.dropped_columns_ = std::move(data.dropped);
      if (!model.dropped_columns_.empty()) {
        model.warnings_.push_back(fmt::format("columns without variance are left out: {}",
                                              fmt::join(model.dropped_columns_, ", ")));
      }
      return model;
    });
  if (covariance == "explicit")
    return build_from_file(c, [&](const std::filesystem::path& path) {
      const MatrixXd sigma = read_numeric_csv(path, CsvHeader::optional).values;
      if (sigma.rows() != sigma.cols()) {
        throw invalid_parameter(
            "model.file",
            fmt::format("{} ({} x {})", path.string(), sigma.rows(), sigma.cols()),
            "a square covariance matrix");
      }
      set_sites(c, sigma.rows());
      return finished(GaussianMlm(sigma));
    });
  return finished(family_member(c, c.integer("model.sites")));
}

GaussianModel GaussianModel::family(const Configuration& c, Index sites) {
  refuse_unused(c, c.text("model.covariance"));
  return GaussianModel(family_member(c, sites), 1.0);
}

MatrixXd GaussianModel::samples(Index count, RandomStream& stream) const {
  return from_data() ? resampled_rows(rows_, count, stream)
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
  facts.emplace_back("observations", static_cast<std::int64_t>(rows_.rows()));
  Table kurtosis;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    kurtosis.emplace_back(columns_[j], excess_kurtosis_(static_cast<Index>(j)));
  }
  facts.emplace_back("excess_kurtosis", std::move(kurtosis));
  List dropped(dropped_columns_.begin(), dropped_columns_.end());
  facts.emplace_back("dropped_columns", std::move(dropped));
  facts.emplace_back("likely_cause", likely_cause());
  return facts;
}

std::string GaussianModel::likely_cause() const {
  if (!from_data()) return {};
  std::vector<Index> order(columns_.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return excess_kurtosis_(a) > excess_kurtosis_(b);
  });
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> named;
  for (std::size_t k = 0; k < std::min(kNamed, order.size()); ++k) {
    named.push_back(fmt::format(
        "{} ({:.3g})", columns_[static_cast<std::size_t>(order[k])], excess_kurtosis_(order[k])));
  }
  constexpr double kHeavy = 10;
  const auto heavy = (excess_kurtosis_.array() > kHeavy).count();
  return fmt::format(
      "the data are not Gaussian: {} of {} columns have excess kurtosis above {} (Gaussian: 0), "
      "the "
      "largest {}; rare large values make few samples less informative than the covariance says",
      heavy,
      columns_.size(),
      kHeavy,
      fmt::join(named, ", "));
}

}  // namespace attica
