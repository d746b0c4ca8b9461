/// @file
/// @brief Study deep-entropy: does the entropy of attention bounce in trained transformers?

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attica/sim/joma/deep.hpp"
#include "attica/studies/joma/deep.hpp"

namespace attica::deep_entropy {
namespace {

Figure figure(const Configuration&) {
  Panel entropy = layer_panel("attention_entropy", "entropy {/:Italic H} (nats)");
  entropy.x_name = {};
  entropy.layers.push_back(
      {.series = "uniform_entropy", .label = "uniform attention", .reference = true});
  return deep_figure("deep-entropy",
                     {entropy, loss_panel()},
                     "Attention entropy of a transformer during training, per layer, and its loss "
                     "on held-out data. Means and standard errors over runs.");
}

/// Where the bounce was measured: one causal layer of width 64 on text, Adam at 1e-3 to 3e-3. The
/// minimum lies at about 1/eta steps, and at 6/eta the bounce was 0.19 to 0.30 over seeds. Deeper
/// or narrower networks and trees are reported only.
bool bounce_is_known(const Configuration& c, const Observed& observed) {
  constexpr std::int64_t kWidth = 64;
  constexpr double kSlowest = 1e-3;
  constexpr double kFastest = 3e-3;
  constexpr double kEnough = 6;
  const double eta = c.real("sim.eta");
  const auto steps = c.has("sim.steps") ? recorded_steps(c).back() : 2000;
  return c.has("model.file") && layers_of(observed) == 1 && c.text("model.mask") == "causal" &&
         (!c.has("model.width") || c.integer("model.width") >= kWidth) && eta >= kSlowest &&
         eta <= kFastest && eta * static_cast<double>(steps) >= kEnough;
}

/// Where entropy was measured on trees: a causal mask, one or two layers of width 32 or more, Adam
/// at 1e-3 to 1e-2 for at least 1.2/eta steps.
bool fall_is_known(const Configuration& c, const Observed& observed) {
  constexpr std::int64_t kWidth = 32;
  constexpr int kLayers = 2;
  constexpr double kDecay = 1e-4;
  constexpr double kSlowest = 1e-3;
  constexpr double kFastest = 1e-2;
  constexpr double kEnough = 1.2 * (1 - 1e-9);
  const double eta = c.real("sim.eta");
  const auto steps = c.has("sim.steps") ? recorded_steps(c).back() : 400;
  const int layers = layers_of(observed);
  return !c.has("model.file") && layers >= 1 && layers <= kLayers &&
         c.text("model.mask") == "causal" &&
         (!c.has("model.width") || c.integer("model.width") >= kWidth) &&
         (!c.has("sim.lambda") || c.real("sim.lambda") <= kDecay) && eta >= kSlowest &&
         eta <= kFastest && eta * static_cast<double>(steps) >= kEnough;
}

/// That entropy falls in every layer, by more than it moves where there is nothing to learn; with
/// one layer also that it returns: with two, or with several heads, too little of it does to tell
/// that from weight decay.
std::vector<ClaimResult> tree_claims(const Configuration& c, const Observed& observed) {
  constexpr double kFall = 0.035;  // nats; with two layers -0.003 to 0.028 where rho = 0
  const int layers = layers_of(observed);
  std::vector<double> least;  // fall of the layer that falls least, a run each
  for (int l = 0; l < layers; ++l) {
    const Point layer = {{"layer", numbered(static_cast<std::size_t>(l))}};
    const auto paths = observed.paths("attention_entropy", layer);
    least.resize(paths.size(), std::numeric_limits<double>::infinity());
    for (std::size_t r = 0; r < paths.size(); ++r) {
      least[r] = std::min(least[r], fall_statistic(paths[r]));
    }
  }
  const auto rate = [](const char* name, const char* statement, auto holds, const auto& values) {
    std::vector<bool> all;
    std::string found;
    for (std::size_t r = 0; r < values.size(); ++r) {
      all.push_back(holds(r));
      found += fmt::format("{:.3f} ", values[r]);
    }
    return claim_rate(name, statement, all, found, kHalf);
  };
  std::vector<ClaimResult> all = {rate(
      "fall",
      "attention entropy falls by more than 0.035 nats in every layer",
      [&](std::size_t r) { return least[r] > kFall; },
      least)};
  if (layers > 1 || c.integer("model.heads") > 1) return all;
  constexpr double kBounce = 0.3;
  const std::vector<double> bounces = observed.last("bounce", {{"layer", 1.0}});
  all.push_back(rate(
      "bounce",
      "of a fall of more than 0.035 nats 0.3 and more return",
      [&](std::size_t r) { return r < least.size() && least[r] > kFall && bounces[r] > kBounce; },
      bounces));
  return all;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all = learning_claims(c, observed);
  if (fall_is_known(c, observed)) {
    for (ClaimResult& claim : tree_claims(c, observed)) all.push_back(std::move(claim));
  }
  if (!bounce_is_known(c, observed)) return all;
  constexpr double kBounce = 0.15;
  std::vector<bool> holds;
  std::string found;
  for (const double b : observed.last("bounce", {{"layer", 1.0}})) {
    holds.push_back(b > kBounce);
    found += fmt::format("{:.3f} ", b);
  }
  all.push_back(claim_rate(
      "bounce", "attention entropy falls and rises again: bounce > 0.15", holds, found, kHalf));
  return all;
}

}  // namespace

Study study() {
  Study study = deep_study("deep-entropy",
                           "Does attention entropy bounce in trained transformers?",
                           {real_parameter("sim.eta", 3e-3, "learning rate of Adam", kPositive)});
  study.figure = figure;
  study.claims = claims;
  study.diagnostic = {
      "accuracy", "best_loss", "bounce", "embedding_cosine", "rank_bounce", "stable_rank"};
  study.recipes = {
      {.name = "deep-entropy-one-layer",
       .meaning = "One layer on the tree: the entropy of its attention falls, and most "
                  "of the fall comes back.",
       .values = {{"model.layers", 1}},
       .expected = Verdict::agree},
      {.name = "deep-entropy-no-signal",
       .meaning = "Leaves that tell nothing of the class: entropy hardly falls, and what "
                  "moves it is weight decay.",
       .values = {{"model.rho", 0.0}}},
      {.name = "deep-entropy-psalms",
       .meaning = "Sixty psalms: hidden words are predicted better than by their "
                  "frequencies, and the start is that of the theory.",
       .values = {{"model.file", "psalms.txt"},
                  {"model.mask", "bidirectional"},
                  {"model.tokens", 1000},
                  {"model.width", 32},
                  {"sim.steps", List{0, 100, 200}},
                  {"sim.starts", 512}},
       .expected = Verdict::agree},
      {.name = "deep-entropy-bible",
       .meaning = "The King James Bible, its 200 most frequent words: the same.",
       .values = {{"model.file", "kjv.txt"},
                  {"model.mask", "bidirectional"},
                  {"model.tokens", 200},
                  {"model.width", 32},
                  {"sim.steps", List{0, 150, 300}},
                  {"sim.starts", 2048}},
       .expected = Verdict::agree,
       .fetched = true}};
  return study;
}

}  // namespace attica::deep_entropy
