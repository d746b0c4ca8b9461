#pragma once
/// @file
/// @brief Mean and spread over runs of what a model does under gradient descent with minibatches or
/// with a fixed sample of the population, to first order in 1/B and 1/M.
///
/// Samples s occur with probability p_s, have losses l_s, gradients g_s and Hessians H_s; L, g, H,
/// T are the population's loss and its first three derivatives, Sigma = sum_s p_s g_s g_s^T - g
/// g^T. With theta the descent on the population itself, C the covariance and d the mean of a run's
/// deviation from it,
///
///     fresh batches of B   C' = (1 - eta H) C (1 - eta H) + eta^2 Sigma / B
///                          d' = (1 - eta H) d - (eta/2) T:C
///     M fixed samples      R_s' = (1 - eta H) R_s - eta (g_s - g),   C = sum_s p_s R_s R_s^T / M
///                          d' = (1 - eta H) d - (eta/2) T:C - (eta/M) sum_s p_s H_s R_s
///     mean                 E f = f + f'.d + f'':C / 2
///
/// and batches out of M samples have both. Where batches take a random part of every sample, such
/// as one site of a sequence, they have the covariance Sigma_parts of its gradient in place of
/// Sigma: (Sigma_parts - Sigma/M) / B around M samples; where q independent parts of every sample,
/// Sigma + (Sigma_parts - Sigma)/q in place of Sigma_parts. C and R are kept along `rank` axes.
/// Everything is taken from differences of losses and reweighted gradients along them
/// (PopulationModel::pass): no second derivative, no gradient of a single sample. docs/training.md
/// derives these equations and says how far they hold.
///
/// Source: expansion of a recursion in small noise (C. W. Gardiner, Handbook of Stochastic Methods,
/// section 6.2); for fixed samples the stationary limit is that of D. R. Cox and E. J. Snell, J. R.
/// Stat. Soc. B 30 (1968) 248; range by random combinations: N. Halko, P.-G. Martinsson, J. A.
/// Tropp 2011 (arXiv:0909.4061).

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attica/core/population_model.hpp"

namespace attica {

/// @brief How batches are taken out of M samples.
enum class Revisit {
  replace,  ///< every sample of every batch at random: one may occur twice
  without,  ///< every batch at random, its samples distinct
  epoch,    ///< floor(M/B) disjoint batches in a random order, anew every epoch
};

enum class Update {
  descent,     ///< theta -= eta g
  heavy_ball,  ///< v = momentum v + g, theta -= eta v
  adam,        ///< Kingma and Ba 2014 (arXiv:1412.6980), bias-corrected; by pairs only
};

/// @brief A training run.
struct TrainingPlan {
  Eigen::VectorXd start;                           ///< @shape{P}
  std::function<double(std::uint64_t step)> rate;  ///< eta of update 0, 1, ...
  Update update = Update::descent;
  double momentum = 0;
  double decay = 0;        ///< lambda; the reported losses have no penalty
  bool decoupled = false;  ///< theta -= eta lambda theta, in place of lambda theta in the gradient
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< adam
  double clip_norm = 0;      ///< longer gradients are shortened to it; 0: never; by pairs only
  std::int64_t batch = 0;    ///< B; 0: the whole population, or all samples
  std::int64_t samples = 0;  ///< M; 0: fresh data
  Revisit revisit = Revisit::epoch;
  /// What a batch takes of a sample, such as one site of a sequence: a model with the same
  /// parameters that has every part as a sample, where the loss of a sample is the mean of those of
  /// its parts. Outlives the plan; null: whole samples. Not by pairs, and of M samples with
  /// `Revisit::replace` alone.
  const PopulationModel* parts = nullptr;
  std::int64_t parts_taken = 1;         ///< of every sample, independently of one another
  std::vector<std::uint64_t> recorded;  ///< steps, strictly ascending
};

/// @brief How the theory is computed.
struct TheoryMethod {
  enum class Kind {
    low_rank,  ///< C and R along `rank` axes; exact where these span all parameters
    dense,     ///< along as many axes as there are parameters
    pairs,     ///< runs on mirrored perturbations of p: any optimiser
  };
  Kind kind = Kind::low_rank;
  Eigen::Index rank = 40;
  /// Mirrored pairs of runs. Of kind `pairs` they give shift and spread; else, where there are any,
  /// only the next order.
  int pairs = 0;
  std::uint64_t hold = 1;  ///< steps over which H, T and Sigma are held, at the point halfway
  double step = 1e-3;      ///< of differences along unit vectors; 1e-2 where the loss has kinks
  bool numerical_error = true;  ///< estimated by a second run: half the rank, ten times the step,
                                ///< twice the hold
  bool check_gradient = true;   ///< `require_gradient_of_losses` at the start
  std::uint64_t seed = 1;
};

/// @brief Mean and spread over runs of one number.
struct Moment {
  double order_0 = 0;             ///< on the population's own path
  double shift = 0;               ///< of the mean, first order
  double size = 0;                ///< E: sum of the absolute values of the terms of the shift
  double variance = 0;            ///< over runs
  double curvature_variance = 0;  ///< part of it: tr((f'' C)^2) / 2, all there is at a minimum
  double numerical_error = 0;
  double next = 0, next_error = 0;  ///< second order, estimated by pairs; its standard error
  double unseparated = 0;           ///< adam: of the shift, which has parts of all orders
  bool by_pairs = false;

  double value() const { return order_0 + shift; }
  double sd() const;
  /// @brief Tolerance for the neglected orders: |next| + 2 next_error + unseparated, without pairs
  /// size / 3.
  double finite_size() const;
};

/// @brief What is predicted at a recorded step.
struct TrainingTheoryRecord {
  std::uint64_t step = 0;
  Moment loss;        ///< on the population: the test loss
  Moment train_loss;  ///< on the samples; the same as `loss` without
  Moment batch_loss;  ///< on the batch of this step, before the update
  std::vector<Moment> observed = {};
  double sharpness = 0;          ///< largest eigenvalue of H, penalty included
  double growth = 0;             ///< minus its smallest eigenvalue
  std::string undescribed = {};  ///< empty, or why nothing is predicted from here on
};

/// @brief A smooth number of the parameters. Called from several threads at once.
using Observable = std::function<double(const Eigen::VectorXd& theta)>;

/// @brief Refuses a model whose gradient is not the derivative of its losses: compares them along
/// the gradient and two random directions. `training_theory` and `training_flow` do so at the
/// start.
/// @param step of the differences
/// @throws Error (input) naming `gradient`
void require_gradient_of_losses(const PopulationModel& model,
                                const Eigen::VectorXd& theta,
                                double step = TheoryMethod{}.step);

/// @brief The predictions of a plan. They are the same bytes for any number of threads.
/// @return a record for every recorded step; fewer if the path has not stayed finite
/// @throws Error (input) naming the field of plan or method that is out of its domain
std::vector<TrainingTheoryRecord> training_theory(const PopulationModel& model,
                                                  const TrainingPlan& plan,
                                                  const std::vector<Observable>& observables = {},
                                                  const TheoryMethod& method = {});

}  // namespace attica
