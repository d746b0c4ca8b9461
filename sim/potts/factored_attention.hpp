#pragma once
/// @file
/// @brief Training of factored attention on masked sequences: a fast step, at all sites or at one
/// random site of every sequence.
///
/// Logits h_ia = sum_{j != i} A_ij V[a, s_j]; loss = mean over the masked sites of
/// -ln softmax(h_i)[s_i], in nats. Masking every site or one random site has the same expectation.
/// All sites: batches in chunks whose seen values X (L x chunk C) make every product one matrix
/// product: H = A X, dA = G X^T, dX = A^T G with G = dloss/dH. One site: O(L C) per sequence.
///
/// Source: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2304.07235).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "attica/core/potts/model.hpp"
#include "attica/sim/networks/optimiser.hpp"
#include "attica/sim/networks/parameters.hpp"
#include "attica/sim/networks/training.hpp"

namespace attica {

/// @brief Parameters "A" (L x L, diagonal 0) and "V" (C x C; row = seen colour, the transpose of
/// FactoredAttention::values) with their gradient and workspace. One object per thread.
template <class T>
class FactoredNetwork {
 public:
  /// @param sites L >= 2; @param colours C >= 2
  FactoredNetwork(Eigen::Index sites, Eigen::Index colours);

  void set(const FactoredAttention& values);
  FactoredAttention values() const;

  networks::Parameters<T>& parameters() { return parameters_; }
  std::span<const T> gradient() const {
    return {gradient_.data(), static_cast<std::size_t>(gradient_.size())};
  }

  /// @brief Loss and gradient with every site masked in turn.
  double loss_and_gradient(const Sequences& batch);
  /// @brief The same where sequences count by their weights.
  double loss_and_gradient(const WeightedSequences& batch);
  /// @brief Loss and gradient with one masked site per sequence.
  /// @param masked one site per sequence
  double loss_and_gradient(const Sequences& batch, std::span<const std::int32_t> masked);

 private:
  double all_sites(const Sequences& batch, const Eigen::VectorXd& weights);
  double add_chunk(const Sequences& batch, Eigen::Index first, Eigen::Index count);

  Eigen::Index sites_;
  Eigen::Index colours_;
  networks::Parameters<T> parameters_;
  Eigen::Array<T, Eigen::Dynamic, 1> gradient_;
  networks::Buffer<T> seen_, logits_, upstream_, by_colour_;
  std::vector<std::int32_t> targets_;
  std::vector<double> weights_;
};

extern template class FactoredNetwork<float>;
extern template class FactoredNetwork<double>;

/// Which sites of a sequence enter a step's loss.
enum class MaskedSites { all, one };

/// @brief What a training run does.
struct FactoredTraining {
  networks::OptimiserOptions optimiser;
  Eigen::Index batch = 1;  ///< B sequences per step
  MaskedSites masked = MaskedSites::all;
  std::vector<std::uint64_t> recorded;  ///< steps, ascending
};

/// Fresh sequences for a step: `count` of them, drawn from the given stream.
using SequenceSource = std::function<Sequences(Eigen::Index count, RandomStream& stream)>;
/// The same with equal sequences put together, their shares as weights.
using StateSource = std::function<WeightedSequences(Eigen::Index count, RandomStream& stream)>;

/// @brief Trains from `start` on fresh sequences.
/// @param address seed, point and replicate; data and masks of step n come from streams of step n
/// @param observe called at every recorded step with the parameters
/// @param file keeps the state of the run, to be carried on; empty: nothing is kept
/// @throws Error (input) for options out of their domain
networks::TrainingResult train_factored(
    const FactoredAttention& start,
    const FactoredTraining& plan,
    const SequenceSource& source,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, const FactoredAttention&)>& observe,
    const std::function<bool()>& stop = {},
    const std::filesystem::path& file = {});

/// @brief The same training with every site masked, faster where a batch has more sequences than
/// there are states.
networks::TrainingResult train_factored(
    const FactoredAttention& start,
    const FactoredTraining& plan,
    const StateSource& source,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, const FactoredAttention&)>& observe,
    const std::function<bool()>& stop = {},
    const std::filesystem::path& file = {});

/// How a run's start is chosen.
struct FactoredStarts {
  int count = 1;                  ///< random starts that are tried, at least 1
  double deviation = 0.1;         ///< of their entries
  std::uint64_t trial_steps = 0;  ///< steps after which they are compared
};

struct ChosenStart {
  FactoredAttention start;
  double spread = 0;  ///< highest minus lowest loss at the end of the trials
};

/// @brief Trains from each random start for the first steps of the run and takes the one with the
/// lowest loss on fresh sequences. The loss is convex in A and in V but not in both: from a part of
/// all starts SGD ends in a poor minimum, with V of the wrong sign.
/// @param address starts of id `initialisation`, sequences to compare on of id `selection`
ChosenStart choose_start(Eigen::Index sites,
                         Eigen::Index colours,
                         const FactoredStarts& starts,
                         const FactoredTraining& plan,
                         const SequenceSource& source,
                         const StreamAddress& address,
                         const std::function<bool()>& stop = {});

/// @brief Independent normal entries of the given standard deviation, zero diagonal of A.
FactoredAttention random_student(Eigen::Index sites,
                                 Eigen::Index colours,
                                 double deviation,
                                 RandomStream& stream);

/// @brief A start to repeat anywhere: A = scale sin(1 + i + 2j) off the diagonal, V = scale cos(1 +
/// 2a + c), indices from 0.
FactoredAttention wave_student(Eigen::Index sites, Eigen::Index colours, double scale);

}  // namespace attica
