#include "attica/sim/language/masked.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace attica {

using Eigen::Index;

namespace {

StreamAddress stream_of(StreamAddress address, StreamId id, std::uint64_t step) {
  address.id = id;
  address.step = step;
  return address;
}

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

/// Activations of order 1 without LayerNorm: the degrees of the polynomial start at equal size.
void initialise_factored(MaskedNetwork& network, const StreamAddress& address) {
  const double width = std::sqrt(static_cast<double>(network.shape().width));
  const double hidden = std::sqrt(static_cast<double>(network.shape().mlp_width));
  const double sites = std::sqrt(static_cast<double>(network.shape().length));
  const std::vector<std::pair<const char*, double>> scales = {{"W_E", 2 / width},
                                                              {"W_P", 0.2 / width},
                                                              {"A", 1 / sites},
                                                              {"W_V", 1 / width},
                                                              {"W_O", 1 / width},
                                                              {"W_1", 1 / width},
                                                              {"W_2", 0.3 / hidden},
                                                              {"W_dec", 0.3 / width}};
  for (const auto& [name, scale] : scales) {
    network.parameters().initialise(name, {.scale = scale}, address);
  }
}

}  // namespace

networks::TransformerShape masked_shape(const MaskedTraining& training,
                                        Index sites,
                                        Index symbols) {
  networks::TransformerShape shape{.vocabulary = static_cast<int>(symbols) + 1,
                                   .outputs = static_cast<int>(symbols),
                                   .length = static_cast<int>(sites),
                                   .width = training.width,
                                   .layers = training.layers,
                                   .heads = training.heads,
                                   .mlp_width = training.mlp_width,
                                   .normalisation = networks::Normalisation::pre};
  if (training.factored) {
    shape.attention = networks::AttentionKind::factored;
    shape.activation = networks::Activation::quadratic;
    shape.normalisation = networks::Normalisation::none;
  }
  return shape;
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

MaskedNetwork masked_network(const MaskedTraining& training,
                             Index sites,
                             Index symbols,
                             const StreamAddress& address) {
  MaskedNetwork network(masked_shape(training, sites, symbols));
  const StreamAddress start = stream_of(address, StreamId::initialisation, 0);
  if (training.factored) {
    initialise_factored(network, start);
  } else {
    initialise(network, training.deviation, start);
  }
  return network;
}

std::map<std::string, double> measured_start_scales(const MaskedTraining& training,
                                                    Eigen::Index sites,
                                                    Eigen::Index symbols,
                                                    const std::vector<std::string>& names,
                                                    StreamAddress address) {
  constexpr std::uint64_t kStarts = 16;
  std::map<std::string, double> squares;
  for (std::uint64_t k = 0; k < kStarts; ++k) {
    address.point = ~k;  // no start of a training
    const MaskedNetwork network = masked_network(training, sites, symbols, address);
    for (const std::string& name : names) {
      const std::vector<const networks::Block*> blocks = network.parameters().matching(name);
      for (const networks::Block* block : blocks) {
        squares[name] += network.parameters().matrix(block->name).map().squaredNorm() /
                         static_cast<double>(block->size() * std::ssize(blocks) * kStarts);
      }
    }
  }
  for (auto& [name, square] : squares) square = std::sqrt(square);
  return squares;
}

networks::TrainingResult train_masked(MaskedNetwork& network,
                                      const MaskedTraining& training,
                                      const WindowSource& source,
                                      const StreamAddress& address,
                                      const MaskedRecords& records,
                                      const std::function<bool()>& stop,
                                      const std::filesystem::path& file) {
  const std::uint64_t length = training.recorded.back();
  const bool sgd = training.optimiser == networks::OptimiserKind::sgd;
  networks::OptimiserOptions options{
      .kind = training.optimiser, .learning_rate = training.eta, .clip_norm = sgd ? 0.0 : 1.0};
  if (training.tail) {
    options.schedule = {
        .kind = networks::Schedule::Kind::cosine_tail,
        .start = static_cast<std::uint64_t>(training.tail_from * static_cast<double>(length)),
        .length = length};
  }
  networks::Optimiser<float> optimiser(network.parameters(), options);
  networks::Batch batch;
  return networks::train_kept<float>(
      file,
      network.parameters(),
      network.gradient(),
      optimiser,
      {.recorded = training.recorded, .stop = stop, .run = address},
      {.measure = [&](std::uint64_t step) { return records.measure(step, network); },
       .tell = records.tell},
      [&](std::uint64_t step) {
        RandomStream data(stream_of(address, StreamId::data, step));
        RandomStream masks(stream_of(address, StreamId::minibatch, step));
        const MaskedWindows masked = hide_one(source(training.batch, data), masks);
        fill(masked, 0, masked.count(), network.shape().outputs, batch);
        return network.loss_and_gradient(batch);
      });
}

Windows gibbs_windows(MaskedNetwork& network, Windows start, int sweeps, RandomStream& stream) {
  MaskedWindows masked{.windows = std::move(start), .hidden = {}};
  const auto count = static_cast<std::size_t>(masked.count());
  std::vector<std::int32_t> order(static_cast<std::size_t>(masked.windows.cols()));
  std::iota(order.begin(), order.end(), 0);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t j = order.size() - 1; j > 0; --j) {
      std::swap(order[j], order[stream.below(j + 1)]);
    }
    for (const std::int32_t i : order) {
      masked.hidden.assign(count, i);
      const Laws laws = network_laws(network, masked);
      for (Index k = 0; k < masked.count(); ++k) {
        double left = stream.uniform();
        Index a = 0;
        while (a + 1 < laws.cols() && left >= laws(k, a)) left -= laws(k, a++);
        masked.windows(k, i) = static_cast<Symbol>(a);
      }
    }
  }
  return masked.windows;
}

}  // namespace attica
