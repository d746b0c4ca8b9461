#include "attica/core/topics/commutant.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

CommutantAlgebra::CommutantAlgebra(const TopicVocabulary& vocabulary) : vocabulary_(vocabulary) {
  const auto topics = static_cast<double>(vocabulary.topics);
  const auto words = static_cast<double>(vocabulary.words);
  require(vocabulary.topics >= 1, "topics", topics, "at least 1");
  require(vocabulary.words >= 1, "words_per_topic", words, "at least 1");
  const double all = topics * words;
  counts_ << 1, all, all, all, all * (words - 1), all * (topics - 1) * words;
}

Isotypic CommutantAlgebra::isotypic(const Commutant& x) const {
  const auto topics = static_cast<double>(vocabulary_.topics);
  const auto words = static_cast<double>(vocabulary_.words);
  const double root = std::sqrt(topics * words);
  const double block = x[kSameWord] + (words - 1) * x[kSameTopic];  // sum over the own topic
  Isotypic parts;
  parts.trivial << x[kMaskMask], root * x[kMaskWord], root * x[kWordMask],
      block + (topics - 1) * words * x[kOtherTopic];
  parts.topic = block - words * x[kOtherTopic];
  parts.within = x[kSameWord] - x[kSameTopic];
  return parts;
}

Commutant CommutantAlgebra::commutant(const Isotypic& parts) const {
  const auto topics = static_cast<double>(vocabulary_.topics);
  const auto words = static_cast<double>(vocabulary_.words);
  const double root = std::sqrt(topics * words);
  const bool one_topic = vocabulary_.topics == 1;
  const bool one_word = vocabulary_.words == 1;
  const double g = one_topic ? 0 : (parts.trivial(1, 1) - parts.topic) / (topics * words);
  const double block = one_topic ? parts.trivial(1, 1) : parts.topic + words * g;
  const double d = one_word ? block : (block + (words - 1) * parts.within) / words;
  const double s = one_word ? 0 : d - parts.within;
  Commutant x;
  x << parts.trivial(0, 0), parts.trivial(0, 1) / root, parts.trivial(1, 0) / root, d, s, g;
  return x;
}

Commutant CommutantAlgebra::product(const Commutant& x, const Commutant& y) const {
  const Isotypic a = isotypic(x);
  const Isotypic b = isotypic(y);
  return commutant({a.trivial * b.trivial, a.topic * b.topic, a.within * b.within});
}

double CommutantAlgebra::squared_norm(const Commutant& x) const {
  return counts_.dot(x.cwiseAbs2());
}

double CommutantAlgebra::trace(const Commutant& x) const {
  return x[kMaskMask] + counts_[kSameWord] * x[kSameWord];
}

Eigen::MatrixXd CommutantAlgebra::dense(const Commutant& x) const {
  const Index size = vocabulary_.size();
  return Eigen::MatrixXd::NullaryExpr(
      size, size, [&](Index i, Index j) { return x[commutant_class(vocabulary_, i, j)]; });
}

Commutant CommutantAlgebra::project(const Eigen::MatrixXd& matrix) const {
  Commutant sums = Commutant::Zero();
  for (Index j = 0; j < matrix.cols(); ++j) {
    for (Index i = 0; i < matrix.rows(); ++i) {
      sums[commutant_class(vocabulary_, i, j)] += matrix(i, j);
    }
  }
  return (counts_.array() > 0).select(sums.array() / counts_.array().max(1), 0);
}

CommutantClass commutant_class(const TopicVocabulary& vocabulary, Index row, Index column) {
  if (row == 0) return column == 0 ? kMaskMask : kMaskWord;
  if (column == 0) return kWordMask;
  if (row == column) return kSameWord;
  return vocabulary.topic(row) == vocabulary.topic(column) ? kSameTopic : kOtherTopic;
}

Commutant transposed(const Commutant& x) {
  Commutant y = x;
  std::swap(y[kMaskWord], y[kWordMask]);
  return y;
}

Commutant scalar_commutant(double c) {
  Commutant x = Commutant::Zero();
  x[kMaskMask] = c;
  x[kSameWord] = c;
  return x;
}

}  // namespace attica
