/// @file
/// @brief Study topics-two-stage-deep: do deep networks learn values before attention as well? With
/// Adam the answer hangs on its epsilon.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/sim/networks/training.hpp"
#include "attica/sim/networks/transformer.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"

namespace attica {
namespace {

using Network = networks::Transformer<float>;

/// Norm of a kind of matrix over all layers.
double norm_of(const Network& network, const char* name) {
  double sum = 0;
  for (const networks::Block* block : network.parameters().matching(name)) {
    const auto m = network.parameters().matrix(block->name).map();
    sum += m.cast<double>().squaredNorm();
  }
  return std::sqrt(sum);
}

class Deep : public TopicExperiment {
 public:
  explicit Deep(const Configuration& c)
      : model_(topic_model(c)),
        steps_(recorded_steps(c)),
        epsilons_(c.reals("sweep.adam_epsilon")),
        start_(c.real("model.epsilon")),
        threshold_(c.real("model.threshold")),
        batch_(c.integer("sim.batch")),
        eta_(c.real("sim.eta")),
        trained_embedding_(c.text("model.embedding") == "trained") {
    const auto tokens = static_cast<int>(model_.vocabulary().size());
    const auto heads = static_cast<int>(c.integer("model.heads"));
    const int width = c.has("model.width") ? static_cast<int>(c.integer("model.width"))
                                           : (tokens + heads - 1) / heads * heads;
    require(width % heads == 0, "model.width", width, "a multiple of model.heads");
    require(trained_embedding_ || width >= tokens,
            "model.width",
            width,
            "at least the number of one-hot tokens, topics x words + 1");
    if (model_.infinite()) {
      throw invalid_parameter("model.length", "infinite", "a finite length: sequences are read");
    }
    shape_ = {.vocabulary = tokens,
              .outputs = tokens,
              .length = static_cast<int>(model_.settings().length->second),
              .width = width,
              .layers = static_cast<int>(c.integer("model.layers")),
              .heads = heads,
              .embedding = trained_embedding_ ? networks::TokenEmbedding::learnt
                                              : networks::TokenEmbedding::one_hot,
              .position = networks::PositionCode::none,
              .output_projection = false,
              .residual = c.flag("model.residual"),
              .loss = network_loss(attica::topic_loss(c))};
    networks::validate(shape_);
    steps_.insert(steps_.begin(), 0);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (grid == TheoryGrid::requested) {
      throw Error(ErrorKind::input,
                  "topics-two-stage-deep has no theory, only claims: use attica run");
    }
    return {};
  }

  std::size_t points() const override { return epsilons_.size(); }

 protected:
  Outcome run(const Piece& piece, std::uint64_t replicate) const override {
    const double epsilon = epsilons_[piece.point];
    const Point point = {{"adam_epsilon", epsilon}};
    Network network(shape_);
    StreamAddress initial = step_address(piece, replicate, 0);
    initial.id = StreamId::initialisation;
    using Law = networks::InitialValues::Law;
    for (const char* name : {"W_V", "W_K", "W_Q", "W_dec"}) {
      network.parameters().initialise(name, {.law = Law::normal, .scale = start_}, initial);
    }
    if (trained_embedding_) {
      network.parameters().initialise(
          "W_E", {.law = Law::normal, .scale = 1, .per_input = true}, initial);
    }
    networks::Optimiser<float> optimiser(network.parameters(),
                                         {.learning_rate = eta_, .epsilon = epsilon});
    TopicCurves curves({"norm_V", "norm_K", "norm_Q"}, point, "step");
    std::vector<TopicCurves> layers;
    for (int l = 1; l <= shape_.layers; ++l) {
      layers.emplace_back(std::vector<std::string>{"layer_norm_V", "layer_norm_K", "layer_norm_Q"},
                          Point{{"adam_epsilon", epsilon}, {"layer", static_cast<double>(l)}},
                          "step");
    }
    std::vector<double> value;
    std::vector<double> attention;
    networks::TrainingState state;
    networks::TrainingPlan plan{.recorded = steps_};
    plan.observe = [&](const networks::TrainingRecord& record, networks::TrainingState&) {
      const double v = norm_of(network, "W_V");
      const double k = norm_of(network, "W_K");
      const double q = norm_of(network, "W_Q");
      curves.record(static_cast<double>(record.step), {v, k, q});
      for (std::size_t l = 0; l < layers.size(); ++l) {
        const auto of = [&](const char* name) {
          return network.parameters()
              .matrix("layer" + std::to_string(l) + "." + name)
              .map()
              .cast<double>()
              .norm();
        };
        layers[l].record(static_cast<double>(record.step), {of("W_V"), of("W_K"), of("W_Q")});
      }
      value.push_back(v);
      attention.push_back(std::hypot(k, q));
    };
    plan.stop = [&] { return piece.stop.stop_requested(); };
    const TopicSampler sampler(model_);
    TopicDocument document;
    networks::Batch batch;
    const auto end = networks::train<float>(
        network.parameters(), network.gradient(), optimiser, state, plan, [&](std::uint64_t step) {
          RandomStream stream(step_address(piece, replicate, step));
          batch = {};
          for (Eigen::Index b = 0; b < batch_; ++b) {
            sampler.draw(stream, document);
            append(document, 1 / static_cast<double>(batch_), batch);
          }
          return network.loss_and_gradient(batch);
        });
    Outcome outcome;
    curves.append_to(outcome);
    for (const TopicCurves& layer : layers) layer.append_to(outcome);
    if (!value.empty()) {
      const double plateau = *std::max_element(value.begin(), value.end());
      stage(outcome, "t_V", point, value, kPlateauShare * plateau);
      stage(outcome, "t_KQ", point, attention, threshold_ * attention.front());
    }
    mark_end(outcome, end);
    return outcome;
  }

 private:
  /// The first recorded step that reaches a level; the run's length stands for "not reached".
  void stage(Outcome& outcome,
             const char* name,
             const Point& point,
             const std::vector<double>& norms,
             double level) const {
    std::size_t k = 0;
    while (k + 1 < norms.size() && norms[k] < level) ++k;
    outcome.series.push_back({name, point, "none", {0}, {static_cast<double>(steps_[k])}});
  }

  TopicModel model_;
  std::vector<std::uint64_t> steps_;
  std::vector<double> epsilons_;
  double start_;
  double threshold_;
  Eigen::Index batch_;
  double eta_;
  bool trained_embedding_;
  networks::TransformerShape shape_;
};

/// 1e-4 and 1e-8 alike, not 0.0001 and 1e-08.
std::string shown(double epsilon) {
  double exponent = std::floor(std::log10(epsilon));
  constexpr double kRounded = 1e-9;
  if (epsilon > std::pow(10, exponent + 1) * (1 - kRounded)) exponent += 1;
  return fmt::format("{:.3g}e{:.0f}", epsilon / std::pow(10, exponent), exponent);
}

Figure figure(const Configuration& c) {
  Figure figure{.name = "topics-two-stage-deep",
                .panels = {},
                .columns = 1,
                .caption = fmt::format(
                    "Norms over all layers of a {}-layer, {}-head transformer trained by Adam on "
                    "topic documents, for Adam's epsilon of {}. Gradients of keys and queries are "
                    "small at the start; Adam makes full steps of them unless its epsilon lies "
                    "above them. Mean and standard error over runs.",
                    c.integer("model.layers"),
                    c.integer("model.heads"),
                    [&] {
                      std::string all;
                      for (const double e : c.reals("sweep.adam_epsilon")) {
                        all += (all.empty() ? "" : " and ") + shown(e);
                      }
                      return all;
                    }())};
  for (const double epsilon : c.reals("sweep.adam_epsilon")) {
    Panel panel{.x = {.label = "step"},
                .y = {.label = "norm over layers"},
                .layers = {{.series = "norm_V", .label = "{/:Italic W}_V"},
                           {.series = "norm_K", .label = "{/:Italic W}_K"},
                           {.series = "norm_Q", .label = "{/:Italic W}_Q"}},
                .x_name = "step",
                .title = "Adam, {/:Italic ε} = " + shown(epsilon)};
    for (Layer& layer : panel.layers) layer.only = {{"adam_epsilon", epsilon}};
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<double> epsilons = c.reals("sweep.adam_epsilon");
  const auto values = [&](const char* name, double epsilon) {
    for (const ObservedCurve& curve : observed.simulation) {
      if (curve.mean.name == name && curve.mean.point == Point{{"adam_epsilon", epsilon}} &&
          !curve.values.empty()) {
        return curve.values.front();
      }
    }
    return std::vector<double>{};
  };
  std::vector<ClaimResult> all;
  for (const double epsilon : epsilons) {
    const std::vector<double> value = values("t_V", epsilon);
    const std::vector<double> attention = values("t_KQ", epsilon);
    if (value.empty()) continue;
    std::size_t separate = 0;
    for (std::size_t k = 0; k < value.size(); ++k) separate += attention[k] > 2 * value[k] ? 1 : 0;
    // The largest epsilon is the one above the gradients; smaller ones are shown for contrast.
    const bool claimed = epsilon == *std::max_element(epsilons.begin(), epsilons.end());
    const std::string found = fmt::format("in {} of {} runs; means t_V = {:.0f}, t_KQ = {:.0f}",
                                          separate,
                                          value.size(),
                                          summarise(value).mean,
                                          summarise(attention).mean);
    if (claimed) {
      all.push_back({"two-stages",
                     fmt::format("Adam epsilon {}: t_KQ > 2 t_V in every run", shown(epsilon)),
                     separate == value.size() ? Verdict::agree : Verdict::disagree,
                     found});
    } else {
      all.push_back({"no-stages-" + shown(epsilon),
                     fmt::format("Adam epsilon {}: the stages merge, t_KQ <= 2 t_V in most runs",
                                 shown(epsilon)),
                     2 * separate < value.size() ? Verdict::agree : Verdict::disagree,
                     found});
    }
  }
  return all;
}

List every(std::int64_t step, std::int64_t last) {
  List steps;
  for (std::int64_t n = step; n <= last; n += step) steps.emplace_back(n);
  return steps;
}

}  // namespace

Study topics_two_stage_deep() {
  constexpr double kStart = 0.02;
  constexpr double kThreshold = 1.5;
  constexpr double kEta = 3e-3;
  std::vector<Parameter> all = topic_parameters(
      {.topics = 4, .words = 3, .length = 32, .epsilon = kStart, .threshold = kThreshold});
  for (Parameter& p : all) {
    if (p.key == "model.loss") p.fallback = Value("cross_entropy");
    if (p.key == "model.prior") p.fallback = Value("dirichlet");
  }
  const std::vector<Parameter> own = {
      integer_parameter("model.layers", 4, "layers"),
      integer_parameter("model.heads", 4, "heads of each layer"),
      {.key = "model.width",
       .type = ParameterType::integer,
       .fallback = std::nullopt,
       .meaning = "width, a multiple of heads; unset: the smallest that holds one-hot tokens",
       .range = {.low = 1, .high = 4096}},
      word_parameter("model.embedding",
                     "one_hot",
                     "tokens: one-hot, or a trained W_E from N(0, 1/width)",
                     {"one_hot", "trained"}),
      {.key = "model.residual",
       .type = ParameterType::flag,
       .fallback = Value(true),
       .meaning = "whether layers add to their input"},
      reals_parameter("sweep.adam_epsilon",
                      {1e-4, 1e-8},
                      "Adam's epsilon; two stages are claimed of the largest",
                      kPositive),
      steps_parameter(every(5, 600), 1),
      real_parameter("sim.eta", kEta, "learning rate of Adam", {.low = 0, .low_open = true}),
      integer_parameter("sim.batch", 16, "fresh documents per step"),
      replicates_parameter(3, "independent runs")};
  all.insert(all.end(), own.begin(), own.end());
  std::vector<SeriesInfo> series = topic_series({"norm_V", "norm_K", "norm_Q"});
  for (const char* m : {"V", "K", "Q"}) {
    series.push_back({std::string("layer_norm_") + m, "", "Frobenius norm in each layer"});
  }
  series.push_back({"t_V", "t_V", "first step with 0.9 of the largest |W_V| of the run"});
  series.push_back({"t_KQ", "t_KQ", "first step at which |(W_K, W_Q)| has grown by the threshold"});
  return {.name = "topics-two-stage-deep",
          .question = "Do deep networks learn values before attention as well?",
          .neglects = "there is no theory: claims only",
          .parameters = std::move(all),
          .series = std::move(series),
          .presets = {{"quick", "the defaults: 4 layers, 4 heads, T = 4, v = 3", {}},
                      {"paper",
                       "T = v = 10",
                       {{"model.topics", 10},
                        {"model.words_per_topic", 10},
                        {"sweep.adam_epsilon", List{1e-6, 1e-8}},
                        {"sim.eta", 1e-3},
                        {"sim.steps", every(5, 800)},
                        {"sim.replicates", 4}}}},
          .sources = {topic_source("two stages in deep networks")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<Deep>(c);
          },
          .figure = figure,
          .agreement = [](const Configuration&) { return std::vector<AgreementRule>{}; },
          .claims = claims};
}

}  // namespace attica
