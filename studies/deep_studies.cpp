/// @file
/// @brief Studies deep-entropy, deep-stable-rank and deep-learning-rate: what theory says of one
/// layer, looked for in trained transformers.

#include <fmt/format.h>

#include <algorithm>

#include "attica/core/error.hpp"
#include "attica/studies/deep_common.hpp"
#include "attica/studies/joma_studies.hpp"

namespace attica {
namespace {

const Axis kStep{.label = "step {/:Italic n}"};

std::unique_ptr<Experiment> make_single(Configuration& c) {
  complete_deep(c);
  return std::make_unique<DeepExperiment>(c, std::vector<double>{c.real("sim.eta")}, false);
}

std::unique_ptr<Experiment> make_sweep(Configuration& c) {
  complete_deep(c);
  return std::make_unique<DeepExperiment>(c, sorted_reals(c, "sweep.eta"), true);
}

Panel loss_panel() {
  return {.x = kStep,
          .y = {.label = "validation loss (nats)"},
          .layers = {{.series = "validation_loss", .label = "network", .theory = false},
                     {.series = "unigram_loss", .label = "frequencies", .reference = true},
                     {.series = "bayes_loss", .label = "Bayes", .reference = true}},
          .x_name = {}};
}

Panel layer_panel(const std::string& series, const std::string& label) {
  return {.x = kStep,
          .y = {.label = label},
          .layers = {{.series = series, .label = "layer {layer}", .theory = false}},
          .x_name = "step"};
}

Figure entropy_figure(const Configuration&) {
  Panel entropy = layer_panel("attention_entropy", "entropy {/:Italic H} (nats)");
  entropy.x_name = {};
  entropy.layers.push_back(
      {.series = "uniform_entropy", .label = "uniform attention", .reference = true});
  return {.name = "deep-entropy",
          .panels = {entropy, loss_panel()},
          .columns = 1,
          .caption =
              "Attention entropy of a transformer during training, per layer, and its loss on "
              "held-out data. Means and standard errors over runs."};
}

Figure rank_figure(const Configuration&) {
  return {.name = "deep-stable-rank",
          .panels = {layer_panel("stable_rank", "stable rank of {/:Italic W}_1"),
                     layer_panel("embedding_cosine", "mean |cos|, {/:Italic W}_2"),
                     loss_panel()},
          .columns = 1,
          .caption =
              "Stable rank of the first MLP matrix and alignment of the columns of the second "
              "during training, per layer. Means and standard errors over runs."};
}

Figure rate_figure(const Configuration& c) {
  // A layer per rate: both panels then give it the same colour.
  Panel entropy = layer_panel("attention_entropy", "{/:Italic H}, layer 1 (nats)");
  entropy.layers.clear();
  Panel loss = loss_panel();
  loss.layers.erase(loss.layers.begin());
  std::vector<Layer> losses;
  for (const double rate : sorted_reals(c, "sweep.eta")) {
    const std::string label = "{/:Italic η} = {eta}";
    entropy.layers.push_back({.series = "attention_entropy",
                              .label = label,
                              .theory = false,
                              .only = {{"eta", rate}, {"layer", 1.0}}});
    losses.push_back(
        {.series = "validation_loss", .label = label, .theory = false, .only = {{"eta", rate}}});
  }
  loss.layers.insert(loss.layers.begin(), losses.begin(), losses.end());
  return {.name = "deep-learning-rate",
          .panels = {std::move(entropy), std::move(loss)},
          .columns = 1,
          .caption =
              "Attention entropy of the first layer and loss on held-out data for several "
              "learning rates of Adam. Means and standard errors over runs."};
}

std::vector<AgreementRule> no_curves(const Configuration&) { return {}; }

int layers_of(const Observed& observed) {
  return static_cast<int>(std::count_if(
      observed.simulation.begin(), observed.simulation.end(), [](const ObservedCurve& curve) {
        return curve.mean.name == "attention_entropy";
      }));
}

/// Where the bounce was measured: one causal layer of width 64 on text, Adam at 1e-3 to 3e-3. The
/// minimum lies at about 1/eta steps, and at 6/eta the bounce was 0.19 to 0.30 over seeds. Deeper
/// or narrower networks and trees are reported only.
bool bounce_is_known(const Configuration& c, const Observed& observed) {
  constexpr std::int64_t kWidth = 64;
  constexpr double kSlowest = 1e-3;
  constexpr double kFastest = 3e-3;
  constexpr double kEnough = 6;
  const double rate = c.real("sim.eta");
  const auto steps = c.has("sim.steps") ? joma_steps(c).back() : 2000;
  return c.has("model.file") && layers_of(observed) == 1 && c.text("model.mask") == "causal" &&
         (!c.has("model.width") || c.integer("model.width") >= kWidth) && rate >= kSlowest &&
         rate <= kFastest && rate * static_cast<double>(steps) >= kEnough;
}

std::vector<ClaimResult> entropy_claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all = {learning_claim(c, observed, {})};
  if (!bounce_is_known(c, observed)) return all;
  constexpr double kBounce = 0.15;
  std::vector<bool> holds;
  std::string found;
  for (const double b : last_values(observed, "bounce", {{"layer", 1.0}})) {
    holds.push_back(b > kBounce);
    found += fmt::format("{:.3f} ", b);
  }
  all.push_back(claim_in_every(
      "bounce", "attention entropy falls and rises again: bounce > 0.15", holds, found));
  return all;
}

std::vector<ClaimResult> rank_claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all = {learning_claim(c, observed, {})};
  for (int layer = 1; layer <= layers_of(observed); ++layer) {
    std::vector<bool> holds;
    for (const std::vector<double>& curve :
         curves_of(observed, "stable_rank", {{"layer", static_cast<double>(layer)}})) {
      holds.push_back(curve.back() < curve.front());
    }
    all.push_back(claim_in_every(fmt::format("rank-falls-{}", layer),
                                 fmt::format("training lowers the stable rank of layer {}", layer),
                                 holds,
                                 "first against last record"));
  }
  return all;
}

std::vector<ClaimResult> rate_claims(const Configuration& c, const Observed& observed) {
  // The best of the rates has learnt.
  double best_rate = 0;
  double best = 0;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "best_loss") continue;
    if (best_rate == 0 || curve.mean.y.front() < best) {
      best = curve.mean.y.front();
      best_rate = std::get<double>(curve.mean.point.front().second);
    }
  }
  ClaimResult claim = learning_claim(c, observed, {{"eta", best_rate}});
  claim.detail += fmt::format("; best learning rate {:g}", best_rate);
  return {claim};
}

std::vector<Parameter> with_rate() {
  std::vector<Parameter> all = deep_parameters();
  all.push_back(real_parameter("sim.eta", 3e-3, "learning rate of Adam", kPositive));
  return all;
}

List numbers_to(std::int64_t last, std::int64_t every) {
  List steps;
  for (std::int64_t n = 0; n <= last; n += every) steps.emplace_back(n);
  return steps;
}

Study deep_study(const std::string& name, const std::string& question) {
  return {.name = name,
          .question = question,
          .neglects = "everything beyond one layer: measured, not predicted",
          .parameters = with_rate(),
          .series = deep_series(),
          .presets = {{"quick",
                       "the defaults; with model.file: 1 layer, width 64, 2000 words, 2000 steps",
                       {}},
                      {"paper", "7000 steps", {{"sim.steps", numbers_to(7000, 100)}}}},
          .sources = {joma_source("Figs. 6-8")},
          .make = make_single,
          .figure = entropy_figure,
          .agreement = no_curves};
}

}  // namespace

Study deep_entropy() {
  Study study =
      deep_study("deep-entropy", "Does attention entropy bounce in trained transformers?");
  study.claims = entropy_claims;
  return study;
}

Study deep_stable_rank() {
  Study study = deep_study("deep-stable-rank", "Does training lower the rank of MLP weights?");
  study.figure = rank_figure;
  study.claims = rank_claims;
  return study;
}

Study deep_learning_rate() {
  Study study = deep_study("deep-learning-rate",
                           "How does the learning rate shape the entropy of attention?");
  study.parameters = deep_parameters();
  study.parameters.push_back(
      reals_parameter("sweep.eta", {3e-4, 3e-3, 1e-2}, "learning rates of Adam", kPositive));
  study.presets[1].values.emplace_back("sweep.eta", List{1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 1e-3, 1e-2});
  study.presets[1].values.emplace_back("model.layers", 5);
  study.make = make_sweep;
  study.figure = rate_figure;
  study.claims = rate_claims;
  return study;
}

}  // namespace attica
