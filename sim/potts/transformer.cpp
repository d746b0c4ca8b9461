#include "attica/sim/potts/transformer.hpp"

#include <cmath>
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

/// Appends a sequence with `masked` hidden.
void append(
    networks::Batch& batch, const std::uint8_t* sequence, Index sites, Index masked, int mask) {
  batch.sites.push_back(static_cast<std::int32_t>(batch.tokens.size()) +
                        static_cast<std::int32_t>(masked));
  batch.targets.push_back(sequence[masked]);
  for (Index j = 0; j < sites; ++j) batch.tokens.push_back(j == masked ? mask : sequence[j]);
}

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

/// Every site of every test sequence masked in turn. Sequences that differ in the masked site alone
/// are one to the network.
class MaskedTest {
 public:
  MaskedTest(const ExcessLoss& test, int mask)
      : test_(test), sites_(test.population().sequences.cols()) {
    const Sequences& sequences = test.population().sequences;
    std::unordered_map<std::string, Index> seen;
    for (Index row = 0; row < sequences.rows(); ++row) {
      for (Index i = 0; i < sites_; ++i) {
        std::string shown(sequences.row(row).data(), sequences.row(row).data() + sites_);
        shown[static_cast<std::size_t>(i)] = static_cast<char>(mask);
        const auto [at, first] = seen.emplace(std::move(shown), std::ssize(seen));
        if (first) append(batch_, sequences.row(row).data(), sites_, i, mask);
        contexts_.push_back(at->second);
      }
    }
    networks::set_equal_lengths(batch_, static_cast<int>(sites_));
  }

  double divergence(Network& network) const {
    const networks::RowMatrix<float> all = network.logits(batch_);
    return test_([&](Index row, Eigen::MatrixXd& logits) {
      logits.resize(all.cols(), sites_);
      for (Index i = 0; i < sites_; ++i) {
        const Index context = contexts_[static_cast<std::size_t>(row * sites_ + i)];
        logits.col(i) = all.row(context).cast<double>();
      }
    });
  }

 private:
  const ExcessLoss& test_;
  Index sites_;
  networks::Batch batch_;
  std::vector<Index> contexts_;  ///< of every site of every sequence
};

}  // namespace

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
    const ExcessLoss& test,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, double excess)>& observe,
    const std::function<bool()>& stop,
    const std::filesystem::path& file) {
  require(plan.batch >= 1, "batch", static_cast<double>(plan.batch), "at least 1");
  Network network(plan.shape);
  const int mask = plan.shape.outputs;
  const Index sites = plan.shape.length;
  StreamAddress initial = address;
  initial.id = StreamId::initialisation;
  initialise(network, plan.deviation, initial);
  networks::Optimiser<float> optimiser(network.parameters(), plan.optimiser);
  const networks::TrainingPlan loop{.recorded = plan.recorded, .stop = stop, .run = address};
  const MaskedTest masked_test(test, mask);
  const networks::KeptRecords records{
      .measure = [&](std::uint64_t) { return std::vector{masked_test.divergence(network)}; },
      .tell = [&](std::uint64_t step,
                  const std::vector<double>& values) { observe(step, values.front()); }};
  networks::Batch batch;
  const auto loss_and_gradient = [&](std::uint64_t step) {
    RandomStream data = stream_of(address, StreamId::data, step);
    const Sequences sequences = source(plan.batch, data);
    batch.tokens.clear();
    batch.sites.clear();
    batch.targets.clear();
    const std::vector<Index> masked = masked_sites(plan, address, step);
    for (Index b = 0; b < plan.batch; ++b) {
      append(batch, sequences.row(b).data(), sites, masked[static_cast<std::size_t>(b)], mask);
    }
    networks::set_equal_lengths(batch, static_cast<int>(sites));
    return network.loss_and_gradient(batch);
  };
  return networks::train_kept<float>(
      file, network.parameters(), network.gradient(), optimiser, loop, records, loss_and_gradient);
}

}  // namespace attica
