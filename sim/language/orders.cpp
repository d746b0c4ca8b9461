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

PairModel::Examples chosen(const MaskedWindows& from,
                           const ShortLaws& laws,
                           Index count,
                           RandomStream& stream) {
  PairModel::Examples part{.masked = {.windows = Windows(count, from.windows.cols()), .hidden = {}},
                           .targets = ShortLaws(count, laws.cols())};
  for (Index k = 0; k < count; ++k) {
    const auto pick = static_cast<Index>(stream.below(static_cast<std::uint64_t>(from.count())));
    part.masked.windows.row(k) = from.windows.row(pick);
    part.masked.hidden.push_back(from.hidden[static_cast<std::size_t>(pick)]);
    part.targets.row(k) = laws.row(pick);
  }
  return part;
}

}  // namespace

PairShare pair_share(PairModel& pairs,
                     const Described& training,
                     const Described& test,
                     const PairFit& fit,
                     Index batch,
                     const StreamAddress& address) {
  const Laws alone = site_laws(training);
  Laws without(test.masked.count(), test.laws.cols());
  for (Index k = 0; k < test.masked.count(); ++k) {
    without.row(k) = alone.row(test.masked.hidden[static_cast<std::size_t>(k)]);
  }
  const ShortLaws laws = training.laws.cast<float>();
  StreamAddress own = address;
  pairs.fit(fit, [&](std::int64_t step) {
    own.step = static_cast<std::uint64_t>(step);
    RandomStream stream(own);
    return chosen(training.masked, laws, batch, stream);
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
  // Of -log q_alpha(s) only the logarithm of the sum takes exponentials.
  constexpr double kTiny = 1e-300;
  const Laws log_q = q.array().max(kTiny).log();
  const Eigen::RowVectorXd log_u = u.array().max(kTiny).log().transpose();
  const auto loss_at = [&](double alpha) {
    double total = 0;
    Eigen::RowVectorXd logits(log_q.cols());
    for (Index k = 0; k < log_q.rows(); ++k) {
      logits = alpha * log_q.row(k) + (1 - alpha) * log_u;
      const double top = logits.maxCoeff();
      const Index s = masked.windows(k, masked.hidden[static_cast<std::size_t>(k)]);
      total += std::log((logits.array() - top).exp().sum()) + top - logits[s];
    }
    return total / static_cast<double>(log_q.rows());
  };
  constexpr int kHalvings = 30;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = (low + high) / 2;
    (loss_at(middle) > loss ? low : high) = middle;
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
