/// Deep networks on text, trees and hierarchies: batches, learning, scores.

#include "attica/sim/joma/deep.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using Catch::Matchers::Contains;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace joma_deep_test {

/// Words follow each other in a cycle of 7, with a rare exception.
VocabularyText cyclic_text(int length) {
  std::string text;
  RandomStream stream({.seed = 4});
  int word = 0;
  for (int i = 0; i < length; ++i) {
    word = stream.uniform() < 0.05 ? static_cast<int>(stream.below(7)) : (word + 1) % 7;
    text += std::string(1, static_cast<char>('a' + word)) + ' ';
  }
  return read_words(text, 100);
}

const networks::KeptRecords kNothing{.measure = [](std::uint64_t) { return std::vector<double>(); },
                                     .tell = [](std::uint64_t, const std::vector<double>&) {}};

TEST_CASE("latent_score: reference correlations", "[sim][tree]") {
  const auto row = testing::reference_values("joma")["transformer_metrics"]["nc_table"];
  const MatrixXd latent = attica::testing::matrix(row["latent"]);
  const MatrixXd hidden = attica::testing::matrix(row["hidden"]);
  const VectorXd weights =
      VectorXd::Constant(latent.rows(), 1.0 / static_cast<double>(latent.rows()));
  CHECK(latent_score(latent, hidden, weights).score ==
        Approx(row["score"].get<double>()).epsilon(1e-12));
  MatrixXd constant = latent;
  constant.col(0).setOnes();
  CHECK(latent_score(constant, hidden, weights).excluded == 1);
  // Weights are repetitions.
  MatrixXd repeated(latent.rows() + 1, latent.cols());
  repeated << latent, latent.row(2);
  MatrixXd repeated_hidden(hidden.rows() + 1, hidden.cols());
  repeated_hidden << hidden, hidden.row(2);
  VectorXd doubled = VectorXd::Constant(latent.rows(), 1.0 / 6);
  doubled[2] *= 2;
  CHECK(latent_score(latent, hidden, doubled).score ==
        Approx(latent_score(repeated, repeated_hidden, VectorXd::Constant(6, 1.0 / 6)).score));
}

TEST_CASE("found_share: latents above all exchanged ones, 1/(n + 1) by chance", "[sim][tree]") {
  CHECK(found_share({.each = {0.9, 0.5, 0.7, 0.8}}, {.each = {0.6, 0.7, 0.1, 0.2}}) == 0.5);
  CHECK(found_share({}, {.each = {0.5}}) == 0);
  CHECK(found_share({.each = {0.5}}, {}) == 0);
  // Of the same law: a latent is the largest of n + 1.
  RandomStream stream({.seed = 1, .id = StreamId::data});
  constexpr int kDraws = 20000;
  constexpr std::size_t kLatents = 10;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    LatentScore score;
    LatentScore exchanged;
    for (std::size_t j = 0; j < kLatents; ++j) {
      score.each.push_back(stream.uniform());
      exchanged.each.push_back(stream.uniform());
    }
    sum += found_share(score, exchanged);
  }
  // Five standard errors: a share has a deviation of 0.12.
  CHECK(sum / kDraws == Approx(1.0 / 11).margin(0.0042));
}

TEST_CASE("text_task: windows, masks, and texts that are too short", "[sim][text]") {
  const VocabularyText text = cyclic_text(12000);
  const TextCut cut{.window = 8, .batch = 4};
  const DeepTask task = text_task(text, cut);
  CHECK(task.vocabulary == 8);
  CHECK(task.steps_per_epoch == (11000 / 4 - 1) / 8);
  networks::Batch batch;
  task.fill(3, {.seed = 1}, batch);
  CHECK(batch.sequences() == 4);
  CHECK(batch.sites.size() == 32);
  for (std::size_t i = 0; i + 1 < 8; ++i) CHECK(batch.targets[i] == batch.tokens[i + 1]);
  const DeepTask masked = text_task(text, {.window = 8, .batch = 4, .masked = true});
  CHECK(masked.vocabulary == 9);
  masked.fill(3, {.seed = 1}, batch);
  CHECK(batch.sites.size() < 20);
  for (const std::int32_t site : batch.sites) {
    CHECK(batch.tokens[static_cast<std::size_t>(site)] == 8);
  }
  CHECK(unigram_loss(text) == Approx(std::log(7)).epsilon(0.01));
  CHECK_THROWS_WITH(text_task(cyclic_text(100), cut), Contains("model.file"));
}

TEST_CASE("train_deep: learns a cycle of words, and next words from both sides", "[sim][text]") {
  const VocabularyText text = cyclic_text(12000);
  for (const bool masked : {false, true}) {
    const DeepTask task = text_task(text, {.window = 8, .batch = 8, .masked = masked});
    const DeepNetwork options{
        .text = true, .width = 16, .mlp_width = 16, .causal = !masked, .eta = 1e-2};
    const StreamAddress run{.seed = 2};
    auto network = deep_network(options, task, run);
    const DeepRecord before = measure_deep(network, task, 0);
    CHECK(before.test_loss == Approx(std::log(8)).epsilon(0.1));
    const double uniform = masked ? std::log(8) : std::lgamma(9) / 8;
    CHECK(before.attention_entropy.front() == Approx(uniform).epsilon(0.05));
    const auto end = train_deep(network, options, task, {200}, run, kNothing);
    CHECK(end.status == networks::TrainingStatus::finished);
    // From both sides more slowly: its sites are few.
    CHECK(measure_deep(network, task, 200).test_loss < (masked ? std::log(7.1) : 0.6));
  }
}

TEST_CASE("hierarchy_task: weighted distinct sequences are the batch", "[sim][tree]") {
  RandomStream stream({.seed = 1, .id = StreamId::model});
  const LatentHierarchy hierarchy({.tokens = 30, .length = 12, .units = {6, 8}, .classes = 5},
                                  stream);
  const DeepTask task = hierarchy_task(hierarchy, 64);
  networks::Batch batch;
  task.fill(0, {.seed = 1}, batch);
  double total = 0;
  for (const double w : batch.weights) total += w;
  CHECK(total == Approx(1));
  const DeepNetwork options{.layers = 2, .width = 16, .mlp_width = 24, .eta = 3e-3};
  auto network = deep_network(options, task, {.seed = 1});
  const auto pooled = pooled_hidden(network, task).at(1);
  CHECK(pooled.rows() == 5);
  const auto hidden = network.hidden(1).map();
  CHECK(pooled(0, 3) == static_cast<double>(hidden.col(3).head(task.length).maxCoeff()));
  const auto end = train_deep(network, options, task, {150}, {.seed = 1}, kNothing);
  CHECK(end.step == 150);
  CHECK(measure_deep(network, task, 150).accuracy == 1);
}

TEST_CASE("tree_task: leaves become ascending tokens behind padding", "[sim][tree]") {
  const LatentTreeSampler sampler(bit_tree(3, 4, 0.9, 0.1, 0.9));
  RandomStream stream({.seed = 1});
  const DeepTask task = tree_task(sampler, 5, tree_samples(sampler, 20, stream));
  CHECK(task.vocabulary == 9);
  CHECK(task.outputs == 4);
  networks::Batch batch;
  task.fill(7, {.seed = 3}, batch);
  CHECK(std::accumulate(batch.weights.begin(), batch.weights.end(), 0.0) == Approx(1));
  CHECK(batch.tokens.size() == 8 * batch.weights.size());
  for (std::size_t s = 0; s < batch.weights.size(); ++s) {
    bool started = false;
    for (std::size_t t = 0; t + 1 < 8; ++t) {
      const auto here = batch.tokens[8 * s + t];
      const auto next = batch.tokens[8 * s + t + 1];
      started = started || here < 8;
      if (started) CHECK(next > here);
    }
    CHECK(batch.sites[s] == static_cast<std::int32_t>(8 * s + 7));
  }
}

TEST_CASE("tree_task: sequences that repeat add to a weight", "[sim][tree]") {
  const LatentTreeSampler sampler(bit_tree(2, 4, 0.7, 0.1, 0.9));
  constexpr int kSamples = 300;
  RandomStream stream({.seed = 2, .id = StreamId::data, .step = 3});
  const std::vector<TreeSample> samples = tree_samples(sampler, kSamples, stream);
  const DeepTask task = tree_task(sampler, kSamples, samples);
  networks::Batch once;
  task.fill(3, {.seed = 2}, once);
  CHECK(once.sequences() <= 64);
  CHECK(once.weights == task.test.front().weights);  // the same draws

  networks::Batch each;
  for (const TreeSample& sample : samples) {
    std::vector<std::int32_t> active;
    for (std::int32_t l = 0; l < 4; ++l) {
      if (sample.leaves[static_cast<std::size_t>(l)] == 1) active.push_back(l);
    }
    each.tokens.insert(each.tokens.end(), 4 - active.size(), 4);
    each.tokens.insert(each.tokens.end(), active.begin(), active.end());
    each.sites.push_back(static_cast<std::int32_t>(each.tokens.size()) - 1);
    each.targets.push_back(sample.label);
  }
  networks::set_equal_lengths(each, 4);
  networks::Transformer<float> network =
      deep_network({.width = 6, .mlp_width = 6}, task, {.seed = 3});
  const double loss = network.loss_and_gradient(each);
  const std::vector<float> gradient(network.gradient().begin(), network.gradient().end());
  CHECK(network.loss_and_gradient(once) == Approx(loss).epsilon(1e-6));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    CHECK(network.gradient()[i] == Approx(gradient[i]).margin(1e-6));
  }
  DeepTask unweighted = task;
  unweighted.test = {each};
  const DeepRecord merged = measure_deep(network, task, 0);
  const DeepRecord apart = measure_deep(network, unweighted, 0);
  CHECK(merged.test_loss == Approx(apart.test_loss).epsilon(1e-6));
  CHECK(merged.accuracy == Approx(apart.accuracy).epsilon(1e-12));
}

TEST_CASE("mean_start: the mean of starts, others for another replicate", "[sim][deep]") {
  const LatentTreeSampler sampler(bit_tree(3, 4, 0.9, 0.1, 0.9));
  RandomStream stream({.seed = 1});
  const DeepTask task = tree_task(sampler, 1, tree_samples(sampler, 6, stream));
  const DeepNetwork options{.layers = 2, .width = 8, .mlp_width = 8};
  const DeepRecord mean = mean_start(options, task, {.seed = 4, .replicate = 1}, 2);
  double loss = 0;
  double entropy = 0;
  double rank = 0;
  for (const std::uint64_t start : {2, 3}) {
    auto network = deep_network(options, task, {.seed = 4, .replicate = start});
    const DeepRecord one = measure_deep(network, task, 0);
    loss += one.test_loss / 2;
    entropy += one.attention_entropy.at(1) / 2;
    rank += one.stable_rank.at(1) / 2;
  }
  CHECK(mean.test_loss == Approx(loss).epsilon(1e-12));
  CHECK(mean.attention_entropy.at(1) == Approx(entropy).epsilon(1e-12));
  CHECK(mean.stable_rank.at(1) == Approx(rank).epsilon(1e-12));
  const DeepRecord other = mean_start(options, task, {.seed = 4, .replicate = 0}, 2);
  CHECK(other.test_loss != mean.test_loss);
}

TEST_CASE("bounce_statistic: smooth minimum after the start", "[sim][deep]") {
  const std::vector<double> curve = {2, 1, 1, 1, 1, 1, 1.5, 1.5, 1.5, 1.5, 1.5};
  CHECK(bounce_statistic(curve) == Approx(0.5));
  CHECK(bounce_statistic({2, 1.8, 1.6, 1.4, 1.2, 1.0, 0.8}) == Approx(0));
  CHECK(bounce_statistic({1, 2, 2, 2, 2, 2, 2}) == 0);  // never falls
  CHECK(bounce_statistic({}) == 0);
  CHECK(fall_statistic(curve) == Approx(1));
  CHECK(fall_statistic({2, 1.8, 1.6, 1.4, 1.2, 1.0, 0.8}) == Approx(0.8));  // mean of 1.6 .. 0.8
  CHECK(fall_statistic({1, 2, 2, 2, 2, 2, 2}) == Approx(-1));
  CHECK(fall_statistic({}) == 0);
}

}  // namespace joma_deep_test
