#include "attica/core/potts/conditional_entropy.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"

namespace attica {

using Eigen::Index;

namespace {

/// sum p ln p, in which what cannot occur contributes nothing.
double negative_entropy(const Eigen::Ref<const Eigen::ArrayXd>& p) {
  return (p > 0).select(p * p.log(), 0.0).sum();
}

}  // namespace

double mean_conditional_entropy(const WeightedSequences& states, Index colours) {
  const Eigen::VectorXd& p = states.weights;
  const Index sites = states.sequences.cols();
  const double all = std::pow(static_cast<double>(colours), static_cast<double>(sites));
  require(static_cast<double>(p.size()) == all,
          "states",
          static_cast<double>(p.size()),
          fmt::format("all {:g} states of {} sites with {} colours", all, sites, colours));
  const double joint = negative_entropy(p.array());
  Eigen::VectorXd terms(sites);
  in_parallel(static_cast<std::size_t>(sites), [&](std::size_t i) {
    Eigen::ArrayXd others(p.size() / colours);
    // States are (earlier sites, site, later sites), the last the fastest.
    Index later = others.size();
    for (std::size_t k = 0; k < i; ++k) later /= colours;
    for (Index first = 0; first < others.size(); first += later) {
      auto marginal = others.segment(first, later);
      marginal = p.segment(first * colours, later);
      for (Index a = 1; a < colours; ++a) {
        marginal += p.segment(first * colours + a * later, later).array();
      }
    }
    terms[static_cast<Index>(i)] = negative_entropy(others) - joint;
  });
  double sum = 0;
  for (const double term : terms) sum += term;
  return sum / static_cast<double>(sites);
}

}  // namespace attica
