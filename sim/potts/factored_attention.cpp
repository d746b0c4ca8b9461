#include "attica/sim/potts/factored_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "attica/sim/networks/chunks.hpp"
#include "attica/sim/networks/gemm.hpp"
#include "attica/sim/networks/layers.hpp"

namespace attica {

using Eigen::Index;
using networks::Into;
using networks::MatrixView;

namespace {

/// Numbers in the matrix of seen values of a chunk: it should stay in the cache with two others.
constexpr Index kChunkNumbers = 8192;

void require_batch(const Sequences& batch, Index sites) {
  if (batch.rows() < 1 || batch.cols() != sites) {
    throw invalid_parameter("batch", static_cast<double>(batch.rows()), "sequences of L sites");
  }
}

}  // namespace

template <class T>
FactoredNetwork<T>::FactoredNetwork(Index sites, Index colours)
    : sites_(sites),
      colours_(colours),
      parameters_({{.name = "A", .rows = sites, .columns = sites},
                   {.name = "V", .rows = colours, .columns = colours}}) {
  require(sites >= 2, "sites", static_cast<double>(sites), "at least 2");
  require(colours >= 2, "colours", static_cast<double>(colours), "at least 2");
  gradient_.setZero(static_cast<Index>(parameters_.values().size()));
}

template <class T>
void FactoredNetwork<T>::set(const FactoredAttention& values) {
  parameters_.matrix("A").map() = values.attention.template cast<T>();
  parameters_.matrix("V").map() = values.values.transpose().template cast<T>();
}

template <class T>
FactoredAttention FactoredNetwork<T>::values() const {
  return {parameters_.matrix("A").map().template cast<double>(),
          parameters_.matrix("V").map().transpose().template cast<double>()};
}

template <class T>
double FactoredNetwork<T>::loss_and_gradient(const Sequences& batch) {
  const auto count = static_cast<double>(batch.rows());
  return all_sites(batch, Eigen::VectorXd::Constant(batch.rows(), 1 / count));
}

template <class T>
double FactoredNetwork<T>::loss_and_gradient(const WeightedSequences& batch) {
  return all_sites(batch.sequences, batch.weights);
}

template <class T>
double FactoredNetwork<T>::all_sites(const Sequences& batch, const Eigen::VectorXd& weights) {
  require_batch(batch, sites_);
  gradient_.setZero();
  const Index chunk = std::max<Index>(1, kChunkNumbers / (sites_ * colours_));
  double loss = 0;
  for (Index first = 0; first < batch.rows(); first += chunk) {
    const Index count = std::min(chunk, batch.rows() - first);
    weights_.resize(static_cast<std::size_t>(sites_ * count));
    Eigen::Map<Eigen::MatrixXd>(weights_.data(), count, sites_).colwise() =
        weights.segment(first, count) / static_cast<double>(sites_);
    loss += add_chunk(batch, first, count);
  }
  for (Index i = 0; i < sites_; ++i) gradient_[i * (sites_ + 1)] = 0;
  return loss;
}

template <class T>
double FactoredNetwork<T>::add_chunk(const Sequences& batch, Index first, Index count) {
  const Index width = count * colours_;
  const MatrixView<T> a = parameters_.matrix("A");
  const MatrixView<T> v = parameters_.matrix("V");
  const MatrixView<T> da{gradient_.data(), sites_, sites_, sites_};
  const MatrixView<T> dv{gradient_.data() + sites_ * sites_, colours_, colours_, colours_};
  const MatrixView<T> seen = seen_.matrix(sites_, width);
  const MatrixView<T> logits = logits_.matrix(sites_, width);
  const MatrixView<T> upstream = upstream_.matrix(sites_, width);
  targets_.resize(static_cast<std::size_t>(sites_ * count));
  for (Index b = 0; b < count; ++b) {
    const std::uint8_t* s = batch.row(first + b).data();
    for (Index j = 0; j < sites_; ++j) {
      targets_[static_cast<std::size_t>(j * count + b)] = s[j];
      networks::copy_row<T>(colours_, v.row(s[j]), seen.row(j) + b * colours_);
    }
  }
  multiply<T>(networks::plain(a), networks::plain(seen), sites_, logits, Into::overwrite);
  // Row i of the logits holds the chunk's C logits one behind the other: L * count rows of C.
  const double loss =
      networks::loss_backward<T>(networks::Loss::cross_entropy,
                                 MatrixView<T>{logits.data, sites_ * count, colours_, colours_},
                                 targets_,
                                 weights_);
  multiply<T>(networks::plain(logits), networks::transposed(seen), width, da, Into::add);
  multiply<T>(networks::transposed(a), networks::plain(logits), sites_, upstream, Into::overwrite);
  for (Index j = 0; j < sites_; ++j) {
    for (Index b = 0; b < count; ++b) {
      networks::add_row<T>(colours_, upstream.row(j) + b * colours_, dv.row(batch(first + b, j)));
    }
  }
  return loss;
}

template <class T>
double FactoredNetwork<T>::loss_and_gradient(const Sequences& batch,
                                             std::span<const std::int32_t> masked) {
  require_batch(batch, sites_);
  if (masked.size() != static_cast<std::size_t>(batch.rows())) {
    throw invalid_parameter(
        "masked", static_cast<double>(masked.size()), "one masked site per sequence");
  }
  gradient_.setZero();
  const MatrixView<T> a = parameters_.matrix("A");
  const MatrixView<T> v = parameters_.matrix("V");
  const MatrixView<T> da{gradient_.data(), sites_, sites_, sites_};
  const MatrixView<T> dv{gradient_.data() + sites_ * sites_, colours_, colours_, colours_};
  const MatrixView<T> by_colour = by_colour_.matrix(colours_, colours_);  // row = predicted colour
  by_colour.map() = v.map().transpose();
  const MatrixView<T> logits = logits_.matrix(batch.rows(), colours_);
  targets_.resize(masked.size());
  for (Index b = 0; b < batch.rows(); ++b) {
    const std::uint8_t* s = batch.row(b).data();
    const Index i = masked[static_cast<std::size_t>(b)];
    targets_[static_cast<std::size_t>(b)] = s[i];
    const T* weights = a.row(i);  // its own entry is 0
    networks::for_chunks(colours_, [&](auto width, Index c) {
      Eigen::Array<T, decltype(width)::value, 1> even, odd;  // two sums hide the latency of adding
      even.setZero();
      odd.setZero();
      Index j = 0;
      for (; j + 1 < sites_; j += 2) {
        even += weights[j] * networks::chunk(width, v.row(s[j]) + c);
        odd += weights[j + 1] * networks::chunk(width, v.row(s[j + 1]) + c);
      }
      if (j < sites_) even += weights[j] * networks::chunk(width, v.row(s[j]) + c);
      networks::chunk(width, logits.row(b) + c) = even + odd;
    });
  }
  weights_.assign(masked.size(), 1.0 / static_cast<double>(batch.rows()));
  const double loss =
      networks::loss_backward<T>(networks::Loss::cross_entropy, logits, targets_, weights_);
  Eigen::Array<T, Eigen::Dynamic, 1> pull(colours_);  // sum_a g_a V[a, c] for every seen colour c
  for (Index b = 0; b < batch.rows(); ++b) {
    const std::uint8_t* s = batch.row(b).data();
    const Index i = masked[static_cast<std::size_t>(b)];
    const T* g = logits.row(b);
    const T* weights = a.row(i);
    networks::for_chunks(colours_, [&](auto width, Index c) {
      Eigen::Array<T, decltype(width)::value, 1> sum;
      sum.setZero();
      for (Index k = 0; k < colours_; ++k) {
        sum += g[k] * networks::chunk(width, by_colour.row(k) + c);
      }
      networks::chunk(width, pull.data() + c) = sum;
    });
    T* gradient = da.row(i);
    for (Index j = 0; j < sites_; ++j) gradient[j] += pull[s[j]];
    networks::for_chunks(colours_, [&](auto width, Index c) {
      const auto own = networks::chunk(width, g + c);
      for (Index j = 0; j < sites_; ++j) {
        networks::chunk(width, dv.row(s[j]) + c) += weights[j] * own;
      }
    });
  }
  for (Index i = 0; i < sites_; ++i) gradient_[i * (sites_ + 1)] = 0;
  return loss;
}

template class FactoredNetwork<float>;
template class FactoredNetwork<double>;

namespace {

using Observe = std::function<void(std::uint64_t step, const FactoredAttention&)>;

RandomStream stream_of_step(StreamAddress address, StreamId id, std::uint64_t step) {
  address.id = id;
  address.step = step;
  return RandomStream(address);
}

/// @param loss_and_gradient of a step's batch, called with the network and the step
template <class LossAndGradient>
networks::TrainingResult train_with(const FactoredAttention& start,
                                    const FactoredTraining& plan,
                                    const Observe& observe,
                                    const StreamAddress& address,
                                    const std::function<bool()>& stop,
                                    const std::filesystem::path& file,
                                    const LossAndGradient& loss_and_gradient) {
  require(plan.batch >= 1, "batch", static_cast<double>(plan.batch), "at least 1");
  FactoredNetwork<float> network(start.sites(), start.colours());
  network.set(start);
  networks::Optimiser<float> optimiser(network.parameters(), plan.optimiser);
  const networks::TrainingPlan loop{.recorded = plan.recorded, .stop = stop, .run = address};
  const networks::KeptRecords records{
      .measure =
          [&](std::uint64_t) {
            const FactoredAttention now = network.values();
            std::vector<double> values(now.attention.reshaped().begin(),
                                       now.attention.reshaped().end());
            values.insert(values.end(), now.values.reshaped().begin(), now.values.reshaped().end());
            return values;
          },
      .tell =
          [&](std::uint64_t step, const std::vector<double>& values) {
            FactoredAttention then = start;
            const auto couplings = static_cast<std::size_t>(then.attention.size());
            std::copy_n(values.begin(), couplings, then.attention.reshaped().begin());
            std::copy(values.begin() + static_cast<std::ptrdiff_t>(couplings),
                      values.end(),
                      then.values.reshaped().begin());
            observe(step, then);
          }};
  return networks::train_kept<float>(
      file,
      network.parameters(),
      network.gradient(),
      optimiser,
      loop,
      records,
      [&](std::uint64_t step) { return loss_and_gradient(network, step); });
}

}  // namespace

networks::TrainingResult train_factored(const FactoredAttention& start,
                                        const FactoredTraining& plan,
                                        const SequenceSource& source,
                                        const StreamAddress& address,
                                        const Observe& observe,
                                        const std::function<bool()>& stop,
                                        const std::filesystem::path& file) {
  std::vector<std::int32_t> masked;
  return train_with(
      start,
      plan,
      observe,
      address,
      stop,
      file,
      [&](FactoredNetwork<float>& network, std::uint64_t step) {
        RandomStream data = stream_of_step(address, StreamId::data, step);
        const Sequences batch = source(plan.batch, data);
        if (plan.masked == MaskedSites::all) return network.loss_and_gradient(batch);
        RandomStream masks = stream_of_step(address, StreamId::minibatch, step);
        masked.resize(static_cast<std::size_t>(plan.batch));
        for (std::int32_t& site : masked) {
          site = static_cast<std::int32_t>(masks.below(static_cast<std::uint64_t>(start.sites())));
        }
        return network.loss_and_gradient(batch, masked);
      });
}

networks::TrainingResult train_factored(const FactoredAttention& start,
                                        const FactoredTraining& plan,
                                        const StateSource& source,
                                        const StreamAddress& address,
                                        const Observe& observe,
                                        const std::function<bool()>& stop,
                                        const std::filesystem::path& file) {
  if (plan.masked != MaskedSites::all) {
    throw invalid_parameter("masked", "one", "all sites where states are counted");
  }
  return train_with(start,
                    plan,
                    observe,
                    address,
                    stop,
                    file,
                    [&](FactoredNetwork<float>& network, std::uint64_t step) {
                      RandomStream data = stream_of_step(address, StreamId::data, step);
                      return network.loss_and_gradient(source(plan.batch, data));
                    });
}

ChosenStart choose_start(Index sites,
                         Index colours,
                         const FactoredStarts& starts,
                         const FactoredTraining& plan,
                         const SequenceSource& source,
                         const StreamAddress& address,
                         const std::function<bool()>& stop) {
  require(starts.count >= 1, "starts", starts.count, "at least 1");
  StreamAddress own = address;
  own.id = StreamId::initialisation;
  RandomStream initial(own);
  if (starts.count == 1) return {random_student(sites, colours, starts.deviation, initial)};
  own.id = StreamId::selection;
  RandomStream selection(own);
  constexpr Index kSequences = 1024;
  const WeightedSequences compared = equally_weighted(source(kSequences, selection));
  FactoredTraining trial = plan;
  trial.recorded = {starts.trial_steps};
  ChosenStart best;
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (int k = 0; k < starts.count; ++k) {
    FactoredAttention start = random_student(sites, colours, starts.deviation, initial);
    FactoredAttention reached = start;
    const auto reach = [&](std::uint64_t, const FactoredAttention& student) { reached = student; };
    (void)train_factored(start, trial, source, address, reach, stop);
    const double loss = factored_loss(reached, compared);
    highest = std::max(highest, loss);
    if (loss < lowest || k == 0) {
      lowest = loss;
      best.start = std::move(start);
    }
  }
  best.spread = highest - lowest;
  return best;
}

FactoredAttention random_student(Index sites,
                                 Index colours,
                                 double deviation,
                                 RandomStream& stream) {
  FactoredAttention s{
      Eigen::MatrixXd::NullaryExpr(sites, sites, [&] { return deviation * stream.normal(); }),
      Eigen::MatrixXd::NullaryExpr(colours, colours, [&] { return deviation * stream.normal(); })};
  s.attention.diagonal().setZero();
  return s;
}

FactoredAttention wave_student(Index sites, Index colours, double scale) {
  FactoredAttention s{
      Eigen::MatrixXd::NullaryExpr(
          sites,
          sites,
          [=](Index i, Index j) { return scale * std::sin(static_cast<double>(1 + i + 2 * j)); }),
      Eigen::MatrixXd::NullaryExpr(colours, colours, [=](Index a, Index c) {
        return scale * std::cos(static_cast<double>(1 + 2 * a + c));
      })};
  s.attention.diagonal().setZero();
  return s;
}

}  // namespace attica
