#pragma once
/// @file
/// @brief Corrupted documents of the topic model: drawn, or all of them at once.

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/core/topics/model.hpp"
#include "attica/sim/networks/batch.hpp"

namespace attica {

/// @brief A finite document: what its tokens are, what is shown, and which positions are selected.
struct TopicDocument {
  std::vector<std::int32_t> truth;
  std::vector<std::int32_t> shown;
  std::vector<std::int32_t> selected;  ///< positions, ascending, at least one
};

/// @brief What documents are drawn from: a stream, and bulk numbers of it for the inner loops.
class DocumentDraws {
 public:
  static constexpr std::size_t kMost = 64;

  /// @param rate probability with which a position is selected
  DocumentDraws(RandomStream& stream, double rate);

  RandomStream& stream() { return *stream_; }
  /// @brief `wanted` <= kMost numbers on (0, 1); they live until the next call.
  std::span<const double> uniform(std::size_t wanted);
  /// @brief Selects each of `length` positions with the rate, again until there is one.
  void select(std::size_t length, std::vector<std::int32_t>& selected);

 private:
  RandomStream* stream_;
  BulkBits bits_;
  std::array<std::uint64_t, kMost> words_;
  std::array<double, kMost> numbers_;
  std::size_t next_number_ = kMost;
  double rate_;
  std::optional<BulkBernoulli> chosen_;  ///< from the first selection on
  BulkBernoulli::Words positions_;       ///< a bit each, of one document after the other
  std::size_t next_word_ = BulkBernoulli::kWords;
  std::size_t left_ = 0;  ///< bits of the current word
};

/// @brief Documents as bags of tokens, and the questions asked of them: all that a network without
/// positions sees.
///
/// loss = Σ over targets of weight · l(F(query), word). A query is a shown token in a document.
struct TopicBatch {
  struct Query {
    Eigen::Index document;
    Eigen::Index shown;
  };
  struct Target {
    Eigen::Index query;
    Eigen::Index word;
    double weight;  ///< the weights of a batch sum to 1
  };
  Eigen::MatrixXd shares;  ///< shares of the shown tokens in each document; @shape{D x documents}
  std::vector<Query> queries;
  std::vector<Target> targets;

  /// Empties it and makes room for so many documents.
  void start(Eigen::Index tokens, Eigen::Index documents);
};

/// @brief Draws documents of a model.
class TopicSampler {
 public:
  explicit TopicSampler(TopicModel model) : model_(std::move(model)) {}

  const TopicModel& model() const { return model_; }
  /// @brief What its documents are drawn from.
  DocumentDraws draws(RandomStream& stream) const { return {stream, model_.mask_rate()}; }

  /// @param theta if not null, receives the topic weights
  /// @throws std::logic_error for infinite documents
  void draw(DocumentDraws& draws,
            TopicDocument& document,
            std::vector<double>* theta = nullptr) const;
  /// @brief Selects and corrupts positions of the document anew; its true tokens stay.
  void corrupt(DocumentDraws& draws, TopicDocument& document) const;
  /// @brief Finite documents as bags; each document weighs the same, in it each selected position.
  /// @param limit if not null, receives the shares that infinite documents of the same topics show
  /// @param expected if not null, receives the mean shares of documents with these topics and what
  /// is shown at the selected positions, over the words at all other positions
  void draw(RandomStream& stream,
            Eigen::Index documents,
            TopicBatch& batch,
            Eigen::MatrixXd* limit = nullptr,
            Eigen::MatrixXd* expected = nullptr) const;
  /// @brief Infinite documents: exact shares of shown tokens, and `queries` selected positions
  /// each.
  void draw_infinite(RandomStream& stream,
                     Eigen::Index documents,
                     Eigen::Index queries,
                     TopicBatch& batch) const;

 private:
  void draw_weights(RandomStream& stream, std::vector<double>& theta) const;
  void draw_words(DocumentDraws& draws,
                  const std::vector<double>& cumulative,
                  std::span<std::int32_t> words) const;
  /// Selected words become what is shown of them, u being uniform.
  void corrupt_tokens(std::span<const double> u, std::span<std::int32_t> tokens) const;

  TopicModel model_;
};

/// @brief Adds a document to a batch as bag number `index`; its targets share `weight`.
void append(const TopicDocument& document, Eigen::Index index, double weight, TopicBatch& batch);
/// @brief The same for a network that reads sequences; weights are those of the bag.
void append(const TopicDocument& document, double weight, networks::Batch& batch);

/// Number of topic sets of the subset prior, T over τ.
double topic_sets(const TopicModel& model);
/// @brief Throws Error (input) naming the parameter unless population gradients can be enumerated:
/// subset prior, infinite documents, at most 20000 topic sets.
void require_enumerable(const TopicModel& model);

/// How many topic sets to take: all, or one, which is enough for invariant parameters.
enum class TopicSets { all, one };
/// @brief All topic sets of the subset prior, infinite documents, with the exact law of selected
/// positions: the population loss.
/// @throws Error (input) as require_enumerable; one set is always few enough
TopicBatch population_batch(const TopicModel& model, TopicSets sets = TopicSets::all);

}  // namespace attica
