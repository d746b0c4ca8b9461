#include "attica/studies/body_setup.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attica/core/body_ensembles.hpp"
#include "attica/core/error.hpp"
#include "attica/sim/body_sampler.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/order_plateaus.hpp"

namespace attica {

using Eigen::Index;

namespace {

/// Populations up to this size are enumerated.
constexpr double kMostStatesDrawn = 1 << 16;
/// Of a pool that stands for a larger population, so many sequences measure the loss.
constexpr Index kMostTestSequences = 1000;

}  // namespace

std::vector<Parameter> body_model_parameters() {
  return {
      integer_parameter("model.sites", 6, "number of sites L", {.low = 2, .high = 1000}),
      integer_parameter("model.colours", 3, "number of colours C", {.low = 2, .high = 64}),
      integer_parameter(
          "model.order", 4, "sites that interact at a time, p <= L", {.low = 2, .high = 8}),
      {.key = "model.beta",
       .type = ParameterType::real,
       .fallback = Value(0.7),
       .meaning = "inverse temperature, of either sign"},
      word_parameter(
          "model.couplings",
          "mean_field",
          "J_e on the hyperedges: mean_field all 1/sqrt(k), gauss N(0, 1)/sqrt(k) with k "
          "edges a site; cosine, a fixed generic choice",
          {"mean_field", "gauss", "cosine"}),
      real_parameter("model.density",
                     1.0,
                     "share of the sets of p sites that interact, chosen at random; 1: all of them",
                     {.low = 0, .high = 1, .low_open = true}),
      word_parameter(
          "model.colour_couplings",
          "graded_cosine",
          "U: cosine, a fixed generic tensor; gauss, symmetric normal entries; graded_... "
          "their pure r-index parts at unit mean square times model.order_weights",
          {"cosine", "gauss", "graded_cosine", "graded_gauss"}),
      {.key = "model.order_weights",
       .type = ParameterType::real,
       .fallback = Value(List{0.0, 0.3, 0.6, 1.0}),
       .meaning = "graded tensors: weights of the parts of 1, 2, ... p indices",
       .list = true},
  };
}

BodyModel body_model(const Configuration& c) {
  try {
    const Index sites = c.integer("model.sites");
    const Index colours = c.integer("model.colours");
    const auto order = static_cast<int>(c.integer("model.order"));
    RandomStream stream(
        {.seed = static_cast<std::uint64_t>(c.integer("sim.seed")), .id = StreamId::model});
    Hyperedges edges = all_hyperedges(sites, order);
    if (c.real("model.density") < 1) {
      const auto total = static_cast<double>(edges.sites.rows());
      const Index count = std::max<Index>(1, std::llround(c.real("model.density") * total));
      edges = random_hyperedges(edges, count, stream);
    }
    const double scale = 1 / std::sqrt(edges_per_site(edges, sites));
    const std::string& couplings = c.text("model.couplings");
    if (couplings == "cosine") {
      edges.couplings = cosine_body_couplings(edges);
    } else {
      for (double& j : edges.couplings) j = couplings == "gauss" ? scale * stream.normal() : scale;
    }
    const std::string& tensor = c.text("model.colour_couplings");
    const bool graded_parts = tensor.starts_with("graded_");
    if (!graded_parts && c.given("model.order_weights")) {
      throw Error(ErrorKind::input,
                  "parameter 'model.order_weights' needs model.colour_couplings = \"graded_...\"",
                  "model.order_weights");
    }
    ColourTensor u = tensor.ends_with("gauss") ? gaussian_tensor(order, colours, stream)
                                               : cosine_tensor(order, colours);
    if (graded_parts) u = graded(u, c.reals("model.order_weights"));
    return {sites, std::move(edges), std::move(u), c.real("model.beta")};
  } catch (const Error& error) {
    // What core calls `order` is `model.order` here.
    const std::string& name = error.parameter();
    if (name.empty() || name.find('.') != std::string::npos) throw;
    const std::string key = "model." + name;
    std::string message = error.what();
    const std::string quoted = "'" + name + "'";
    if (const auto at = message.find(quoted); at != std::string::npos) {
      message.replace(at, quoted.size(), "'" + key + "'");
    }
    throw Error(error.kind(), message, key);
  }
}

BodyProblem::BodyProblem(BodyModel model, const GibbsPoolOptions& options, std::uint64_t seed)
    : model_(std::move(model)) {
  const double states =
      std::pow(static_cast<double>(model_.colours()), static_cast<double>(model_.sites()));
  exact_ = states <= kMostStatesDrawn;
  if (exact_) {
    PottsEnumeration all = enumerate(model_);
    log_partition_ = all.log_partition;
    masked_ = std::make_unique<MaskedPopulation>(MaskedPopulation::enumerated(model_, all));
    population_ = std::move(all.states);
  } else {
    population_ = gibbs_pool(
        [&](Index chains, const StreamAddress& own) { return BodySampler(model_, chains, own); },
        options,
        {.seed = seed});
    const Index tested = std::min(kMostTestSequences, population_.sequences.rows());
    masked_ = std::make_unique<MaskedPopulation>(
        MaskedPopulation::sampled(model_, population_.sequences.topRows(tested)));
  }
  sampler_ = std::make_unique<PopulationSampler>(population_);
}

Lazy<std::unique_ptr<BodyProblem>> lazy_body_problem(const Configuration& c) {
  return Lazy<std::unique_ptr<BodyProblem>>(
      [model = body_model(c),
       options = GibbsPoolOptions::from(c),
       seed = static_cast<std::uint64_t>(c.integer("sim.seed"))] {
        return std::make_unique<BodyProblem>(model, options, seed);
      });
}

std::vector<Parameter> body_parameters(const std::vector<Parameter>& own) {
  std::vector<Parameter> all = body_model_parameters();
  all.insert(all.end(), own.begin(), own.end());
  for (Parameter& p : body_training_parameters()) all.push_back(std::move(p));
  return all;
}

std::vector<SeriesInfo> body_series() {
  return {{"test_loss", "ε", "cross-entropy per masked site over all contexts, nats"},
          {"bayes_loss", "ε_opt", "entropy of the true conditionals, nats per site (theory)"},
          {"plateau",
           "ε_p",
           "smallest loss of predictions with interactions of at most p bodies (theory)"}};
}

std::vector<Parameter> body_training_parameters() {
  std::vector<Parameter> all = {
      integer_parameter(
          "sim.steps",
          16000,
          "training steps, each on fresh sequences; the learning rate is a tenth in the "
          "last fifth",
          {.low = 10, .high = 1e9}),
      integer_parameter("sim.batch",
                        256,
                        "sequences per step, B, each with one random masked site",
                        {.low = 1, .high = 1e6}),
      real_parameter("sim.eta", 0.2, "learning rate of SGD", kPositive),
      real_parameter(
          "sim.clip",
          1.0,
          "gradients of larger norm are shortened to it; 0: never (some runs diverge then)",
          kNotNegative),
      reals_parameter(
          "sim.initial_scale",
          {0.04, 0.2, 0.2},
          "standard deviation of the starting values: a number, or one per layer of the "
          "deepest network; shallower ones take the last entries",
          kNotNegative),
      {.key = "sim.residual",
       .type = ParameterType::flag,
       .fallback = Value(true),
       .meaning = "carry each layer's input past it"},
  };
  for (Parameter& p : gibbs_pool_parameters()) all.push_back(std::move(p));
  return all;
}

DeepFactoredTraining body_training(const Configuration& c, int layers) {
  std::vector<double> scales = c.reals("sim.initial_scale");
  const auto depth = static_cast<std::size_t>(layers);
  if (scales.size() == 1) scales.resize(depth, scales.front());
  require(scales.size() >= depth,
          "sim.initial_scale",
          static_cast<double>(scales.size()),
          fmt::format("one number, or one for each of {} layers", layers));
  scales.erase(scales.begin(), scales.end() - static_cast<std::ptrdiff_t>(depth));
  const auto steps = static_cast<std::uint64_t>(c.integer("sim.steps"));
  constexpr std::uint64_t kFirstRecord = 10;
  constexpr int kRecords = 60;
  constexpr double kTail = 0.1;
  return {.shape = {.sites = c.integer("model.sites"),
                    .colours = c.integer("model.colours"),
                    .layers = layers,
                    .residual = c.flag("sim.residual")},
          .initial_scale = std::move(scales),
          .optimiser = {.kind = networks::OptimiserKind::sgd,
                        .learning_rate = c.real("sim.eta"),
                        .clip_norm = c.real("sim.clip"),
                        .schedule = {.kind = networks::Schedule::Kind::step,
                                     .start = steps - steps / 5,
                                     .factor = kTail}},
          .batch = c.integer("sim.batch"),
          .recorded = recorded_steps(kFirstRecord, steps, kRecords)};
}

Outcome train_body(const BodyProblem& problem,
                   const DeepFactoredTraining& plan,
                   const Piece& piece,
                   std::uint64_t replicate,
                   const std::function<void(const DeepFactoredRecord&)>& observe) {
  const networks::TrainingResult end = train_deep_factored(
      plan,
      [&](Index count, RandomStream& stream) { return problem.draw(count, stream); },
      problem.masked(),
      {.seed = piece.seed, .point = piece.stream_point, .replicate = replicate},
      observe,
      [&] { return piece.stop.stop_requested(); });
  Outcome outcome;
  mark_end(outcome, end);
  return outcome;
}

TheoryResult body_theory(const BodyProblem& problem) {
  TheoryResult result;
  if (!problem.exact()) {
    result.warnings.emplace_back("too many states to enumerate: no Bayes loss and no plateaus");
    return result;
  }
  const MaskedPopulation& population = problem.masked();
  result.predictions.push_back(
      {.series = {"bayes_loss", {}, "none", {0}, {population.bayes_loss()}}});
  for (int order = 1; order <= problem.model().order(); ++order) {
    // At the order of the data the best prediction is the model's own.
    const double loss = order == problem.model().order()
                            ? population.bayes_loss()
                            : order_plateau(population, problem.model().colours(), order);
    result.predictions.push_back(
        {.series = {"plateau", {{"order", static_cast<double>(order)}}, "none", {0}, {loss}}});
  }
  result.diagnostics = {{"log_partition", problem.log_partition()}};
  return result;
}

}  // namespace attica
