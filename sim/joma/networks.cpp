#include "attica/sim/joma/networks.hpp"

#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd equal_overlap(Index tokens, double cosine) {
  require(cosine >= 0 && cosine < 1, "model.overlap", cosine, "0 <= cosine < 1");
  if (cosine == 0) return {};
  MatrixXd gram = MatrixXd::Constant(tokens, tokens, cosine);
  gram.diagonal().setOnes();
  return gram;
}

MatrixXd random_overlap(Index tokens, Index dimension, RandomStream& stream) {
  MatrixXd u(dimension, tokens);
  for (double& x : u.reshaped()) x = stream.normal();
  u.colwise().normalize();
  MatrixXd gram = MatrixXd::Identity(tokens, tokens);
  for (Index j = 0; j < tokens; ++j) {
    for (Index i = 0; i < j; ++i) gram(i, j) = gram(j, i) = u.col(i).dot(u.col(j));
  }
  return gram;
}

JomaModel random_joma_model(const JomaSizes& sizes, JomaLaw law, RandomStream& stream) {
  const double weight = 1 / static_cast<double>(sizes.samples);
  JomaSamples data{.contexts = MatrixXd(sizes.samples, sizes.tokens),
                   .queries = {},
                   .labels = {},
                   .weights = VectorXd::Constant(sizes.samples, weight)};
  for (double& x : data.contexts.reshaped()) x = stream.uniform();
  data.contexts.array().colwise() /= data.contexts.rowwise().sum().eval().array();
  for (int i = 0; i < sizes.samples; ++i) {
    data.queries.push_back(i % sizes.queries);
    data.labels.push_back(i % sizes.classes);
  }
  law.loss = JomaLoss::cross_entropy;
  law.top = MatrixXd(sizes.classes, sizes.units);
  for (double& w : law.top.reshaped()) w = stream.normal();
  return {std::move(law), std::move(data)};
}

JomaState random_joma_start(const JomaModel& model, double scale, RandomStream& stream) {
  JomaState start{MatrixXd(model.units(), model.tokens()),
                  MatrixXd(model.units(), model.queries()),
                  MatrixXd(model.queries(), model.tokens())};
  for (MatrixXd* block : {&start.v, &start.r, &start.z}) {
    for (double& x : block->reshaped()) x = scale * stream.normal();
  }
  return start;
}

JomaProblem class_contexts(const JomaClassContexts& options, std::optional<std::uint64_t> seed) {
  const Index tokens = options.tokens;
  const Index classes = options.classes;
  const bool formula = !seed;
  RandomStream data({.seed = seed.value_or(0), .id = StreamId::model});
  RandomStream init({.seed = seed.value_or(0), .id = StreamId::initialisation});
  constexpr double kScale = 0.01;
  MatrixXd x(classes, tokens);
  JomaState start{MatrixXd(classes, tokens), MatrixXd(classes, 1), MatrixXd(1, tokens)};
  const Index distinct = tokens / 2;
  for (Index i = 0; i < classes; ++i) {
    const auto k = static_cast<double>(i + 1);
    for (Index l = 0; l < tokens; ++l) {
      const auto j = static_cast<double>(l + 1);
      x(i, l) = formula ? 0.25 * (1 + std::sin(1.7 * j + 0.9 * k * (j + 1))) : 0.5 * data.uniform();
      if (options.bumps && l < distinct) {
        const auto centre = static_cast<double>(distinct * i) / static_cast<double>(classes);
        const auto d = static_cast<double>(l) - centre;
        x(i, l) = std::exp(-d * d / 30);
      }
      start.v(i, l) = kScale * (formula ? std::sin(2.3 * k + 1.1 * j * (k + 1)) : init.normal());
    }
    x.row(i) /= x.row(i).sum();
    start.r(i, 0) = kScale * (formula ? std::cos(3.1 * k) : init.normal());
  }
  for (Index l = 0; l < tokens; ++l) {
    const auto j = static_cast<double>(l + 1);
    start.z(0, l) = kScale * (formula ? std::cos(0.7 * j * j) : init.normal());
  }
  std::vector<int> labels(static_cast<std::size_t>(classes));
  std::iota(labels.begin(), labels.end(), 0);
  return {JomaModel({.attention = JomaAttention::softmax,
                     .loss = JomaLoss::cross_entropy,
                     .temperature = options.temperature},
                    {.contexts = std::move(x),
                     .queries = std::vector<int>(static_cast<std::size_t>(classes), 0),
                     .labels = std::move(labels),
                     .weights = VectorXd::Constant(classes, 1 / static_cast<double>(classes))}),
          std::move(start)};
}

}  // namespace attica
