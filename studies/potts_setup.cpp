#include "attica/studies/potts_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/numeric_csv.hpp"
#include "attica/core/potts_ensembles.hpp"
#include "attica/theory/factored_flow.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

/// Populations up to this size are enumerated for drawing data.
constexpr double kMostDrawnStates = 1 << 18;
constexpr std::uint64_t kMostAttempts = 100;

MatrixXd square_file(const Configuration& c, const char* key) {
  if (!c.has(key)) throw invalid_parameter(key, "(unset)", "a CSV file with the matrix");
  const auto path = c.input_file(key);
  MatrixXd m;
  try {
    m = read_numeric_csv(path, CsvHeader::optional).values;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("parameter '{}': {}", key, error.what()), key);
  }
  if (m.rows() != m.cols()) {
    throw invalid_parameter(
        key, fmt::format("{} ({} x {})", path.string(), m.rows(), m.cols()), "a square matrix");
  }
  return m;
}

void take_size_from_file(Configuration& c, const char* key, Index size) {
  if (c.given(key) && c.integer(key) != size) {
    throw invalid_parameter(key,
                            static_cast<double>(c.integer(key)),
                            fmt::format("{}, as the file has, or no value", size));
  }
  c.set(key, static_cast<std::int64_t>(size), false);
}

/// The smallest curvature of the masked loss at the truth, from a sample where states are many.
double least_curvature(const PottsModel& model, const WeightedSequences& states) {
  constexpr Index kSample = 4096;
  if (states.sequences.rows() <= kSample) return factored_tail(model, states).least_curvature;
  RandomStream stream({.id = StreamId::selection});
  const Sequences sample = PopulationSampler(states).draw(kSample, stream);
  return factored_tail(model, equally_weighted(sample)).least_curvature;
}

void refuse_unused(const Configuration& c, const char* key, bool used, const char* needs) {
  if (c.given(key) && !used) {
    throw Error(ErrorKind::input, fmt::format("parameter '{}' needs {}", key, needs), key);
  }
}

}  // namespace

std::vector<Parameter> potts_model_parameters(const PottsDefaults& defaults) {
  constexpr double kMostColours = 255;
  constexpr double kMostSites = 10000;
  return {
      integer_parameter("model.sites",
                        defaults.sites,
                        "number of sites L; from the file for explicit couplings",
                        {.low = 2, .high = kMostSites}),
      integer_parameter("model.colours",
                        defaults.colours,
                        "number of colours C; from the file for explicit colour couplings",
                        {.low = 2, .high = kMostColours}),
      {.key = "model.beta",
       .type = ParameterType::real,
       .fallback = Value(defaults.beta),
       .meaning = "inverse temperature, of either sign"},
      word_parameter("model.couplings",
                     defaults.couplings,
                     "J: binary 0/1 with probability density; gauss N(0, 1/L); ring; explicit from "
                     "file; cosine, a fixed generic matrix",
                     {"binary", "gauss", "ring", "explicit", "cosine"}),
      word_parameter("model.colour_couplings",
                     defaults.colour_couplings,
                     "U: gauss symmetric normal; potts the identity; explicit from colour_file; "
                     "cosine, a fixed generic matrix",
                     {"gauss", "potts", "explicit", "cosine"}),
      {.key = "model.density",
       .type = ParameterType::real,
       .fallback = std::nullopt,
       .meaning = "binary: probability that two sites are coupled; unset: min(1, 3/(L-1))",
       .range = {.low = 0, .high = 1, .low_open = true}},
      {.key = "model.zero_sum",
       .type = ParameterType::flag,
       .fallback = Value(defaults.zero_sum),
       .meaning = "project U so that its rows and columns add up to 0: no colour is preferred"},
      {.key = "model.file",
       .type = ParameterType::file,
       .fallback = std::nullopt,
       .meaning = "explicit J: CSV of the L x L matrix, symmetric with zero diagonal"},
      {.key = "model.colour_file",
       .type = ParameterType::file,
       .fallback = std::nullopt,
       .meaning = "explicit U: CSV of the symmetric C x C matrix"},
      real_parameter("model.least_learnable",
                     defaults.least_learnable,
                     "ensembles: draw again while the other sites lower the loss by less, in nats; "
                     "0 for a model that is not drawn",
                     kNotNegative),
      real_parameter(
          "model.least_curvature",
          defaults.least_curvature,
          "ensembles: draw again while the loss of factored attention is flatter in some "
          "direction of the couplings; learning it takes a time of 1 over that",
          kNotNegative),
  };
}

PottsFamily PottsFamily::from(Configuration& c) {
  PottsFamily family;
  family.couplings_ = c.text("model.couplings");
  family.colour_couplings_ = c.text("model.colour_couplings");
  const bool j_from_file = family.couplings_ == "explicit";
  const bool u_from_file = family.colour_couplings_ == "explicit";
  refuse_unused(c, "model.density", family.couplings_ == "binary", "model.couplings = \"binary\"");
  refuse_unused(c, "model.file", j_from_file, "model.couplings = \"explicit\"");
  refuse_unused(c, "model.colour_file", u_from_file, "model.colour_couplings = \"explicit\"");
  if (j_from_file) {
    family.file_couplings_ = square_file(c, "model.file");
    take_size_from_file(c, "model.sites", family.file_couplings_.rows());
  }
  if (u_from_file) {
    family.file_colour_couplings_ = square_file(c, "model.colour_file");
    take_size_from_file(c, "model.colours", family.file_colour_couplings_.rows());
  }
  family.sites_ = c.integer("model.sites");
  family.colours_ = c.integer("model.colours");
  family.beta_ = c.real("model.beta");
  constexpr double kMeanDegree = 3;
  family.density_ = c.has("model.density")
                        ? c.real("model.density")
                        : std::min(1.0, kMeanDegree / static_cast<double>(family.sites_ - 1));
  family.zero_sum_ = c.flag("model.zero_sum");
  for (const char* key : {"model.least_learnable", "model.least_curvature"}) {
    // A default asks for other draws: a model that is not drawn is taken as it is.
    if (!family.random() && !c.given(key)) c.set(key, 0.0, false);
  }
  family.least_learnable_ = c.real("model.least_learnable");
  family.least_curvature_ = c.real("model.least_curvature");
  if (family.least_learnable_ > 0 || family.least_curvature_ > 0) family.require_enumerable();
  family.seed_ = static_cast<std::uint64_t>(c.integer("sim.seed"));
  try {
    (void)family.draw(0, 0);  // a file with a bad matrix is refused now
  } catch (const Error& error) {
    // Named as the user knows it.
    std::string key = "model." + error.parameter();
    if (error.parameter() == "couplings" && j_from_file) key = "model.file";
    if (error.parameter() == "colour_couplings" && u_from_file) key = "model.colour_file";
    throw Error(error.kind(), fmt::format("{}: {}", key, error.what()), key);
  }
  return family;
}

bool PottsFamily::random() const {
  return couplings_ == "binary" || couplings_ == "gauss" || colour_couplings_ == "gauss";
}

void PottsFamily::require_enumerable() const {
  const double states = std::pow(static_cast<double>(colours_), static_cast<double>(sites_));
  if (states > static_cast<double>(kMostStates)) {
    throw invalid_parameter(
        "model.sites",
        static_cast<double>(sites_),
        fmt::format("at most {} states C^L to enumerate; larger models are sampled by `attica run` "
                    "of potts-loss, potts-couplings, potts-peak and potts-square with "
                    "model.least_learnable = 0 and model.least_curvature = 0",
                    kMostStates));
  }
}

PottsModel PottsFamily::draw(std::uint64_t realisation, std::uint64_t attempt) const {
  RandomStream stream(
      {.seed = seed_, .id = StreamId::model, .replicate = realisation, .step = attempt});
  const auto couplings = [&]() -> MatrixXd {
    if (couplings_ == "binary") return binary_couplings(sites_, density_, stream);
    if (couplings_ == "gauss") return gaussian_couplings(sites_, stream);
    if (couplings_ == "ring") return ring_couplings(sites_);
    if (couplings_ == "cosine") return cosine_couplings(sites_);
    return file_couplings_;
  };
  const auto colour_couplings = [&]() -> MatrixXd {
    if (colour_couplings_ == "gauss") return gaussian_colour_couplings(colours_, stream);
    if (colour_couplings_ == "potts") return potts_colour_couplings(colours_);
    if (colour_couplings_ == "cosine") return cosine_colour_couplings(colours_);
    return file_colour_couplings_;
  };
  const MatrixXd j = couplings();
  const MatrixXd u = colour_couplings();
  // A matrix that is not symmetric is reported as it came, not after the projection.
  PottsModel model(j, u, beta_);
  return zero_sum_ ? PottsModel(j, zero_sum(u), beta_) : model;
}

PottsModel PottsFamily::model(std::uint64_t realisation) const {
  bool teaches = true;
  for (std::uint64_t attempt = 0; attempt == 0 || (random() && attempt < kMostAttempts);
       ++attempt) {
    PottsModel model = draw(realisation, attempt);
    if (least_learnable_ == 0 && least_curvature_ == 0) return model;
    const WeightedSequences states = enumerate(model).states;
    teaches = marginal_loss(states, colours_) - bayes_loss(model, states) >= least_learnable_;
    if (teaches && (least_curvature_ == 0 || least_curvature(model, states) >= least_curvature_)) {
      return model;
    }
  }
  if (!teaches) {
    throw invalid_parameter("model.least_learnable",
                            least_learnable_,
                            "an amount in nats that other sites can teach about a site in this "
                            "model: lower it, or raise model.beta");
  }
  throw invalid_parameter("model.least_curvature",
                          least_curvature_,
                          "a curvature that draws of this model have: lower it or model.beta");
}

PottsData::PottsData(const PottsModel& model,
                     const GibbsPoolOptions& options,
                     const StreamAddress& address) {
  if (potts_states(model) <= kMostDrawnStates) {
    population_ = enumerate(model).states;
  } else {
    population_ = gibbs_pool(
        [&](Index chains, const StreamAddress& own) {
          return PottsSampler(model, {.chains = chains}, own);
        },
        options,
        address);
  }
  sampler_ = std::make_unique<PopulationSampler>(population_);
}

Sequences PottsData::draw(Index count, RandomStream& stream) const {
  return sampler_->draw(count, stream);
}

std::vector<Parameter> masked_batch_parameters(std::int64_t batch) {
  return {integer_parameter("sim.batch", batch, "sequences per step, B", {.low = 1, .high = 1e6}),
          word_parameter("sim.masked",
                         "all",
                         "factored attention: mask all sites in turn, or one random site per "
                         "sequence",
                         {"all", "one"})};
}

MaskedSites masked_sites(const Configuration& c) {
  return c.text("sim.masked") == "all" ? MaskedSites::all : MaskedSites::one;
}

FactoredPlan FactoredPlan::from(const Configuration& c,
                                const std::string& eta_key,
                                std::vector<std::uint64_t> recorded) {
  constexpr std::uint64_t kTrialShare = 10;
  const auto steps = static_cast<std::uint64_t>(c.integer("sim.steps"));
  return {.training = {.optimiser = {.kind = networks::OptimiserKind::sgd,
                                     .learning_rate = c.real(eta_key),
                                     .schedule = half_constant(steps)},
                       .batch = c.integer("sim.batch"),
                       .masked = masked_sites(c),
                       .recorded = std::move(recorded)},
          .starts = {.count = static_cast<int>(c.integer("sim.starts")),
                     .trial_steps = steps / kTrialShare}};
}

std::vector<Parameter> factored_plan_parameters(std::int64_t steps, const std::string& eta_key) {
  constexpr std::int64_t kBatch = 128;
  std::vector<Parameter> all{integer_parameter(
      "sim.steps",
      steps,
      "training steps, each on fresh sequences; the learning rate is constant for the "
      "first half, then falls to 0 along a cosine",
      {.low = 10, .high = 1e9})};
  for (Parameter& p : masked_batch_parameters(kBatch)) all.push_back(std::move(p));
  all.push_back(
      real_parameter(eta_key, 1.0, "factored attention: learning rate of SGD", kPositive));
  all.push_back(
      integer_parameter("sim.starts",
                        8,
                        "factored attention: random starts tried for a tenth of the steps, of "
                        "which the one with the lowest loss is trained",
                        {.low = 1, .high = 1000}));
  return all;
}

networks::Schedule half_constant(std::uint64_t steps) {
  return {.kind = networks::Schedule::Kind::cosine_tail, .start = steps / 2, .length = steps};
}

std::vector<std::uint64_t> recorded_steps(std::uint64_t first, std::uint64_t last, int count) {
  std::vector<std::uint64_t> steps{std::min(first, last)};
  const double ratio = static_cast<double>(last) / static_cast<double>(steps.front());
  for (int k = 1; k < count; ++k) {
    const double step =
        static_cast<double>(steps.front()) * std::pow(ratio, static_cast<double>(k) / (count - 1));
    const auto rounded = static_cast<std::uint64_t>(std::llround(step));
    if (rounded > steps.back()) steps.push_back(std::min(rounded, last));
  }
  return steps;
}

Source potts_source(const std::string& used) {
  return {"rende2024mapping",
          "Mapping of attention mechanisms to a generalized Potts model",
          "R. Rende, F. Gerace, A. Laio, S. Goldt",
          2024,
          "2304.07235",
          used};
}

ClaimResult claim_in_every(const std::string& name,
                           const std::string& statement,
                           const std::vector<bool>& holds,
                           const std::string& detail) {
  ClaimResult result{.name = name, .statement = statement, .detail = detail};
  const auto held = std::count(holds.begin(), holds.end(), true);
  if (!holds.empty()) {
    result.verdict =
        held == static_cast<std::ptrdiff_t>(holds.size()) ? Verdict::agree : Verdict::disagree;
  }
  result.detail += fmt::format(" (holds in {} of {})", held, holds.size());
  return result;
}

std::vector<double> last_values(const Observed& observed,
                                const std::string& series,
                                const Point& point) {
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name == series && curve.mean.point == point && !curve.values.empty()) {
      return curve.values.back();
    }
  }
  return {};
}

}  // namespace attica
