#include "attica/core/potts/exchangeable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/softmax.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// Calls `visit(at, share)` for all multisets of so many colours that a state with these counts
/// has: `at` their place in a tensor of their order, `share` in how many ways sites are chosen.
template <class Visit>
void for_multisets(const std::uint8_t* counts,
                   Index colours,
                   int left,
                   const Visit& visit,
                   Index first = 0,
                   Index at = 0,
                   double share = 1) {
  if (left == 0) {
    visit(at, share);
    return;
  }
  for (Index a = first; a < colours; ++a) {
    Index place = at;
    double ways = share;
    for (int m = 1; m <= std::min<int>(left, counts[a]); ++m) {
      place = place * colours + a;
      ways *= static_cast<double>(counts[a] - m + 1) / m;
      for_multisets(counts, colours, left - m, visit, a + 1, place, ways);
    }
  }
}

void append_counts(Sequences& all, Index& row, Index colour, Index left, std::uint8_t* counts) {
  if (colour + 1 == all.cols()) {
    counts[colour] = static_cast<std::uint8_t>(left);
    std::copy(counts, counts + all.cols(), all.row(row++).data());
    return;
  }
  for (Index n = 0; n <= left; ++n) {
    counts[colour] = static_cast<std::uint8_t>(n);
    append_counts(all, row, colour + 1, left - n, counts);
  }
}

}  // namespace

double count_vectors(Index total, Index colours) {
  double number = 1;
  for (Index k = 1; k < colours; ++k) {
    number *= static_cast<double>(total + k) / static_cast<double>(k);
  }
  return std::round(number);
}

Sequences enumerate_counts(Index total, Index colours) {
  const double number = count_vectors(total, colours);
  require(total <= 255 && number <= kMostCounts,
          "sites",
          static_cast<double>(total),
          fmt::format("at most {:g} vectors of counts (here {:g})", kMostCounts, number));
  Sequences all(static_cast<Index>(number), colours);
  std::array<std::uint8_t, 256> counts{};
  Index row = 0;
  append_counts(all, row, 0, total, counts.data());
  return all;
}

std::optional<ExchangeableBody> ExchangeableBody::of(const BodyModel& model) {
  const std::optional<double> strength = model.common_strength();
  if (!strength) return std::nullopt;
  return ExchangeableBody(model.sites(), model.tensor(), *strength);
}

ExchangeableBody::ExchangeableBody(Index sites, ColourTensor tensor, double strength)
    : sites_(sites), tensor_(std::move(tensor)), strength_(strength) {}

double ExchangeableBody::log_weight(const std::uint8_t* counts) const {
  double sum = 0;
  for_multisets(counts, colours(), tensor_.order, [&](Index at, double ways) {
    sum += ways * tensor_.entries[at];
  });
  return strength_ * sum;
}

void ExchangeableBody::site_logits(const std::uint8_t* others, double* logits) const {
  Eigen::Map<VectorXd> h(logits, colours());
  h.setZero();
  for_multisets(others, colours(), tensor_.order - 1, [&](Index at, double ways) {
    h += strength_ * ways * tensor_.entries.segment(at * colours(), colours());
  });
}

bool has_few_counts(const ExchangeableBody& model) {
  return model.sites() <= 256 && count_vectors(model.sites() - 1, model.colours()) <= kMostCounts;
}

CountedContexts counted_contexts(const ExchangeableBody& model) {
  const Index others = model.sites() - 1;
  CountedContexts all{
      .counts = enumerate_counts(others, model.colours()), .weights = {}, .log_conditionals = {}};
  const Index kinds = all.counts.rows();
  all.weights.resize(kinds);
  all.log_conditionals.resize(model.colours(), kinds);
  VectorXd log_factorials(others + 1);
  for (Index n = 0; n <= others; ++n) log_factorials[n] = std::lgamma(static_cast<double>(n) + 1);
  for (Index k = 0; k < kinds; ++k) {
    const std::uint8_t* counts = all.counts.row(k).data();
    double log_weight = log_factorials[others] + model.log_weight(counts);
    for (Index a = 0; a < model.colours(); ++a) log_weight -= log_factorials[counts[a]];
    model.site_logits(counts, all.log_conditionals.col(k).data());
    const double largest = all.log_conditionals.col(k).maxCoeff();
    log_weight += largest + std::log((all.log_conditionals.col(k).array() - largest).exp().sum());
    all.weights[k] = log_weight;
  }
  log_softmax_columns(all.log_conditionals);
  const double largest = all.weights.maxCoeff();
  all.weights = (all.weights.array() - largest).exp();
  const double sum = all.weights.sum();
  all.weights /= sum;
  all.log_partition = largest + std::log(sum);
  for (Index k = 0; k < kinds; ++k) {
    for (const double log_p : all.log_conditionals.col(k)) {
      if (std::isfinite(log_p)) all.bayes_loss -= all.weights[k] * std::exp(log_p) * log_p;
    }
  }
  return all;
}

}  // namespace attica
