#include "attica/sim/language/orders.hpp"

#include <algorithm>
#include <cmath>

namespace attica {

using Eigen::Index;

namespace {

/// The mean law of every site.
Laws site_laws(const Described& d) {
  Laws sums = Laws::Zero(d.masked.windows.cols(), d.laws.cols());
  for (Index k = 0; k < d.masked.count(); ++k) {
    sums.row(d.masked.hidden[static_cast<std::size_t>(k)]) += d.laws.row(k);
  }
  for (Index i = 0; i < sums.rows(); ++i) {
    const double total = sums.row(i).sum();
    if (total > 0) sums.row(i) /= total;
  }
  return sums;
}

Described chosen(const Described& from, Index count, RandomStream& stream) {
  Described part{.masked = {.windows = Windows(count, from.masked.windows.cols()), .hidden = {}},
                 .laws = Laws(count, from.laws.cols())};
  for (Index k = 0; k < count; ++k) {
    const auto pick =
        static_cast<Index>(stream.below(static_cast<std::uint64_t>(from.masked.count())));
    part.masked.windows.row(k) = from.masked.windows.row(pick);
    part.masked.hidden.push_back(from.masked.hidden[static_cast<std::size_t>(pick)]);
    part.laws.row(k) = from.laws.row(pick);
  }
  return part;
}

}  // namespace

PairShare pair_share(const Described& training,
                     const Described& test,
                     const PairFit& fit,
                     Index batch,
                     const StreamAddress& address) {
  const Laws alone = site_laws(training);
  Laws without(test.masked.count(), test.laws.cols());
  for (Index k = 0; k < test.masked.count(); ++k) {
    without.row(k) = alone.row(test.masked.hidden[static_cast<std::size_t>(k)]);
  }
  PairModel pairs(training.masked.windows.cols(), training.laws.cols());
  StreamAddress own = address;
  pairs.fit(fit, [&](std::int64_t step) {
    own.step = static_cast<std::uint64_t>(step);
    RandomStream stream(own);
    Described part = chosen(training, batch, stream);
    return PairModel::Examples{std::move(part.masked), std::move(part.laws)};
  });
  const double entropy = mean_entropy(test.laws);
  return {.context = mean_cross_entropy(test.laws, without) - entropy,
          .remainder = mean_cross_entropy(test.laws, pairs.laws(test.masked)) - entropy};
}

Laws blurred(const Laws& q, const Eigen::VectorXd& u, double alpha) {
  constexpr double kTiny = 1e-300;
  const Eigen::RowVectorXd base = (1 - alpha) * u.array().max(kTiny).log().transpose();
  Laws laws = (alpha * q.array().max(kTiny).log()).matrix();
  laws.rowwise() += base;
  for (Index k = 0; k < laws.rows(); ++k) {
    laws.row(k) = (laws.row(k).array() - laws.row(k).maxCoeff()).exp();
    laws.row(k) /= laws.row(k).sum();
  }
  return laws;
}

double blur_of_loss(const Laws& q,
                    const Eigen::VectorXd& u,
                    const MaskedWindows& masked,
                    double loss) {
  // log q_alpha(s) is concave in alpha: the loss is convex, and falls up to its minimum. The end
  // state of training is taken to lie at or before it.
  double low = 0;
  double high = 1;
  if (mean_loss(blurred(q, u, 0), masked) <= loss) return 0;
  if (mean_loss(q, masked) >= loss) return 1;
  constexpr int kHalvings = 30;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = (low + high) / 2;
    (mean_loss(blurred(q, u, middle), masked) > loss ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::size_t saturation(const std::vector<double>& curve, double share) {
  const double least = *std::min_element(curve.begin(), curve.end());
  const double level = least + share * (curve.front() - least);
  return static_cast<std::size_t>(
      std::find_if(curve.begin(), curve.end(), [&](double y) { return y <= level; }) -
      curve.begin());
}

std::optional<std::size_t> crossing(const std::vector<double>& first,
                                    const std::vector<double>& second) {
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (second[k] < first[k]) return k;
  }
  return {};
}

}  // namespace attica
