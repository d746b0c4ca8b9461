/// @file
/// @brief Study deep-stable-rank: does training lower the rank of MLP weights, and does it return?

#include <fmt/format.h>

#include <algorithm>

#include "attica/studies/joma/deep.hpp"

namespace attica::deep_stable_rank {
namespace {

Figure figure(const Configuration&) {
  return deep_figure("deep-stable-rank",
                     {layer_panel("stable_rank", "stable rank of {/:Italic W}_1"),
                      layer_panel("embedding_cosine", "mean |cos|, {/:Italic W}_2"),
                      loss_panel()},
                     "Stable rank of the first MLP matrix and alignment of the columns of the "
                     "second during training, per layer. Means and standard errors over runs.");
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all = learning_claims(c, observed);
  for (int layer = 1; layer <= layers_of(observed); ++layer) {
    const Point point = {{"layer", static_cast<double>(layer)}};
    std::vector<bool> holds;
    for (const std::vector<double>& path : observed.paths("stable_rank", point)) {
      holds.push_back(path.back() < path.front());
    }
    std::string found = "first against last record";
    if (const std::vector<double> bounces = observed.last("rank_bounce", point); !bounces.empty()) {
      const auto [least, most] = std::ranges::minmax(bounces);
      found += fmt::format("; of the fall comes back {:.3f} to {:.3f}", least, most);
    }
    all.push_back(claim_rate(fmt::format("rank-falls-{}", layer),
                             fmt::format("training lowers the stable rank of layer {}", layer),
                             holds,
                             found,
                             kHalf));
  }
  return all;
}

}  // namespace

Study study() {
  Study study = deep_study("deep-stable-rank",
                           "Does training lower the rank of MLP weights, and does it return?",
                           {real_parameter("sim.eta", 3e-3, "learning rate of Adam", kPositive)});
  // The rank falls in most runs, not in all: of 16 enough do, of 8 one that does not decides
  // nothing.
  constexpr std::int64_t kRuns = 16;
  std::ranges::find(study.parameters, "sim.replicates", &Parameter::key)->fallback = kRuns;
  study.figure = figure;
  study.claims = claims;
  study.diagnostic = {
      "attention_entropy", "accuracy", "best_loss", "bounce", "rank_bounce", "uniform_entropy"};
  study.recipes = {
      {.name = "deep-stable-rank-psalms",
       .meaning = "Sixty psalms: training lowers the rank of the weights, whose start is that of "
                  "the theory.",
       .values = {{"model.file", "psalms.txt"},
                  {"model.tokens", 500},
                  {"model.width", 32},
                  {"sim.steps", List{0, 100, 200}},
                  {"sim.replicates", 8},
                  {"sim.starts", 256}},
       .expected = Verdict::agree}};
  return study;
}

}  // namespace attica::deep_stable_rank
