#pragma once
/// Reference values of joint attention dynamics, and the small networks they belong to.

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "attica/core/joma/model.hpp"
#include "reference_values.hpp"

namespace attica::testing {

inline const std::map<std::string, JomaAttention> kAttention = {
    {"linear", JomaAttention::linear},
    {"exp", JomaAttention::exponential},
    {"softmax", JomaAttention::softmax}};
inline const std::map<std::string, JomaActivation> kActivation = {
    {"linear", JomaActivation::linear},
    {"relu", JomaActivation::relu},
    {"quadratic", JomaActivation::quadratic},
    {"tanh", JomaActivation::tanh},
    {"silu", JomaActivation::silu}};
inline const std::map<std::string, JomaLoss> kLoss = {
    {"linear", JomaLoss::linear}, {"ce", JomaLoss::cross_entropy}, {"mse", JomaLoss::squared}};

struct JomaCase {
  JomaModel model;
  JomaState start;
};

inline JomaCase joma_case(Reference row) {
  const Reference data = reference_values("joma")["full_model"]["data"];
  const bool two = row["MQ"] == 2;
  const std::string attention = row["attn"];
  const std::string loss = row["loss"];
  const Reference weights = data["weight"];
  Eigen::VectorXd w(static_cast<Eigen::Index>(weights.size()));
  for (std::size_t i = 0; i < weights.size(); ++i) w[static_cast<Eigen::Index>(i)] = weights[i];
  JomaCase c{
      .model = JomaModel({.attention = kAttention.at(attention),
                          .activation = kActivation.at(row["phi"]),
                          .loss = kLoss.at(loss),
                          .temperature = row.value("T", 1.0),
                          .amplitude = row.value("A", 1.0),
                          .top = matrix(data[loss == "linear" ? "G"
                                             : loss == "ce"   ? "Wup"
                                                              : "target"])},
                         {.contexts = matrix(data["X"]),
                          .queries = data[two ? "query_two" : "query_single"],
                          .labels = data["label"],
                          .weights = w}),
      .start = {matrix(data["init"]["V"]), matrix(data["init"]["R"]), matrix(data["init"]["Z"])}};
  if (!two) {
    c.start.r = Eigen::MatrixXd(c.start.r.col(0));
    c.start.z = Eigen::MatrixXd(c.start.z.row(0));
  }
  if (attention == "linear") c.start.z.array() += 1;
  return c;
}

}  // namespace attica::testing
