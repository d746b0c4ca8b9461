#include "attica/sim/language/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/sim/networks/chunks.hpp"
#include "attica/sim/networks/optimiser.hpp"

namespace attica {

using Eigen::Index;
using Row = Eigen::Map<Eigen::ArrayXf>;
using ConstRow = Eigen::Map<const Eigen::ArrayXf>;

namespace {

constexpr Index kVector = 16;
using Vector = Eigen::Array<float, kVector, 1>;

/// Numbers of the windows, sorted by hidden site: the couplings of one site stay in the cache.
std::vector<Index> by_site(const std::vector<std::int32_t>& hidden, Index sites) {
  std::vector<std::size_t> next(static_cast<std::size_t>(sites) + 1, 0);
  for (const std::int32_t site : hidden) ++next[static_cast<std::size_t>(site) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Index> order(hidden.size());
  for (std::size_t k = 0; k < hidden.size(); ++k) {
    order[next[static_cast<std::size_t>(hidden[k])]++] = static_cast<Index>(k);
  }
  return order;
}

Index padded(Index symbols) { return (symbols + kVector - 1) / kVector * kVector; }

}  // namespace

PairModel::PairModel(Index sites, Index symbols)
    : sites_(sites), symbols_(symbols), stride_(padded(symbols)), parameters_([&] {
        const auto side = static_cast<double>(sites) * static_cast<double>(symbols);
        require(sites >= 2 && symbols >= 2 && side * side <= kMostWeights,
                "sites",
                static_cast<double>(sites),
                "L >= 2 and (L C)^2 <= 2^24 couplings of pairs");
        return std::vector<networks::Block>{
            {.name = "W", .rows = sites * sites * symbols, .columns = padded(symbols)}};
      }()) {}

/// Vectors of the padded rows from `first` on, summed in registers.
template <int Vectors>
void PairModel::set_logits(const Symbol* window, Index site, Index first, float* p) const {
  using Slice = Eigen::Array<float, Vectors * kVector, 1>;
  const float* w = parameters_.values().data() + first;
  Slice sum = Eigen::Map<const Slice>(w + at(site, site, 0));
  for (Index j = 0; j < sites_; ++j) {
    if (j != site) sum += Eigen::Map<const Slice>(w + at(site, j, window[j]));
  }
  Eigen::Map<Slice>(p + first) = sum;
}

void PairModel::law(const Symbol* window, Index site, float* p) const {
  constexpr Index kTwo = 2 * kVector;
  Index first = 0;
  for (; first + kTwo <= stride_; first += kTwo) set_logits<2>(window, site, first, p);
  if (first < stride_) set_logits<1>(window, site, first, p);
  // The softmax of the symbols; what lies beyond them counts for nothing.
  const float top = networks::chunked_max(symbols_, p);
  for (Index i = 0; i < stride_; i += kVector) {
    Eigen::Map<Vector>(p + i) = (Eigen::Map<const Vector>(p + i) - top).exp();
  }
  std::fill(p + symbols_, p + stride_, 0.0F);
  const auto total = networks::chunked_sum<float>(
      stride_, [p](auto width, Index i) { return networks::chunk(width, p + i); });
  for (Index i = 0; i < stride_; i += kVector) Eigen::Map<Vector>(p + i) /= total;
}

Laws PairModel::laws(const MaskedWindows& masked) const {
  Laws result(masked.count(), symbols_);
  Eigen::ArrayXf p(stride_);
  for (Index k = 0; k < masked.count(); ++k) {
    law(masked.windows.row(k).data(), masked.hidden[static_cast<std::size_t>(k)], p.data());
    result.row(k) = p.head(symbols_).cast<double>();
  }
  return result;
}

void PairModel::blur(const Eigen::VectorXd& u, double alpha) {
  constexpr double kTiny = 1e-30;
  float* w = parameters_.values().data();
  Row(w, static_cast<Index>(parameters_.values().size())) *= static_cast<float>(alpha);
  const Eigen::ArrayXf biases = ((1 - alpha) * u.array().max(kTiny).log()).cast<float>();
  for (Index i = 0; i < sites_; ++i) Row(w + at(i, i, 0), symbols_) += biases;
}

void PairModel::gradient(const Examples& examples, std::vector<float>& gradient) const {
  gradient.assign(parameters_.values().size(), 0.0F);
  const std::vector<Index> order = by_site(examples.masked.hidden, sites_);
  const auto weight = 1 / static_cast<float>(examples.masked.count());
  Eigen::ArrayXf padded_p(stride_);
  Row p(padded_p.data(), symbols_);
  const auto add = [&](std::size_t to) {
    for (Index first = 0; first < stride_; first += kVector) {
      Eigen::Map<Vector>(gradient.data() + to + static_cast<std::size_t>(first)) +=
          Eigen::Map<const Vector>(padded_p.data() + first);
    }
  };
  for (const Index k : order) {
    const Symbol* window = examples.masked.windows.row(k).data();
    const Index i = examples.masked.hidden[static_cast<std::size_t>(k)];
    law(window, i, p.data());
    if (examples.targets.size() == 0) {
      p[window[i]] -= 1;
    } else {
      p -= ConstRow(examples.targets.row(k).data(), symbols_);
    }
    p *= weight;
    add(at(i, i, 0));
    for (Index j = 0; j < sites_; ++j) {
      if (j != i) add(at(i, j, window[j]));
    }
  }
}

void PairModel::fit(const PairFit& options,
                    const std::function<Examples(std::int64_t)>& draw,
                    const std::function<bool()>& stop) {
  constexpr double kTail = 0.3;
  const auto length = static_cast<std::uint64_t>(options.steps);
  networks::Optimiser<float> optimiser(
      parameters_,
      {.kind = networks::OptimiserKind::adam,
       .learning_rate = options.eta,
       .weight_decay = 2 * options.penalty,
       .schedule = {.kind = networks::Schedule::Kind::cosine_tail,
                    .start = static_cast<std::uint64_t>(kTail * static_cast<double>(length)),
                    .length = length}});
  std::vector<float> gradient;
  for (std::uint64_t n = 0; n < length && !(stop && stop()); ++n) {
    this->gradient(draw(static_cast<std::int64_t>(n)), gradient);
    optimiser.update(parameters_, gradient, n);
  }
}

Windows gibbs_windows(const PairModel& model, Windows windows, int sweeps, RandomStream& stream) {
  std::vector<Index> order(static_cast<std::size_t>(model.sites()));
  std::iota(order.begin(), order.end(), 0);
  Eigen::ArrayXf p(model.padded_symbols());
  for (Index k = 0; k < windows.rows(); ++k) {
    Symbol* window = windows.row(k).data();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (std::size_t j = order.size() - 1; j > 0; --j) {
        std::swap(order[j], order[stream.below(j + 1)]);
      }
      for (const Index i : order) {
        model.law(window, i, p.data());
        auto left = static_cast<float>(stream.uniform());
        Index a = 0;
        while (a + 1 < model.symbols() && left >= p[a]) left -= p[a++];
        window[i] = static_cast<Symbol>(a);
      }
    }
  }
  return windows;
}

}  // namespace attica
