#include "attica/core/potts/conditional_entropy.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attica/core/error.hpp"

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
  Eigen::ArrayXd others(p.size() / colours);
  double sum = 0;
  // States are (earlier sites, site, later sites), the last the fastest.
  for (Index i = 0, later = p.size() / colours; i < sites; ++i, later /= colours) {
    for (Index first = 0; first < others.size(); first += later) {
      auto marginal = others.segment(first, later);
      marginal = p.segment(first * colours, later);
      for (Index a = 1; a < colours; ++a) {
        marginal += p.segment(first * colours + a * later, later).array();
      }
    }
    sum += negative_entropy(others) - joint;
  }
  return sum / static_cast<double>(sites);
}

}  // namespace attica
