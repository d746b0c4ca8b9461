#include "attica/sim/init/reversal.hpp"

#include <cmath>
#include <string>

#include "attica/sim/networks/training.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica {

using Eigen::Index;
using networks::Batch;
using networks::Transformer;

namespace {

networks::TransformerShape shape_of(const ReversalTask& task) {
  const BlockNetwork& n = task.network;
  const auto whole = [](Index value) { return static_cast<int>(value); };
  return {.vocabulary = task.letters,
          .outputs = task.letters,
          .length = whole(n.context),
          .width = whole(n.dimension),
          .layers = n.blocks,
          .heads = whole(n.heads),
          .mlp_width = n.mlp ? whole(n.dimension) : 0,
          .output_projection = false,
          .normalisation = networks::Normalisation::post};
}

void start(const ReversalTask& task, Transformer<float>& network, RandomStream& stream) {
  const BlockNetwork& n = task.network;
  const auto d = static_cast<double>(n.dimension);
  const auto fill = [&](const std::string& name, double deviation) {
    for (float& entry : network.parameters().matrix(name).map().reshaped())
      entry = static_cast<float>(deviation * stream.normal());
  };
  const double own = std::sqrt((1 - n.cosine) / 2);
  fill("W_E", own);
  fill("W_P", own);
  auto positions = network.parameters().matrix("W_P").map();
  for (Index i = 0; i < n.dimension; ++i) {
    positions.col(i).array() += static_cast<float>(std::sqrt(n.cosine) * stream.normal());
  }
  const double logits = std::sqrt(n.beta * std::sqrt(std::log(static_cast<double>(n.context))) / d);
  for (int l = 0; l < n.blocks; ++l) {
    const std::string layer = "layer" + std::to_string(l) + ".";
    fill(layer + "W_Q", logits);
    fill(layer + "W_K", logits);
    fill(layer + "W_V", std::sqrt(n.value_variance / d) / n.skip);
    if (!n.mlp) continue;
    fill(layer + "W_1", std::sqrt(n.mlp_variance / d));
    fill(layer + "W_2", std::sqrt(n.mlp_variance / d) / n.mlp_skip);
  }
  constexpr double kSmall = 0.1;
  fill("W_dec", kSmall / std::sqrt(d));
}

Batch drawn(const ReversalTask& task, Index sequences, RandomStream& stream) {
  const auto length = static_cast<std::size_t>(task.network.context);
  Batch batch;
  for (Index k = 0; k < sequences; ++k) {
    const std::size_t first = batch.tokens.size();
    for (std::size_t t = 0; t < length; ++t) {
      batch.tokens.push_back(
          static_cast<std::int32_t>(stream.below(static_cast<std::uint64_t>(task.letters))));
    }
    for (std::size_t t = length; t-- > 0;) batch.targets.push_back(batch.tokens[first + t]);
  }
  networks::set_equal_lengths(batch, static_cast<int>(length));
  networks::set_all_sites(batch);
  return batch;
}

/// 1 - the mean cosine of two tokens of a sequence, rows of `stream`.
double distance_of(networks::MatrixView<const float> stream, Index length) {
  const Eigen::MatrixXd rows = stream.map().cast<double>().rowwise().normalized();
  const auto t = static_cast<double>(length);
  const Index sequences = rows.rows() / length;
  double sum = 0;
  for (Index k = 0; k < sequences; ++k) {
    const auto tokens = rows.middleRows(k * length, length);
    const Eigen::RowVectorXd centre = tokens.colwise().mean();
    sum += (tokens.rowwise() - centre).squaredNorm() / (t - 1);
  }
  return sum / static_cast<double>(sequences);
}

}  // namespace

std::optional<ReversalRecord> train_reversal(const ReversalTask& task,
                                             StreamAddress address,
                                             const std::function<bool()>& stop) {
  constexpr Index kTested = 256;
  const auto stream_of = [&](StreamId id, std::uint64_t step) {
    StreamAddress there = address;
    there.id = id;
    there.step = step;
    return RandomStream(there);
  };
  Transformer<float> network(shape_of(task));
  RandomStream initial = stream_of(StreamId::initialisation, 0);
  start(task, network, initial);
  RandomStream tests = stream_of(StreamId::test_data, 0);
  const Batch test = drawn(task, kTested, tests);
  ReversalRecord record;
  const Batch first = networks::part_of(test, 0, static_cast<std::size_t>(task.batch));
  network.forward(first);
  record.distance = distance_of(network.stream(task.network.blocks), task.network.context);
  const auto left = [&] { return network.loss(test) / std::log(task.letters); };
  networks::Optimiser<float> optimiser(network.parameters(), {.learning_rate = task.eta});
  networks::TrainingState state;
  networks::TrainingPlan plan{.recorded = {task.length / 2, task.length}};
  plan.observe = [&](const networks::TrainingRecord& at, networks::TrainingState&) {
    (at.step == task.length ? record.left : record.left_half) = left();
  };
  plan.stop = stop;
  const auto ended = networks::train<float>(
      network.parameters(), network.gradient(), optimiser, state, plan, [&](std::uint64_t step) {
        RandomStream data = stream_of(StreamId::minibatch, step);
        return network.loss_and_gradient(drawn(task, task.batch, data));
      });
  if (ended.status != networks::TrainingStatus::finished) return std::nullopt;
  return record;
}

}  // namespace attica
