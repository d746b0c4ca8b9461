#include "attica/studies/potts/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/input_files.hpp"
#include "attica/core/potts/conditional_entropy.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/theory/potts/block_ridge.hpp"
#include "attica/theory/potts/factored_flow.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

/// How a matrix of that size is made; explicit ones come from files.
using Draw = MatrixXd (*)(Index size, double density, RandomStream& stream);

const Choices<Draw> kCouplings{
    {"binary",
     [](Index n, double density, RandomStream& s) { return binary_couplings(n, density, s); }},
    {"gauss", [](Index n, double, RandomStream& s) { return gaussian_couplings(n, s); }},
    {"ring", [](Index n, double, RandomStream&) { return ring_couplings(n); }},
    {"explicit", nullptr},
    {"cosine", [](Index n, double, RandomStream&) { return cosine_couplings(n); }}};

const Choices<Draw> kColourCouplings{
    {"gauss", [](Index n, double, RandomStream& s) { return gaussian_colour_couplings(n, s); }},
    {"potts", [](Index n, double, RandomStream&) { return potts_colour_couplings(n); }},
    {"explicit", nullptr},
    {"cosine", [](Index n, double, RandomStream&) { return cosine_colour_couplings(n); }}};

const Choices<MaskedSites> kMasked{{"all", MaskedSites::all}, {"one", MaskedSites::one}};

constexpr std::uint64_t kMostAttempts = 100;

MatrixXd square_file(const Configuration& c, const char* key) {
  if (!c.has(key)) throw invalid_parameter(key, "(unset)", "a CSV file with the matrix");
  const auto path = c.input_file(key);
  MatrixXd m;
  try {
    m = input_numbers(c.inputs, path, CsvHeader::optional).values;
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

}  // namespace

PottsFamily::PottsFamily(Configuration& c)
    : couplings_(c.text("model.couplings")),
      colour_couplings_(c.text("model.colour_couplings")),
      beta_(c.real("model.beta")),
      zero_sum_(c.flag("model.zero_sum")),
      seed_(c.seed()) {
  const bool j_from_file = couplings_ == "explicit";
  const bool u_from_file = colour_couplings_ == "explicit";
  if (j_from_file) {
    file_couplings_ = square_file(c, "model.file");
    take_size_from_file(c, "model.sites", file_couplings_.rows());
  }
  if (u_from_file) {
    file_colour_couplings_ = square_file(c, "model.colour_file");
    take_size_from_file(c, "model.colours", file_colour_couplings_.rows());
  }
  sites_ = c.integer("model.sites");
  colours_ = c.integer("model.colours");
  constexpr double kMeanDegree = 3;
  density_ = c.has("model.density") ? c.real("model.density")
                                    : std::min(1.0, kMeanDegree / static_cast<double>(sites_ - 1));
  for (const char* key : {"model.least_learnable", "model.least_curvature"}) {
    // A default asks for other draws: a model that is not drawn is taken as it is.
    if (!random() && !c.given(key)) c.set(key, 0.0, false);
  }
  least_learnable_ = c.real("model.least_learnable");
  least_curvature_ = c.real("model.least_curvature");
  if (constexpr const char* kEntropy = "model.least_entropy"; c.declares(kEntropy)) {
    // Its default is one of the default temperature, and of states that can be enumerated.
    const double states = std::pow(static_cast<double>(colours_), static_cast<double>(sites_));
    const bool judged =
        random() && states <= static_cast<double>(kMostStates) && !c.given("model.beta");
    if (!judged && !c.given(kEntropy)) c.set(kEntropy, 0.0, false);
    least_entropy_ = c.real(kEntropy);
  }
  if (least_learnable_ > 0 || least_entropy_ > 0 || least_curvature_ > 0) (void)enumerable();
  try {
    (void)draw(0, 0);  // a file with a bad matrix is refused now
  } catch (const Error& error) {
    // Named as the user knows it.
    std::string key = "model." + error.parameter();
    if (error.parameter() == "couplings" && j_from_file) key = "model.file";
    if (error.parameter() == "colour_couplings" && u_from_file) key = "model.colour_file";
    throw Error(error.kind(), fmt::format("{}: {}", key, error.what()), key);
  }
}

bool PottsFamily::random() const {
  return couplings_ == "binary" || couplings_ == "gauss" || colour_couplings_ == "gauss";
}

const PottsFamily& PottsFamily::enumerable() const {
  const double states = std::pow(static_cast<double>(colours_), static_cast<double>(sites_));
  if (states > static_cast<double>(kMostStates)) {
    throw invalid_parameter(
        "model.sites",
        static_cast<double>(sites_),
        fmt::format("at most {} states C^L to enumerate; larger models are sampled by `attica run` "
                    "of potts-loss, potts-couplings, potts-learning, potts-peak and potts-square "
                    "with every model.least_... = 0",
                    kMostStates));
  }
  return *this;
}

PottsFamily PottsFamily::at(double beta) const {
  PottsFamily family = *this;
  family.beta_ = beta;
  return family;
}

BlockRidge PottsFamily::square_loss(const MatrixXd& covariance) const {
  const Error frozen = invalid_parameter(
      "model.beta",
      beta_,
      "a temperature at which every colour occurs at every site: at this one the model is frozen, "
      "and the square loss has no theory; nearer to 0");
  constexpr double kLeastVariance = 1e-150;  // squares of smaller ones are lost
  if (!(covariance.diagonal().minCoeff() >= kLeastVariance)) throw frozen;
  try {
    return {covariance, colours_ - 1};
  } catch (const Error& error) {
    if (error.parameter() == "covariance") throw frozen;
    throw;
  }
}

PottsModel PottsFamily::draw(std::uint64_t realisation, std::uint64_t attempt) const {
  RandomStream stream(
      {.seed = seed_, .id = StreamId::model, .replicate = realisation, .step = attempt});
  const Draw draw_couplings = kCouplings(couplings_);
  const Draw draw_colours = kColourCouplings(colour_couplings_);
  const MatrixXd j = draw_couplings ? draw_couplings(sites_, density_, stream) : file_couplings_;
  const MatrixXd u = draw_colours ? draw_colours(colours_, 0, stream) : file_colour_couplings_;
  // A matrix that is not symmetric is reported as it came, not after the projection.
  PottsModel model(j, u, beta_);
  return zero_sum_ ? PottsModel(j, zero_sum(u), beta_) : model;
}

PottsFamily::Realisation PottsFamily::realise(std::uint64_t realisation) const {
  const double least = least_entropy_ * std::log(static_cast<double>(colours_));
  bool teaches = true;
  bool warm = true;
  for (std::uint64_t attempt = 0; attempt == 0 || (random() && attempt < kMostAttempts);
       ++attempt) {
    PottsModel model = draw(realisation, attempt);
    const auto rejected = static_cast<std::int64_t>(attempt);
    if (least_learnable_ == 0 && least_entropy_ == 0 && least_curvature_ == 0)
      return {std::move(model), rejected};
    PottsEnumeration all = enumerate(model);
    const double entropy = mean_conditional_entropy(all.states, colours_);
    teaches = marginal_loss(all.states, colours_) - entropy >= least_learnable_;
    warm = entropy >= least;
    if (teaches && warm &&
        (least_curvature_ == 0 || least_curvature(model, all.states) >= least_curvature_)) {
      return {std::move(model), rejected, std::move(all)};
    }
  }
  if (!warm) {
    throw invalid_parameter("model.least_entropy",
                            least_entropy_,
                            "a share of ln C that draws of this model leave: lower it, or bring "
                            "model.beta nearer to 0");
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

void tell_rejected(std::int64_t draws, TheoryResult& result) {
  result.diagnostics.emplace_back("rejected_draws", draws);
  if (draws == 0) return;
  result.warnings.push_back(
      fmt::format("draws of the couplings that were rejected: {} (too little to learn, too little "
                  "entropy, or frozen; see model.least_learnable, model.least_entropy and "
                  "model.least_curvature)",
                  draws));
}

GibbsPoolOptions gibbs_pool_options(const Configuration& c) {
  constexpr double kMostSequences = 1e8;
  const double most = kMostSequences / static_cast<double>(c.integer("sim.chains"));
  const auto draws = static_cast<double>(c.integer("sim.draws"));
  if (draws > most) {
    throw invalid_parameter(
        "sim.draws", draws, fmt::format("at most {:g} of so many sim.chains", std::floor(most)));
  }
  return {.chains = c.integer("sim.chains"),
          .burn_in = c.integer("sim.burn_in"),
          .draws = c.integer("sim.draws"),
          .allow_unconverged = c.flag("sim.allow_unconverged")};
}

MaskedSites masked_sites(const Configuration& c) { return kMasked.of(c, "sim.masked"); }

FactoredPlan::FactoredPlan(const Configuration& c, const std::string& eta_key, int records) {
  constexpr std::uint64_t kTrialShare = 10;
  const auto length = c.integer<std::uint64_t>("sim.length");
  training = {.optimiser = {.kind = networks::OptimiserKind::sgd,
                            .learning_rate = c.real(eta_key),
                            .schedule = half_constant(length)},
              .batch = c.integer("sim.batch"),
              .masked = masked_sites(c),
              .recorded = steps_to_length(c, records)};
  starts = {.count = c.integer<int>("sim.starts"), .trial_steps = length / kTrialShare};
}

networks::Schedule half_constant(std::uint64_t length) {
  return {.kind = networks::Schedule::Kind::cosine_tail, .start = length / 2, .length = length};
}

std::optional<double> penalty_balance(const std::function<double(double)>& loss_at, double gain) {
  constexpr double kStep = 1e-3;
  constexpr double kLeast = 1e-4;  // a tenth of the margin
  const double below = loss_at(1 - kStep);
  const double difference = below - loss_at(1 + kStep);
  const double rounding = std::numeric_limits<double>::epsilon() * below;
  if (!(rounding < kLeast * 2 * kStep * gain) || !std::isfinite(difference)) return std::nullopt;
  return difference / (2 * kStep * gain);
}

void add_start_spread(const ChosenStart& chosen,
                      const FactoredStarts& starts,
                      const Point& point,
                      Outcome& outcome) {
  if (starts.count == 1 || !std::isfinite(chosen.spread)) return;
  Curves(point, "step", {"start_spread"})
      .add(static_cast<double>(starts.trial_steps), {chosen.spread})
      .into(outcome);
}

std::vector<std::uint64_t> steps_to_length(const Configuration& c, int count) {
  constexpr std::int64_t kFirst = 10;
  const std::vector<std::int64_t> steps = whole_log_grid(kFirst, c.integer("sim.length"), count);
  return {steps.begin(), steps.end()};
}

}  // namespace attica
