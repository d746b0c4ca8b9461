/// @file
/// @brief Study topics-two-stage-deep: do deep networks learn values before attention as well? With
/// Adam the answer hangs on its epsilon.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attica/sim/topics/deep.hpp"
#include "attica/sim/topics/stages.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/studies/joined_experiments.hpp"
#include "attica/studies/topics/deep_flow.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/dynamics.hpp"

namespace attica::topics_two_stage_deep {
namespace {

class Deep : public PointwiseExperiment {
 public:
  explicit Deep(const Configuration& c)
      : model_(topic_model(c)),
        epsilons_(c.reals("sweep.adam_epsilon")),
        threshold_(c.real("model.threshold")),
        training_{.shape = {},
                  .start = c.real("model.epsilon"),
                  .optimiser = {.learning_rate = c.real("sim.eta")},
                  .batch = c.integer("sim.batch"),
                  .recorded = recorded_steps<std::uint64_t>(c)} {
    const bool trained_embedding = c.text("model.embedding") == "trained";
    const auto tokens = static_cast<int>(model_.vocabulary().size());
    const auto heads = c.integer<int>("model.heads");
    const int width =
        c.has("model.width") ? c.integer<int>("model.width") : (tokens + heads - 1) / heads * heads;
    require(width % heads == 0, "model.width", width, "a multiple of model.heads");
    require(trained_embedding || width >= tokens,
            "model.width",
            width,
            "at least the number of one-hot tokens, topics x words + 1");
    if (model_.infinite()) {
      throw invalid_parameter("model.length", "infinite", "a finite length: sequences are read");
    }
    training_.shape = {.vocabulary = tokens,
                       .outputs = tokens,
                       .length = static_cast<int>(model_.settings().length->second),
                       .width = width,
                       .layers = c.integer<int>("model.layers"),
                       .heads = heads,
                       .embedding = trained_embedding ? networks::TokenEmbedding::learnt
                                                      : networks::TokenEmbedding::one_hot,
                       .position = networks::PositionCode::none,
                       .output_projection = false,
                       .residual = c.flag("model.residual"),
                       .loss = network_loss(attica::topic_loss(c))};
    networks::validate(training_.shape);
    training_.recorded.insert(training_.recorded.begin(), 0);
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override { return {}; }

  std::size_t points() const override { return epsilons_.size(); }

  const DeepTopicTraining& training() const { return training_; }

 protected:
  Outcome run(const Replicate& replicate) const override {
    DeepTopicTraining training = training_;
    training.optimiser.epsilon = epsilons_[replicate.point()];
    const Point point = {{"adam_epsilon", training.optimiser.epsilon}};
    std::vector<Curves> curves = {{point, "step", norm_names()}};
    for (int l = 1; l <= training.shape.layers; ++l) {
      curves.emplace_back(joined(point, {{"layer", static_cast<double>(l)}}),
                          "step",
                          std::vector<std::string>{"layer_norm_V", "layer_norm_K", "layer_norm_Q"});
    }
    StageClock clock(threshold_);
    const auto end = train_deep_topics(
        model_,
        training,
        replicate.address(),
        [&](std::uint64_t step, const networks::Transformer<float>& network) {
          const auto x = static_cast<double>(step);
          std::vector<double> norms;
          std::vector<std::vector<double>> of_layers(curves.size() - 1);
          for (const char* name : {"W_V", "W_K", "W_Q"}) {
            double sum = 0;
            const std::vector<double> squares = layer_squared_norms(network, name);
            for (std::size_t l = 0; l < squares.size(); ++l) {
              sum += squares[l];
              of_layers[l].push_back(std::sqrt(squares[l]));
            }
            norms.push_back(std::sqrt(sum));
          }
          // Weights that are not finite any more end the run in the next step.
          if (!std::isfinite(norms[0] + norms[1] + norms[2])) return;
          curves[0].add(x, norms);
          for (std::size_t l = 0; l < of_layers.size(); ++l) curves[l + 1].add(x, of_layers[l]);
          clock.look(x, norms[0], norms[1], norms[2]);
        },
        [&] { return replicate.stopped(); });
    Outcome outcome = recorded_run(curves, end);
    if (end.status == networks::TrainingStatus::finished) {
      // The run's length stands for "not reached".
      const auto last = static_cast<double>(training.recorded.back());
      const double level = kPlateauShare * clock.largest_value();
      add_constant(outcome, "t_V", clock.value_time(level).value_or(last), point);
      add_constant(outcome, "t_KQ", clock.attention_time().value_or(last), point);
    }
    return outcome;
  }

 private:
  TopicModel model_;
  std::vector<double> epsilons_;
  double threshold_;
  DeepTopicTraining training_;
};

/// 1e-4 and 1e-8 alike, not 0.0001 and 1e-08.
std::string shown(double epsilon) {
  double exponent = std::floor(std::log10(epsilon));
  constexpr double kRounded = 1e-9;
  if (epsilon > std::pow(10, exponent + 1) * (1 - kRounded)) exponent += 1;
  return fmt::format("{:.3g}e{:.0f}", epsilon / std::pow(10, exponent), exponent);
}

Figure figure(const Configuration& c) {
  std::vector<std::string> epsilons;
  std::vector<Panel> panels;
  Panel small{.x = {.label = "step {/:Italic n}", .scale = AxisScale::log},
              .y = {.label = "loss, small network (nats)"},
              .layers = {},
              .x_name = "step"};
  for (const double epsilon : c.reals("sweep.adam_epsilon")) {
    epsilons.push_back(shown(epsilon));
    Panel panel{.x = {.label = "step"},
                .y = {.label = "norm over layers"},
                .layers = norm_layers(),
                .x_name = "step",
                .title = "Adam, {/:Italic ε} = " + power_label(epsilon)};
    for (Layer& layer : panel.layers) layer.only = {{"adam_epsilon", epsilon}};
    panels.push_back(std::move(panel));
    Layer loss{.series = "loss", .label = "{/:Italic ε} = " + power_label(epsilon)};
    loss.only = {{"adam_epsilon", epsilon}};
    small.layers.push_back(std::move(loss));
  }
  panels.push_back(std::move(small));
  return {
      .name = "topics-two-stage-deep",
      .panels = std::move(panels),
      .columns = 1,
      .caption = fmt::format(
          "Norms over all layers of a {}-layer, {}-head transformer trained by Adam on topic "
          "documents, for Adam's epsilon of {}. Gradients of keys and queries are small at the "
          "start; Adam makes full steps of them unless its epsilon lies above them. Mean and "
          "standard error over runs. Bottom: loss of small networks that all begin at one start; "
          "lines: training theory.",
          c.integer("model.layers"),
          c.integer("model.heads"),
          fmt::join(epsilons, " and "))};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const std::vector<double> epsilons = c.reals("sweep.adam_epsilon");
  std::vector<ClaimResult> all;
  for (const double epsilon : epsilons) {
    const Point point = {{"adam_epsilon", epsilon}};
    std::vector<bool> holds = separate_stages(observed, point);
    if (holds.empty()) continue;
    // The largest epsilon is the one above the gradients; smaller ones are shown for contrast.
    const bool claimed = epsilon == *std::max_element(epsilons.begin(), epsilons.end());
    if (!claimed) holds.flip();
    all.push_back(
        claim_rate(claimed ? "two-stages" : "no-stages-" + shown(epsilon),
                   fmt::format("Adam epsilon {}: {}",
                               shown(epsilon),
                               claimed ? "t_KQ > 2 t_V" : "the stages merge, t_KQ <= 2 t_V"),
                   holds,
                   fmt::format("means t_V = {:.0f}, t_KQ = {:.0f}",
                               summarise(observed.last("t_V", point)).mean,
                               summarise(observed.last("t_KQ", point)).mean),
                   kHalf));
  }
  return all;
}

std::unique_ptr<Experiment> make_joined(Configuration& c) {
  auto large = std::make_unique<Deep>(c);
  auto small = make_deep_topic_flow(c, large->training());
  return std::make_unique<JoinedExperiments>(std::move(large), std::move(small));
}

}  // namespace

Study study() {
  return described(
      {.name = "topics-two-stage-deep", .make = make_joined, .figure = figure, .claims = claims});
}

}  // namespace attica::topics_two_stage_deep
