#include "attica/sim/language/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/sim/networks/optimiser.hpp"

namespace attica {

using Eigen::Index;
using Row = Eigen::Map<Eigen::ArrayXf>;
using ConstRow = Eigen::Map<const Eigen::ArrayXf>;

namespace {

constexpr Index kVector = 16;
using Vector = Eigen::Array<float, kVector, 1>;

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

void PairModel::law(const Symbol* window, Index site, float* p) const {
  // Whole vectors of the padded rows, each summed in a register.
  const float* w = parameters_.values().data();
  const float* biases = w + at(site, site, 0);
  for (Index first = 0; first < stride_; first += kVector) {
    Vector sum = Eigen::Map<const Vector>(biases + first);
    for (Index j = 0; j < sites_; ++j) {
      if (j != site) sum += Eigen::Map<const Vector>(w + at(site, j, window[j]) + first);
    }
    Eigen::Map<Vector>(p + first) = sum;
  }
  // The softmax of the symbols; what lies beyond them counts for nothing.
  Row all(p, stride_);
  all = (all - Row(p, symbols_).maxCoeff()).exp();
  all.tail(stride_ - symbols_).setZero();
  all /= all.sum();
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

Eigen::MatrixXf PairModel::coupling(Index i, Index j) const {
  const float* w = parameters_.values().data();
  Eigen::MatrixXf result(symbols_, symbols_);
  for (Index s = 0; s < symbols_; ++s) result.col(s) = ConstRow(w + at(i, j, s), symbols_).matrix();
  return result;
}

double PairModel::loss_and_gradient(const Examples& examples, std::vector<float>& gradient) const {
  gradient.assign(parameters_.values().size(), 0.0F);
  const auto weight = 1 / static_cast<float>(examples.masked.count());
  Eigen::ArrayXf padded_p(stride_);
  Row p(padded_p.data(), symbols_);
  const auto add = [&](std::size_t to) {
    for (Index first = 0; first < stride_; first += kVector) {
      Eigen::Map<Vector>(gradient.data() + to + static_cast<std::size_t>(first)) +=
          Eigen::Map<const Vector>(padded_p.data() + first);
    }
  };
  double loss = 0;
  for (Index k = 0; k < examples.masked.count(); ++k) {
    const Symbol* window = examples.masked.windows.row(k).data();
    const Index i = examples.masked.hidden[static_cast<std::size_t>(k)];
    law(window, i, p.data());
    constexpr float kTiny = 1e-37F;
    if (examples.targets.size() == 0) {
      loss -= std::log(std::max(p[window[i]], kTiny));
      p[window[i]] -= 1;
    } else {
      const Eigen::ArrayXf target = examples.targets.row(k).transpose().cast<float>();
      loss -= (target * p.max(kTiny).log()).sum();
      p -= target;
    }
    p *= weight;
    add(at(i, i, 0));
    for (Index j = 0; j < sites_; ++j) {
      if (j != i) add(at(i, j, window[j]));
    }
  }
  return loss * static_cast<double>(weight);
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
    loss_and_gradient(draw(static_cast<std::int64_t>(n)), gradient);
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
