#pragma once
// The reference values of the topic model: tests/reference/topics.json.

#include "attica/core/topics/model.hpp"
#include "reference_values.hpp"

namespace attica::testing {

inline Commutant commutant_of(Reference j) {
  Commutant x;
  for (std::size_t k = 0; k < static_cast<std::size_t>(kCommutantClasses); ++k)
    x[static_cast<Eigen::Index>(k)] = j[k].get<double>();
  return x;
}

/// Subset prior, infinite length, unless the case says otherwise.
inline TopicSettings topic_settings(Reference c) {
  TopicSettings s{.vocabulary = {c["T"].get<Eigen::Index>(), c["v"].get<Eigen::Index>()},
                  .mask_rate = c["pm"],
                  .keep_rate = c["pc"],
                  .random_rate = c["pr"]};
  if (c.contains("tau") && !c["tau"].is_null()) s.topics_per_document = c["tau"];
  if (c.contains("N") && c["N"].is_number()) s.length = {{c["N"], c["N"]}};
  if (c.contains("N") && c["N"].is_string())
    s.length = {{100, 150}};  // "uniform integers 100..150"
  const std::string prior = c.value("prior", "subset");
  if (prior == "dirichlet") s.concentration = c["prior_param"];
  if (prior == "dirichlet 0.1") s.concentration = 0.1;
  if (prior != "subset") s.prior = TopicPrior::dirichlet;
  return s;
}

/// The largest difference of two invariant matrices' entries.
inline double difference(const Commutant& x, const Commutant& y) {
  return (x - y).cwiseAbs().maxCoeff();
}

}  // namespace attica::testing
