#pragma once
/// @file
/// @brief Matrices over the tokens of a topic model that do not change when words are relabelled
/// inside topics or topics are relabelled: an algebra of six coordinates.
///
/// Token 0 is [MASK]; word u of topic t is token 1 + t v + u. An invariant matrix takes one value
/// on each of six classes of entries. Its action splits into a 2 x 2 block on (mask, mean over all
/// words), a factor on contrasts between topics (T-1 times) and one on contrasts between words
/// inside a topic (T (v-1) times); products, sums and inverses act on these parts separately.
/// Schur's lemma; the reduction of topic models to these coordinates is ours.

#include <Eigen/Core>

namespace attica {

/// @brief T topics of v words each, and the mask token.
struct TopicVocabulary {
  Eigen::Index topics = 1;  ///< T
  Eigen::Index words = 1;   ///< v, words per topic

  Eigen::Index all_words() const { return topics * words; }
  Eigen::Index size() const { return 1 + all_words(); }  ///< D
  /// The topic of a word (token >= 1).
  Eigen::Index topic(Eigen::Index token) const { return (token - 1) / words; }
};

/// The classes of entries (row, column).
enum CommutantClass : Eigen::Index {
  kMaskMask,    ///< x00
  kMaskWord,    ///< x0w: row mask
  kWordMask,    ///< xw0: column mask
  kSameWord,    ///< d: the diagonal
  kSameTopic,   ///< s: two words of one topic
  kOtherTopic,  ///< g: words of different topics
};
constexpr Eigen::Index kCommutantClasses = 6;

/// An invariant matrix by its entry in each class, in the order of CommutantClass.
using Commutant = Eigen::Matrix<double, kCommutantClasses, 1>;

/// @brief The parts on which an invariant matrix acts separately.
struct Isotypic {
  Eigen::Matrix2d trivial = Eigen::Matrix2d::Zero();  ///< on (e_mask, sum of words / sqrt(T v))
  double topic = 0;                                   ///< on contrasts between topics
  double within = 0;                                  ///< on contrasts within a topic
};

/// @brief Products, norms and conversions of invariant matrices of one vocabulary.
///
/// Entries of empty classes (other words of the topic if v = 1, other topics if T = 1) are 0 in all
/// results.
class CommutantAlgebra {
 public:
  explicit CommutantAlgebra(const TopicVocabulary& vocabulary);

  const TopicVocabulary& vocabulary() const { return vocabulary_; }
  /// Number of entries of each class.
  const Commutant& counts() const { return counts_; }
  /// Multiplicities of the two contrasts; the trivial part occurs once.
  double topic_multiplicity() const { return static_cast<double>(vocabulary_.topics - 1); }
  double within_multiplicity() const {
    return static_cast<double>(vocabulary_.topics * (vocabulary_.words - 1));
  }

  Isotypic isotypic(const Commutant& x) const;
  Commutant commutant(const Isotypic& parts) const;

  Commutant product(const Commutant& x, const Commutant& y) const;
  double squared_norm(const Commutant& x) const;  ///< of the matrix, Frobenius
  double trace(const Commutant& x) const;

  Eigen::MatrixXd dense(const Commutant& x) const;  ///< @shape{D x D}
  /// @brief The mean entry of each class: the projection on invariant matrices.
  Commutant project(const Eigen::MatrixXd& matrix) const;

 private:
  TopicVocabulary vocabulary_;
  Commutant counts_;
};

/// The class of an entry.
CommutantClass commutant_class(const TopicVocabulary& vocabulary,
                               Eigen::Index row,
                               Eigen::Index column);
/// The transposed matrix.
Commutant transposed(const Commutant& x);
/// c times the identity.
Commutant scalar_commutant(double c);

}  // namespace attica
