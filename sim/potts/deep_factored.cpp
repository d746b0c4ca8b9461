#include "attica/sim/potts/deep_factored.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "attica/core/error.hpp"
#include "attica/core/softmax.hpp"

namespace attica {

using Eigen::Index;

namespace {

std::vector<networks::Block> blocks(const DeepFactoredShape& shape) {
  require(shape.sites >= 2, "sites", static_cast<double>(shape.sites), "at least 2");
  require(shape.colours >= 2, "colours", static_cast<double>(shape.colours), "at least 2");
  require(shape.layers >= 1, "layers", shape.layers, "at least 1");
  std::vector<networks::Block> all;
  for (int l = 0; l < shape.layers; ++l) {
    const std::string number = std::to_string(l);
    all.push_back({.name = "A" + number, .rows = shape.sites, .columns = shape.sites});
    all.push_back({.name = "V" + number, .rows = shape.colours, .columns = shape.colours});
  }
  return all;
}

}  // namespace

template <class T>
DeepFactoredNetwork<T>::DeepFactoredNetwork(const DeepFactoredShape& shape)
    : shape_(shape), parameters_(blocks(shape)) {
  const std::size_t numbers = parameters_.values().size();
  gradient_.resize(numbers);
  gradient_lanes_.resize(numbers);
  const auto size = static_cast<std::size_t>(shape.sites * shape.colours);
  const auto layers = static_cast<std::size_t>(shape.layers);
  states_.assign(layers, std::vector<Lanes>(size));
  mixed_.assign(layers, std::vector<Lanes>(size));
  images_.assign(layers, std::vector<Lanes>(size));
  pull_x_.resize(size);
  pull_y_.resize(size);
}

/// A function of the number of colours, known to the compiler where it is small: sums over colours
/// then stay in registers, in the same order.
template <class Function>
void with_colours(Index colours, const Function& function) {
  switch (colours) {
    case 2:
      function(std::integral_constant<Index, 2>());
      return;
    case 3:
      function(std::integral_constant<Index, 3>());
      return;
    case 4:
      function(std::integral_constant<Index, 4>());
      return;
    default:
      function(colours);
  }
}

/// Logits of the site for up to 16 rows of the sequences; further lanes repeat the last row.
template <class T>
void DeepFactoredNetwork<T>::forward(const Sequences& sequences,
                                     std::span<const Index> rows,
                                     Index site) {
  const Index sites = shape_.sites;
  for (Lanes& entry : x(0)) entry.setZero();
  for (Index lane = 0; lane < kLanes; ++lane) {
    const auto row = rows[std::min(static_cast<std::size_t>(lane), rows.size() - 1)];
    for (Index j = 0; j < sites; ++j) {
      if (j != site) x(0)[static_cast<std::size_t>(at(j, sequences(row, j)))][lane] = 1;
    }
  }
  with_colours(shape_.colours, [&](auto colours) {
    for (int l = 0; l < shape_.layers; ++l) pass(l, site, colours);
  });
}

/// One layer of it.
template <class T>
template <class Colours>
void DeepFactoredNetwork<T>::pass(int l, Index site, Colours colours) {
  const Index sites = shape_.sites;
  const bool last = l + 1 == shape_.layers;
  const T* a = parameters_.values().data() + attention_block(l).offset;
  const T* v = parameters_.values().data() + value_block(l).offset;
  const Lanes* in = x(l).data();
  Lanes* out = last ? nullptr : x(l + 1).data();
  for (Index j = last ? site : 0; j < (last ? site + 1 : sites); ++j) {
    const Index offset = last ? 0 : j * colours;
    Lanes* y = mixed(l).data() + offset;
    Lanes* image = z(l).data() + offset;
    const T* shares = a + j * sites;
    for (Index c = 0; c < colours; ++c) y[c] = shares[0] * in[c];
    for (Index k = 1; k < sites; ++k) {
      for (Index c = 0; c < colours; ++c) y[c] += shares[k] * in[k * colours + c];
    }
    for (Index b = 0; b < colours; ++b) {
      Lanes sum = v[b * colours] * y[0];
      for (Index c = 1; c < colours; ++c) sum += v[b * colours + c] * y[c];
      image[b] = sum;
      if (last) continue;
      out[offset + b] = sum.square();
      if (shape_.residual) out[offset + b] += in[offset + b];
    }
  }
}

/// Adds to the gradient; the derivatives by the logits stand in their place in z.
template <class T>
void DeepFactoredNetwork<T>::backward(Index site) {
  with_colours(shape_.colours, [&](auto colours) {
    for (int l = shape_.layers - 1; l >= 0; --l) pull(l, site, colours);
  });
}

/// One layer of it.
template <class T>
template <class Colours>
void DeepFactoredNetwork<T>::pull(int l, Index site, Colours colours) {
  const Index sites = shape_.sites;
  const bool last = l + 1 == shape_.layers;
  const T* a = parameters_.values().data() + attention_block(l).offset;
  const T* v = parameters_.values().data() + value_block(l).offset;
  Lanes* da = gradient_lanes_.data() + attention_block(l).offset;
  Lanes* dv = gradient_lanes_.data() + value_block(l).offset;
  const Lanes* in = x(l).data();
  const Index begin = last ? site : 0;
  const Index end = last ? site + 1 : sites;
  for (Index j = begin; j < end; ++j) {
    const Index offset = last ? 0 : j * colours;
    Lanes* dz = z(l).data() + offset;
    if (!last) {  // x^{l+1} = r x^l + z^2
      for (Index b = 0; b < colours; ++b)
        dz[b] *= 2 * pull_x_[static_cast<std::size_t>(offset + b)];
    }
    const Lanes* y = mixed(l).data() + offset;
    Lanes* dy = pull_y_.data() + j * colours;
    for (Index c = 0; c < colours; ++c) dy[c].setZero();
    for (Index b = 0; b < colours; ++b) {
      for (Index c = 0; c < colours; ++c) {
        dv[b * colours + c] += dz[b] * y[c];
        dy[c] += v[b * colours + c] * dz[b];
      }
    }
    for (Index k = 0; k < sites; ++k) {
      Lanes sum = dy[0] * in[k * colours];
      for (Index c = 1; c < colours; ++c) sum += dy[c] * in[k * colours + c];
      da[j * sites + k] += sum;
    }
  }
  if (l == 0) return;
  for (Index k = 0; k < sites; ++k) {
    Lanes* dx = pull_x_.data() + k * colours;
    if (last || !shape_.residual) {
      for (Index c = 0; c < colours; ++c) dx[c].setZero();
    }
    for (Index j = begin; j < end; ++j) {
      for (Index c = 0; c < colours; ++c)
        dx[c] += a[j * sites + k] * pull_y_[static_cast<std::size_t>(j * colours + c)];
    }
  }
}

template <class T>
double DeepFactoredNetwork<T>::loss_and_gradient(const Sequences& batch,
                                                 std::span<const std::int32_t> masked,
                                                 std::span<const double> weights) {
  const Index colours = shape_.colours;
  if (batch.rows() < 1 || batch.cols() != shape_.sites ||
      masked.size() != static_cast<std::size_t>(batch.rows())) {
    throw invalid_parameter(
        "batch", static_cast<double>(batch.rows()), "sequences of L sites, a masked one each");
  }
  require(weights.empty() || weights.size() == masked.size(),
          "weights",
          static_cast<double>(weights.size()),
          "one per sequence");
  std::vector<std::vector<Index>> rows_of(static_cast<std::size_t>(shape_.sites));
  for (std::size_t b = 0; b < masked.size(); ++b) {
    rows_of[static_cast<std::size_t>(masked[b])].push_back(static_cast<Index>(b));
  }
  for (Lanes& sum : gradient_lanes_) sum.setZero();
  const double equal = 1 / static_cast<double>(batch.rows());
  std::array<double, kLanes> shares{};
  double loss = 0;
  for (Index i = 0; i < shape_.sites; ++i) {
    const std::vector<Index>& rows = rows_of[static_cast<std::size_t>(i)];
    for (std::size_t first = 0; first < rows.size(); first += kLanes) {
      const std::span<const Index> block(rows.data() + first,
                                         std::min<std::size_t>(kLanes, rows.size() - first));
      forward(batch, block, i);
      Lanes* logits = z(shape_.layers - 1).data();
      Lanes largest = logits[0];
      for (Index b = 1; b < colours; ++b) largest = largest.max(logits[b]);
      Lanes sum = Lanes::Zero();
      Lanes factor = Lanes::Zero();  // lanes without a sequence of their own count nothing
      for (std::size_t lane = 0; lane < block.size(); ++lane) {
        const auto row = static_cast<std::size_t>(block[lane]);
        shares[lane] = weights.empty() ? equal : weights[row];
        factor[static_cast<Index>(lane)] = static_cast<T>(shares[lane]);
        const Index target = batch(block[lane], i);
        loss -= shares[lane] * static_cast<double>(logits[target][static_cast<Index>(lane)] -
                                                   largest[static_cast<Index>(lane)]);
      }
      for (Index b = 0; b < colours; ++b) {
        logits[b] = (logits[b] - largest).exp();
        sum += logits[b];
      }
      if (weights.empty()) {  // one logarithm for all: a sum is at most C <= 64
        double product = 1;
        for (std::size_t lane = 0; lane < block.size(); ++lane)
          product *= static_cast<double>(sum[static_cast<Index>(lane)]);
        loss += equal * std::log(product);
      } else {
        for (std::size_t lane = 0; lane < block.size(); ++lane)
          loss += shares[lane] * std::log(static_cast<double>(sum[static_cast<Index>(lane)]));
      }
      factor /= sum;
      for (Index b = 0; b < colours; ++b) logits[b] *= factor;
      for (std::size_t lane = 0; lane < block.size(); ++lane) {
        logits[batch(block[lane], i)][static_cast<Index>(lane)] -= static_cast<T>(shares[lane]);
      }
      backward(i);
    }
  }
  for (std::size_t k = 0; k < gradient_.size(); ++k) gradient_[k] = gradient_lanes_[k].sum();
  return loss;
}

template <class T>
double DeepFactoredNetwork<T>::excess_loss(const MaskedPopulation& population) {
  const Index colours = shape_.colours;
  double sum = 0;
  std::array<Index, kLanes> rows{};
  Eigen::MatrixXd log_q(colours, 1);
  for (std::size_t i = 0; i < population.sites().size(); ++i) {
    const MaskedSite& site = population.sites()[i];
    for (Index first = 0; first < site.contexts.rows(); first += kLanes) {
      const Index count = std::min(kLanes, site.contexts.rows() - first);
      for (Index lane = 0; lane < count; ++lane)
        rows[static_cast<std::size_t>(lane)] = first + lane;
      forward(site.contexts,
              std::span<const Index>(rows).first(static_cast<std::size_t>(count)),
              static_cast<Index>(i));
      for (Index lane = 0; lane < count; ++lane) {
        for (Index b = 0; b < colours; ++b) {
          log_q(b, 0) =
              static_cast<double>(z(shape_.layers - 1)[static_cast<std::size_t>(b)][lane]);
        }
        log_softmax_columns(log_q);
        const auto log_p = site.log_conditionals.col(first + lane).array();
        sum += site.weights[first + lane] * (log_p.exp() * (log_p - log_q.col(0).array())).sum();
      }
    }
  }
  return sum / static_cast<double>(population.sites().size());
}

template class DeepFactoredNetwork<float>;
template class DeepFactoredNetwork<double>;

namespace {

void initialise(networks::Parameters<float>& parameters,
                const std::vector<double>& scales,
                StreamAddress address) {
  require(parameters.blocks().size() == 2 * scales.size(),
          "initial_scale",
          static_cast<double>(scales.size()),
          "one for every layer");
  address.id = StreamId::initialisation;
  for (std::size_t l = 0; l < scales.size(); ++l) {
    for (const char* kind : {"A", "V"}) {
      parameters.initialise(kind + std::to_string(l), {.scale = scales[l]}, address);
    }
  }
}

void set_layers(networks::Parameters<float>& parameters,
                const std::vector<FactoredAttention>& layers) {
  require(parameters.blocks().size() == 2 * layers.size(),
          "start",
          static_cast<double>(layers.size()),
          "one for every layer");
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto a = parameters.matrix("A" + std::to_string(l));
    const auto v = parameters.matrix("V" + std::to_string(l));
    require(layers[l].sites() == a.rows && layers[l].colours() == v.rows,
            "start",
            static_cast<double>(layers[l].sites()),
            "maps of L x L and C x C entries");
    a.map() = layers[l].attention.cast<float>();
    v.map() = layers[l].values.cast<float>();
  }
}

/// @param step_gradient (network, data, masks): loss of a step's batch and its gradient
template <class StepGradient>
networks::TrainingResult train_on(const DeepFactoredTraining& plan,
                                  const MaskedPopulation& population,
                                  const StreamAddress& address,
                                  const std::function<void(const DeepFactoredRecord&)>& observe,
                                  const std::function<bool()>& stop,
                                  StepGradient&& step_gradient) {
  require(plan.batch >= 1, "batch", static_cast<double>(plan.batch), "at least 1");
  const auto layers = static_cast<std::size_t>(plan.shape.layers);
  DeepFactoredNetwork<float> network(plan.shape);
  if (plan.start.empty()) {
    initialise(network.parameters(), plan.initial_scale, address);
  } else {
    set_layers(network.parameters(), plan.start);
  }
  const std::vector<float> start(network.parameters().values().begin(),
                                 network.parameters().values().end());
  networks::Optimiser<float> optimiser(network.parameters(), plan.optimiser);
  networks::TrainingState state;
  networks::TrainingPlan loop{.recorded = plan.recorded};
  loop.observe = [&](const networks::TrainingRecord& record, networks::TrainingState&) {
    DeepFactoredRecord seen{
        .step = record.step, .excess_loss = network.excess_loss(population), .displacement = {}};
    for (std::size_t block = 0; block < 2 * layers; ++block) {
      const networks::Block& b = network.parameters().blocks()[block];
      double square = 0;
      for (Index k = b.offset; k < b.offset + b.size(); ++k) {
        const auto n = static_cast<std::size_t>(k);
        const auto move = static_cast<double>(network.parameters().values()[n]) - start[n];
        square += move * move;
      }
      square /= static_cast<double>(b.rows);
      if (block % 2 == 0) {
        seen.displacement.push_back(square);
      } else {
        seen.displacement.back() += square;
      }
    }
    observe(seen);
  };
  loop.stop = stop;
  const auto loss_and_gradient = [&](std::uint64_t step) {
    StreamAddress own = address;
    own.step = step;
    own.id = StreamId::data;
    RandomStream data(own);
    own.id = StreamId::minibatch;
    RandomStream masks(own);
    return step_gradient(network, data, masks);
  };
  return networks::train<float>(
      network.parameters(), network.gradient(), optimiser, state, loop, loss_and_gradient);
}

std::int32_t random_site(Index sites, RandomStream& masks) {
  return static_cast<std::int32_t>(masks.below(static_cast<std::uint64_t>(sites)));
}

}  // namespace

std::vector<FactoredAttention> random_layers(const DeepFactoredShape& shape,
                                             const std::vector<double>& scales,
                                             const StreamAddress& address) {
  networks::Parameters<float> parameters(blocks(shape));
  initialise(parameters, scales, address);
  std::vector<FactoredAttention> layers;
  for (int l = 0; l < shape.layers; ++l) {
    layers.push_back({parameters.matrix("A" + std::to_string(l)).map().cast<double>(),
                      parameters.matrix("V" + std::to_string(l)).map().cast<double>()});
  }
  return layers;
}

networks::TrainingResult train_deep_factored(
    const DeepFactoredTraining& plan,
    const SequenceSource& source,
    const MaskedPopulation& population,
    const StreamAddress& address,
    const std::function<void(const DeepFactoredRecord&)>& observe,
    const std::function<bool()>& stop) {
  std::vector<std::int32_t> masked;
  return train_on(
      plan,
      population,
      address,
      observe,
      stop,
      [&](DeepFactoredNetwork<float>& network, RandomStream& data, RandomStream& masks) {
        const Sequences batch = source(plan.batch, data);
        masked.resize(static_cast<std::size_t>(plan.batch));
        for (std::int32_t& site : masked) site = random_site(plan.shape.sites, masks);
        return network.loss_and_gradient(batch, masked);
      });
}

networks::TrainingResult train_deep_factored(
    const DeepFactoredTraining& plan,
    const StateSource& source,
    const MaskedPopulation& population,
    const StreamAddress& address,
    const std::function<void(const DeepFactoredRecord&)>& observe,
    const std::function<bool()>& stop) {
  const Index sites = plan.shape.sites;
  return train_on(
      plan,
      population,
      address,
      observe,
      stop,
      [&](DeepFactoredNetwork<float>& network, RandomStream& data, RandomStream& masks) {
        std::vector<Index> times(static_cast<std::size_t>(sites));  // a site is masked
        for (Index b = 0; b < plan.batch; ++b) {
          ++times[static_cast<std::size_t>(random_site(sites, masks))];
        }
        Sequences batch(0, sites);
        std::vector<std::int32_t> masked;
        std::vector<double> weights;
        for (Index i = 0; i < sites; ++i) {
          const Index count = times[static_cast<std::size_t>(i)];
          if (count == 0) continue;
          const WeightedSequences drawn = source(count, data);
          const Index first = batch.rows();
          batch.conservativeResize(first + drawn.sequences.rows(), sites);
          batch.bottomRows(drawn.sequences.rows()) = drawn.sequences;
          masked.resize(static_cast<std::size_t>(batch.rows()), static_cast<std::int32_t>(i));
          for (const double weight : drawn.weights) {
            weights.push_back(weight * static_cast<double>(count) /
                              static_cast<double>(plan.batch));
          }
        }
        return network.loss_and_gradient(batch, masked, weights);
      });
}

}  // namespace attica
