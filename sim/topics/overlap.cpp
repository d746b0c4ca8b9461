#include "attica/sim/topics/overlap.hpp"

#include <Eigen/QR>
#include <numeric>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Column t: P_t over mask (row 0) and words.
MatrixXd topic_laws(const OverlapDocuments& d) {
  const Index apart = d.words - d.shared;
  const Index all = d.topics * apart;
  MatrixXd laws = MatrixXd::Zero(all + 1, d.topics);
  for (Index t = 0; t < d.topics; ++t) {
    for (Index k = 0; k < d.words; ++k)
      laws(1 + (t * apart + k) % all, t) = 1 / static_cast<double>(d.words);
  }
  return laws;
}

/// What documents of one topic show, token by token.
MatrixXd shown_laws(const OverlapDocuments& d, const MatrixXd& laws) {
  VectorXd noise = VectorXd::Constant(
      laws.rows(), d.mask_rate * d.random_rate / static_cast<double>(laws.rows() - 1));
  noise[0] = d.mask_rate * (1 - d.keep_rate - d.random_rate);
  return (1 - d.mask_rate * (1 - d.keep_rate)) * laws + noise.replicate(1, laws.cols());
}

}  // namespace

OverlapContrast fit_overlap(const OverlapDocuments& d, std::int64_t count, RandomStream& stream) {
  const MatrixXd laws = topic_laws(d);
  const Index apart = d.words - d.shared;
  const Index all = laws.rows() - 1;
  const auto tau = static_cast<std::size_t>(d.topics_per_document);
  // Counts of pairs of topics in a document, and of a document's topic with its selected word.
  MatrixXd pairs = MatrixXd::Zero(d.topics, d.topics);
  MatrixXd targets = MatrixXd::Zero(laws.rows(), d.topics);
  std::vector<Index> topics(static_cast<std::size_t>(d.topics));
  std::iota(topics.begin(), topics.end(), Index{0});
  for (std::int64_t n = 0; n < count; ++n) {
    for (std::size_t k = 0; k < tau; ++k)
      std::swap(topics[k], topics[k + stream.below(topics.size() - k)]);
    const Index topic = topics[stream.below(tau)];
    const auto place = static_cast<Index>(stream.below(static_cast<std::uint64_t>(d.words)));
    const Index word = 1 + (topic * apart + place) % all;
    for (std::size_t a = 0; a < tau; ++a) {
      ++targets(word, topics[a]);
      for (std::size_t b = 0; b < tau; ++b) ++pairs(topics[a], topics[b]);
    }
  }
  const double share = 1 / static_cast<double>(tau);
  const MatrixXd shown = shown_laws(d, laws);
  const MatrixXd sigma = share * share * shown * pairs * shown.transpose() / count;
  const MatrixXd target = share * targets * shown.transpose() / count;
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver;
  constexpr double kRank = 1e-10;
  solver.setThreshold(kRank);
  solver.compute(sigma);
  const MatrixXd means = laws.transpose() * target * solver.pseudoInverse() * laws;
  if (!means.allFinite())
    throw Error(ErrorKind::numerical, "the documents do not tell the topics apart");
  OverlapContrast contrast;
  for (Index t = 0; t < d.topics; ++t) {
    for (Index s = 0; s < d.topics; ++s) {
      if (s == t) continue;
      const bool next = (s + 1) % d.topics == t || (t + 1) % d.topics == s;
      (next ? contrast.neighbour : contrast.other) += means(t, t) - means(s, t);
    }
  }
  const auto number = static_cast<double>(d.topics);
  contrast.neighbour /= 2 * number;
  contrast.other /= (number - 3) * number;
  return contrast;
}

}  // namespace attica
