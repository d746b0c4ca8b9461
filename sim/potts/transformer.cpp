#include "attica/sim/potts/transformer.hpp"

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica {

using Eigen::Index;

namespace {

using Network = networks::Transformer<float>;

void initialise(Network& network, double deviation, const StreamAddress& address) {
  using Law = networks::InitialValues::Law;
  const double output_scale = deviation / std::sqrt(2.0 * network.shape().layers);
  const auto has = [&](const char* part) {
    for (const networks::Block& block : network.parameters().blocks()) {
      if (block.name == std::string("layer0.") + part) return true;
    }
    return false;
  };
  const bool positions = network.shape().position == networks::PositionCode::learnt;
  for (const char* name : {"W_E", "W_P", "W_dec"}) {
    if (!positions && name == std::string_view("W_P")) continue;
    network.parameters().initialise(name, {.law = Law::normal, .scale = deviation}, address);
  }
  for (const char* name : {"W_Q", "W_K", "W_V", "W_1"}) {
    if (!has(name)) continue;
    network.parameters().initialise(name, {.law = Law::normal, .scale = deviation}, address);
  }
  for (const char* name : {"W_O", "W_2"}) {
    if (!has(name)) continue;
    network.parameters().initialise(name, {.law = Law::normal, .scale = output_scale}, address);
  }
}

RandomStream stream_of(const StreamAddress& run, StreamId id, std::uint64_t step) {
  StreamAddress own = run;
  own.id = id;
  own.step = step;
  return RandomStream(own);
}

}  // namespace

networks::Transformer<float> initial_transformer(const TransformerTraining& plan,
                                                 const StreamAddress& address) {
  Network network(plan.shape);
  StreamAddress initial = plan.start.value_or(address);
  initial.id = StreamId::initialisation;
  initialise(network, plan.deviation, initial);
  return network;
}

MaskedInputs::MaskedInputs(const WeightedSequences& population, int mask)
    : sites_(population.sequences.cols()) {
  const Sequences& sequences = population.sequences;
  const double total = population.weights.sum() * static_cast<double>(sites_);
  std::unordered_map<std::string, Index> seen;
  std::map<std::pair<Index, int>, std::int32_t> samples;  // by input and colour
  std::vector<double> shares;
  for (Index row = 0; row < sequences.rows(); ++row) {
    for (Index i = 0; i < sites_; ++i) {
      std::string shown(sequences.row(row).data(), sequences.row(row).data() + sites_);
      shown[static_cast<std::size_t>(i)] = static_cast<char>(mask);
      const auto [at, first] = seen.emplace(std::move(shown), std::ssize(seen));
      const Index input = at->second;
      if (first) {
        append_masked(batch_, sequences.row(row).data(), sites_, i, mask);
        shares.push_back(0);
      }
      inputs_.push_back(input);
      const double share = population.weights[row] / total;
      if (share == 0) continue;
      shares[static_cast<std::size_t>(input)] += share;
      const int colour = sequences(row, i);
      const auto [sample, is_new] =
          samples.emplace(std::pair(input, colour), static_cast<std::int32_t>(samples.size()));
      if (is_new) {
        terms_.push_back(
            {.site = static_cast<std::int32_t>(input), .target = colour, .sample = sample->second});
        probabilities_.push_back(0);
      }
      probabilities_[static_cast<std::size_t>(sample->second)] += share;
    }
  }
  networks::set_equal_lengths(batch_, static_cast<int>(sites_));
  shares_ = Eigen::Map<const Eigen::VectorXd>(shares.data(), std::ssize(shares));
}

std::unique_ptr<networks::TransformerPopulation<double>> MaskedInputs::population(
    const networks::TransformerShape& shape) const {
  return std::make_unique<networks::TransformerPopulation<double>>(
      networks::Transformer<double>(shape),
      batch_,
      terms_,
      Eigen::Map<const Eigen::VectorXd>(probabilities_.data(), std::ssize(probabilities_)));
}

template <class T>
Eigen::VectorXd MaskedInputs::attention(networks::Transformer<T>& network, Index query) const {
  network.forward(batch_);
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(sites_);
  double total = 0;
  for (Index k = 0; k < shares_.size(); ++k) {
    const auto place = static_cast<std::size_t>(k);
    if (batch_.sites[place] - batch_.offsets[place] != query) continue;
    const networks::MatrixView<const T> weights = network.attention(0, 0, place);
    mean += shares_[k] * weights.map().row(0).transpose().template cast<double>();
    total += shares_[k];
  }
  return mean / total;
}

template Eigen::VectorXd MaskedInputs::attention(networks::Transformer<float>&, Index) const;
template Eigen::VectorXd MaskedInputs::attention(networks::Transformer<double>&, Index) const;

double MaskedTest::divergence(Network& network) const {
  const networks::RowMatrix<float> all = network.logits(inputs_.batch());
  return test_([&](Index row, Eigen::MatrixXd& logits) {
    const Index sites = network.shape().length;
    logits.resize(all.cols(), sites);
    for (Index i = 0; i < sites; ++i) {
      logits.col(i) = all.row(inputs_.input(row, i)).cast<double>();
    }
  });
}

void append_masked(
    networks::Batch& batch, const std::uint8_t* sequence, Index sites, Index masked, int mask) {
  batch.sites.push_back(static_cast<std::int32_t>(batch.tokens.size()) +
                        static_cast<std::int32_t>(masked));
  batch.targets.push_back(sequence[masked]);
  for (Index j = 0; j < sites; ++j) batch.tokens.push_back(j == masked ? mask : sequence[j]);
}

networks::TransformerShape masked_transformer(Index sites, Index colours, int layers, int width) {
  return {.vocabulary = static_cast<int>(colours) + 1,
          .outputs = static_cast<int>(colours),
          .length = static_cast<int>(sites),
          .width = width,
          .layers = layers};
}

std::vector<Index> masked_sites(const TransformerTraining& plan,
                                const StreamAddress& address,
                                std::uint64_t step) {
  const Index sites = plan.shape.length;
  RandomStream masks = stream_of(address, StreamId::minibatch, step);
  std::vector<Index> masked;
  for (Index b = 0; b < plan.batch; ++b) {
    masked.push_back(static_cast<Index>(masks.below(static_cast<std::uint64_t>(sites))));
  }
  return masked;
}

networks::TrainingResult train_transformer(
    const TransformerTraining& plan,
    const SequenceSource& source,
    const NetworkMeasure& measure,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, const std::vector<double>& values)>& observe,
    const std::function<bool()>& stop,
    const std::filesystem::path& file) {
  require(plan.batch >= 1, "batch", static_cast<double>(plan.batch), "at least 1");
  const int mask = plan.shape.outputs;
  const Index sites = plan.shape.length;
  Network network = initial_transformer(plan, address);
  networks::Optimiser<float> optimiser(network.parameters(), plan.optimiser);
  const networks::TrainingPlan loop{.recorded = plan.recorded, .stop = stop, .run = address};
  const networks::KeptRecords records{.measure = [&](std::uint64_t) { return measure(network); },
                                      .tell = observe};
  networks::Batch batch;
  const auto loss_and_gradient = [&](std::uint64_t step) {
    RandomStream data = stream_of(address, StreamId::data, step);
    const Sequences sequences = source(plan.batch, data);
    batch.tokens.clear();
    batch.sites.clear();
    batch.targets.clear();
    const std::vector<Index> masked = masked_sites(plan, address, step);
    for (Index b = 0; b < plan.batch; ++b) {
      append_masked(
          batch, sequences.row(b).data(), sites, masked[static_cast<std::size_t>(b)], mask);
    }
    networks::set_equal_lengths(batch, static_cast<int>(sites));
    return network.loss_and_gradient(batch);
  };
  return networks::train_kept<float>(
      file, network.parameters(), network.gradient(), optimiser, loop, records, loss_and_gradient);
}

networks::TrainingResult train_transformer(
    const TransformerTraining& plan,
    const SequenceSource& source,
    const ExcessLoss& test,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, double excess)>& observe,
    const std::function<bool()>& stop,
    const std::filesystem::path& file) {
  const MaskedTest masked_test(test, plan.shape.outputs);
  return train_transformer(
      plan,
      source,
      [&](Network& network) { return std::vector{masked_test.divergence(network)}; },
      address,
      [&](std::uint64_t step, const std::vector<double>& values) { observe(step, values.front()); },
      stop,
      file);
}

}  // namespace attica
