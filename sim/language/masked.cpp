#include "attica/sim/language/masked.hpp"

#include <algorithm>
#include <cmath>

namespace attica {

using Eigen::Index;

namespace {

/// The windows first..last as shown to the network; token C is the mask.
void fill(const MaskedWindows& masked, Index first, Index last, int mask, networks::Batch& batch) {
  batch.tokens.clear();
  batch.sites.clear();
  batch.targets.clear();
  for (Index k = first; k < last; ++k) {
    const Index hidden = masked.hidden[static_cast<std::size_t>(k)];
    const auto row = static_cast<std::int32_t>(batch.tokens.size());
    batch.sites.push_back(row + static_cast<std::int32_t>(hidden));
    batch.targets.push_back(masked.windows(k, hidden));
    for (Index j = 0; j < masked.windows.cols(); ++j) {
      batch.tokens.push_back(j == hidden ? mask : masked.windows(k, j));
    }
  }
  networks::set_equal_lengths(batch, static_cast<int>(masked.windows.cols()));
}

void initialise(MaskedNetwork& network, double deviation, const StreamAddress& address) {
  const double outputs = deviation / std::sqrt(2.0 * network.shape().layers);
  for (const char* name : {"W_E", "W_P", "W_Q", "W_K", "W_V", "W_1", "W_dec"}) {
    network.parameters().initialise(name, {.scale = deviation}, address);
  }
  for (const char* name : {"W_O", "W_2"}) {
    network.parameters().initialise(name, {.scale = outputs}, address);
  }
}

}  // namespace

networks::TransformerShape masked_shape(const MaskedTraining& training,
                                        Index sites,
                                        Index symbols) {
  return {.vocabulary = static_cast<int>(symbols) + 1,
          .outputs = static_cast<int>(symbols),
          .length = static_cast<int>(sites),
          .width = training.width,
          .layers = training.layers,
          .heads = training.heads,
          .mlp_width = training.mlp_width,
          .normalisation = networks::Normalisation::pre};
}

Laws network_laws(MaskedNetwork& network, const MaskedWindows& masked) {
  constexpr Index kBatch = 256;
  Laws laws(masked.count(), network.shape().outputs);
  networks::Batch batch;
  for (Index first = 0; first < masked.count(); first += kBatch) {
    const Index last = std::min(masked.count(), first + kBatch);
    fill(masked, first, last, network.shape().outputs, batch);
    const Laws logits = network.forward(batch).map().template cast<double>();
    for (Index k = first; k < last; ++k) {
      const auto row = logits.row(k - first).array();
      laws.row(k) = (row - row.maxCoeff()).exp();
      laws.row(k) /= laws.row(k).sum();
    }
  }
  return laws;
}

networks::TrainingResult train_masked(
    const MaskedTraining& training,
    Index sites,
    Index symbols,
    const WindowSource& source,
    const StreamAddress& address,
    const std::function<void(std::uint64_t, MaskedNetwork&)>& observe,
    const std::function<bool()>& stop) {
  const auto stream_of = [&](StreamId id, std::uint64_t step) {
    StreamAddress own = address;
    own.id = id;
    own.step = step;
    return own;
  };
  MaskedNetwork network(masked_shape(training, sites, symbols));
  initialise(network, training.deviation, stream_of(StreamId::initialisation, 0));
  constexpr double kTail = 0.4;
  const std::uint64_t length = training.recorded.back();
  networks::OptimiserOptions options{.learning_rate = training.eta, .clip_norm = 1};
  if (training.tail) {
    options.schedule = {.kind = networks::Schedule::Kind::cosine_tail,
                        .start = static_cast<std::uint64_t>(kTail * static_cast<double>(length)),
                        .length = length};
  }
  networks::Optimiser<float> optimiser(network.parameters(), options);
  networks::TrainingState state;
  networks::TrainingPlan plan{.recorded = training.recorded};
  plan.observe = [&](const networks::TrainingRecord& record, networks::TrainingState&) {
    observe(record.step, network);
  };
  plan.stop = stop;
  networks::Batch batch;
  const auto step = [&](std::uint64_t n) {
    RandomStream data(stream_of(StreamId::data, n));
    RandomStream masks(stream_of(StreamId::minibatch, n));
    const MaskedWindows masked = hide_one(source(training.batch, data), masks);
    fill(masked, 0, masked.count(), network.shape().outputs, batch);
    return network.loss_and_gradient(batch);
  };
  return networks::train<float>(
      network.parameters(), network.gradient(), optimiser, state, plan, step);
}

}  // namespace attica
