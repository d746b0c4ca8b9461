/// @file
/// @brief Study bigrams-transformer: a whole transformer layer on sparse contextual bigrams, with
/// and without LayerNorm, by Adam and by SGD, against the exact entropy of the next token.

#include "attica/sim/bigrams/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "attica/studies/bigrams/model.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/bigrams/estimators.hpp"

namespace attica::bigrams_transformer {
namespace {

/// A way to train, as the coordinate `network`.
struct Variant {
  const char* name;
  const char* label;
  networks::OptimiserKind optimiser;
  bool layer_norm;
};
constexpr std::array<Variant, 4> kVariants = {{
    {"adam", "Adam", networks::OptimiserKind::adam, false},
    {"adam_norm", "Adam, LayerNorm", networks::OptimiserKind::adam, true},
    {"sgd", "SGD", networks::OptimiserKind::sgd, false},
    {"sgd_norm", "SGD, LayerNorm", networks::OptimiserKind::sgd, true},
}};
const std::vector<std::string> kNames = {
    "loss", "excess_log_loss", "support_attention", "sampled_excess"};

constexpr double kAttends = 0.7;  // share of attention that is claimed

Point point_of(const Variant& variant) { return {{"network", variant.name}}; }

class TransformerLayer : public PointwiseExperiment {
 public:
  explicit TransformerLayer(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::none)),
        eta_adam_(c.real("sim.eta_adam")),
        task_{.width = static_cast<int>(c.integer("sim.width")),
              .mlp_width = static_cast<int>(c.integer("sim.mlp_width")),
              .heads = static_cast<int>(c.integer("sim.heads")),
              .batch = c.integer("sim.batch"),
              .steps = recorded_steps<std::uint64_t>(c),
              .test_sequences = c.integer("sim.test_sequences")} {
    require_sequences(c, "\"none\": networks see sequences");
    require(task_.width % task_.heads == 0,
            "sim.heads",
            task_.heads,
            fmt::format("a divisor of sim.width = {}", task_.width));
    constexpr double kMostCases = 1e7;
    require(enumerated_cases(setup_.model) <= kMostCases,
            "model.sparsity",
            static_cast<double>(setup_.model.sparsity()),
            fmt::format("sum of N^(Q+1) over last tokens <= {:g}", kMostCases));
    diagnostics_ = setup_.diagnostics;
    diagnostics_.emplace_back("bayes_loss", bayes_log_loss(setup_.model));
    diagnostics_.emplace_back("unigram_loss", unigram_log_loss(setup_.model));
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    add_constant(result, "bayes_loss", bayes_log_loss(setup_.model));
    add_constant(result, "unigram_loss", unigram_log_loss(setup_.model));
    return result;
  }

  std::size_t points() const override { return kVariants.size(); }

  void require_simulable() const override {
    constexpr double kBytes = 4.0 * 12;  // of the stream, its projections and gradients
    const double widest = std::max(task_.width, task_.mlp_width);
    const auto sequences = static_cast<double>(
        std::max(task_.batch, std::min<std::int64_t>(task_.test_sequences, kBigramTestPiece)));
    require(kBytes * widest * (setup_.context() + 1) * sequences <= kBigramMemory,
            "model.context",
            setup_.context(),
            fmt::format("activations of at most {:.0f} MB", kBigramMemory / 1e6));
  }

 protected:
  double flops(std::size_t) const override {
    const auto rows = static_cast<double>(task_.batch) * (setup_.context() + 1);
    const double weights = 4.0 * task_.width * task_.width;
    return 6 * rows * weights * static_cast<double>(task_.steps.back());
  }

  Outcome run(const Replicate& replicate) const override {
    const Variant& variant = kVariants[replicate.point()];
    const bool adam = variant.optimiser == networks::OptimiserKind::adam;
    BigramTransformerTask task = task_;
    task.layer_norm = variant.layer_norm;
    task.optimiser = {.kind = variant.optimiser,
                      .learning_rate = adam ? eta_adam_ : setup_.rates.eta_v};
    Curves curves(point_of(variant), "step", kNames);
    double bayes = 0;
    double unigram = 0;
    Outcome outcome;
    const networks::TrainingResult end = train_bigram_transformer(
        setup_.model,
        task,
        replicate.address(),
        replicate.state_file(),
        replicate.piece.stop,
        [&](const BigramTransformerRecord& r) {
          curves.add(static_cast<double>(r.step),
                     {r.loss, r.excess_loss, r.overlap, r.loss - r.bayes_loss});
          bayes = r.bayes_loss;
          unigram = r.unigram_loss;
        });
    curves.into(outcome);
    // Of test sequences alone: one of the four points tells it.
    if (replicate.point() == 0) {
      add_constant(outcome, "bayes_loss", bayes);
      add_constant(outcome, "unigram_loss", unigram);
    }
    mark_end(outcome, end);
    return outcome;
  }

 private:
  BigramSetup setup_;
  double eta_adam_;
  BigramTransformerTask task_;
};

Figure figure(const Configuration&) {
  const auto panel = [](const char* series, const char* label, AxisScale scale) {
    Panel p{.x = {.label = "step"},
            .y = {.label = label, .scale = scale},
            .layers = {},
            .x_name = "step"};
    for (const Variant& v : kVariants) {
      p.layers.push_back({.series = series, .label = v.label, .only = point_of(v)});
    }
    return p;
  };
  Panel loss = panel("loss", "cross-entropy (nats)", AxisScale::linear);
  loss.layers.push_back(
      {.series = "unigram_loss", .label = "frequencies", .simulation = false, .reference = true});
  loss.layers.push_back(
      {.series = "bayes_loss", .label = "entropy", .simulation = false, .reference = true});
  return {.name = "bigrams-transformer",
          .panels = {loss,
                     panel("excess_log_loss", "divergence (nats)", AxisScale::log),
                     panel("support_attention", "attention at true positions", AxisScale::linear)},
          .columns = 1,
          .caption =
              "One transformer layer with softmax attention and MLP on sequences, means and "
              "standard errors over runs. Dashed: entropies of the tokens' frequencies and of "
              "the next token given the sequence."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  // A mean over thousands of test sequences: normal.
  return rules({"bayes_loss", "unigram_loss"},
               {.series = {}, .relative = 0.01, .tails = Tails::normal});
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  const double floor = observed.predicted("bayes_loss").value_or(0);
  const double frequencies = observed.predicted("unigram_loss").value_or(0);
  const double near = c.real("sim.near");
  for (const Variant& v : kVariants) {
    const auto claim = [&](const char* what,
                           const std::string& statement,
                           const char* series,
                           const std::function<bool(double)>& holds) {
      std::vector<bool> runs;
      for (const double value : observed.last(series, point_of(v))) runs.push_back(holds(value));
      all.push_back(claim_rate(fmt::format("{}-{}", what, v.name),
                               fmt::format("{} {}", v.label, statement),
                               runs,
                               {},
                               kHalf));
    };
    claim("above-floor",
          "ends above the cross-entropy of the true law on the same tokens",
          "sampled_excess",
          [](double excess) { return excess > 0; });
    claim("near-floor",
          fmt::format("ends within {:g} of what there is to learn above the entropy", near),
          "excess_log_loss",
          [&](double excess) { return excess < near * (frequencies - floor); });
    claim("support",
          fmt::format("ends with {:g} of a head's attention at the true positions", kAttends),
          "support_attention",
          [](double share) { return share > kAttends; });
  }
  return all;
}

}  // namespace

Study study() {
  const Range width{.low = 1, .high = 4096};
  return {
      .name = "bigrams-transformer",
      .question = "Does a whole transformer layer learn what the linear one is asked to?",
      .neglects = "there is no theory of its training: the entropy bounds what any network reaches",
      .parameters = together(
          {bigram_parameters({.context = 10,
                              .eta = 0.3,
                              .batch = 64,
                              .steps = {0, 100, 200, 400, 700, 1000, 1500},
                              .replicates = 12,
                              .law = {.instance = "cyclic",
                                      .weights = "random",
                                      .contrast = 1.5,
                                      .p_diagonal = 0.8}}),
           {real_parameter(
                "sim.eta_adam", 0.003, "learning rate of Adam; sim.eta is SGD's", kPositive),
            integer_parameter("sim.width", 16, "D, width of the network", width),
            integer_parameter("sim.mlp_width", 32, "hidden units of the MLP", width),
            integer_parameter("sim.heads", 1, "heads; they divide the width", width),
            integer_parameter("sim.test_sequences", 10000, "fresh sequences to test on", kCount),
            real_parameter("sim.near",
                           0.15,
                           "what counts as near the floor: a share of the difference of the "
                           "entropies of frequencies and of the next token",
                           {.low = 0, .high = 1, .low_open = true})}}),
      .series =
          {{"loss", "", "cross-entropy on fresh sequences, nats"},
           {"excess_log_loss",
            "KL",
            "divergence of the network's law of the next token from the true one, mean over fresh "
            "sequences"},
           {"support_attention",
            "",
            "share of the last token's attention at the true positions, of the head with most "
            "there"},
           {"sampled_excess",
            "",
            "cross-entropy minus that of the true law, both of the tokens that follow the test "
            "sequences"},
           {"bayes_loss", "", "entropy of the next token; of a run, cross-entropy of the true law"},
           {"unigram_loss",
            "",
            "entropy of the tokens' frequencies; of a run, their cross-entropy"}},
      .presets = {{"quick", "the defaults: N = 3 unequal tokens, T = 10, width 16", {}},
                  {"paper",
                   "N = 5, T = 50, width 64, two heads",
                   {{"model.tokens", 5},
                    {"model.context", 50},
                    {"sim.width", 64},
                    {"sim.mlp_width", 128},
                    {"sim.heads", 2},
                    {"sim.eta", 0.1},
                    {"sim.steps", List{0, 500, 1000, 2000, 5000, 10000, 20000}}}}},
      .sources = {cited("ren2024learning", "the task")},
      .make = make<TransformerLayer>,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
      .plants = {{.name = "law",
                  .values = {{"model.p_diagonal", 0.78}},
                  .meaning = "a law 2 % less sure"},
                 {.name = "factor",
                  .series = "bayes_loss",
                  .factor = 1.02,
                  .meaning = "an entropy times 1.02"}},
      .renamed = {{"sim.adam_rate", "sim.eta_adam"}}};
}

}  // namespace attica::bigrams_transformer
