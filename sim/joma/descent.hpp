#pragma once
/// @file
/// @brief Gradient descent of one-layer attention in its reduced state, and fast stochastic descent
/// of the two models that have closed theories.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attica/core/joma/model.hpp"
#include "attica/core/joma/tokens.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @brief Plain gradient descent, V += eta dV and so on, with the discrete identity of exponential
/// and linear attention accumulated along.
class JomaDescent {
 public:
  /// @param eta   learning rate > 0
  /// @param batch samples drawn with replacement by their weights; 0: the whole population
  JomaDescent(
      const JomaModel& model, JomaState start, double eta, int batch, const StreamAddress& address);

  void step();
  const JomaState& state() const { return state_; }
  std::int64_t steps() const { return steps_; }
  /// @brief What the last step added to the state.
  const JomaState& last_step() const { return descent_; }
  /// @brief Sum over steps of JomaModel::invariant_step.
  const Eigen::VectorXd& accumulated() const { return accumulated_; }
  /// @brief Whether the state and its squares are finite numbers.
  bool finite() const;
  /// @brief Exponential attention grew beyond exp(30), or a number is not finite: further steps
  /// mean nothing.
  bool blown_up() const;

 private:
  const JomaModel& model_;
  JomaState state_;
  JomaState descent_;
  double eta_;
  int batch_;
  StreamAddress address_;
  std::vector<double> cumulative_;
  std::vector<int> chosen_;
  std::vector<double> weights_;
  std::int64_t steps_ = 0;
  Eigen::VectorXd accumulated_;
};

/// @brief SGD of one hidden unit with exponential attention and linear loss:
/// v += (eta/B) sum g x e^z, z += (eta/B) sum g x v e^z.
struct ErfDescent {
  double eta = 0.02;
  int batch = 16;                  ///< B; 0: the whole population
  int context = 8;                 ///< T_ctx, tokens per sample
  Eigen::VectorXd v = {}, z = {};  ///< start, an entry for every token; empty: 0
};
/// What it has reached, an entry for every token each: weights v, logits z, and `walk`, the sum
/// over steps of eta mean(g x), which no attention multiplies.
struct ErfReached {
  Eigen::VectorXd v, z, walk;
};
/// @param steps rising; `observe` sees what is reached after so many steps
void descend_erf(const JomaTokens& tokens,
                 const ErfDescent& options,
                 std::span<const std::int64_t> steps,
                 const StreamAddress& address,
                 const std::function<void(std::size_t record, const ErfReached&)>& observe);

/// @brief Descent with whole steps on the saturating model with softmax attention,
///     v += eta (mu - v) o softmax(gamma v^2).
/// @param steps rising; `observe` sees v after so many steps
void descend_saturating(
    const Eigen::VectorXd& mu,
    const Eigen::VectorXd& start,
    double gamma,
    double eta,
    std::span<const std::int64_t> steps,
    const std::function<void(std::size_t record, const Eigen::VectorXd& v)>& observe);

/// @brief SGD of a regression on contexts of a single token l ~ P with targets y_l, exponential
/// attention, from v = z = 0: a sample of token l moves v_l by eta e^z (y - v e^z) and z_l by v
/// times that.
void descend_one_token(
    const Eigen::VectorXd& probability,
    const Eigen::VectorXd& target,
    double eta,
    int batch,
    std::span<const std::int64_t> steps,
    const StreamAddress& address,
    const std::function<
        void(std::size_t record, const Eigen::VectorXd& v, const Eigen::VectorXd& z)>& observe);

/// @brief How much the loss falls along its descent direction d, per length and |d|: 1 if d is
/// minus its gradient, whatever is conserved. A central difference of the loss alone; 1 at rest.
double descent_slope(const JomaModel& model, const JomaState& state);

/// @brief Entropy of softmax(z), nats.
double logits_entropy(const Eigen::VectorXd& z);

}  // namespace attica
