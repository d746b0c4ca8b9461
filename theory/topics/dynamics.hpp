#pragma once
/// @file
/// @brief Gradient flow and gradient descent of the one-layer network on infinite documents: 24
/// numbers.
///
/// With M = W_KᵀW_Q, C_K = W_KᵀW_K and C_Q = W_QᵀW_Q (one-hot embedding) gradient flow closes on
/// (W_V, M, C_K, C_Q) for any inner dimension, and keeps all four invariant if they start so. The
/// reduction is ours.
/// @source Y. Li, Y. Li, A. Risteski, ICML 2023, arXiv:2303.04245, Section 5 (two stages)

#include <span>
#include <string>
#include <vector>

#include "attica/core/topics/model.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {

/// @brief The state of training.
struct TopicState {
  Commutant value = Commutant::Zero();  ///< W_V
  Commutant m = Commutant::Zero();      ///< W_KᵀW_Q
  Commutant k = Commutant::Zero();      ///< W_KᵀW_K
  Commutant q = Commutant::Zero();      ///< W_QᵀW_Q
};

/// W_V = 0 and W_K = W_Q = ε I.
TopicState identity_start(double epsilon);
/// W_V = 0 and W_K = ε (I; 0), W_Q = ε (0; I): orthogonal, as wide Gaussian matrices nearly are.
TopicState split_start(double epsilon);

/// @brief What is trained and how.
struct TopicDynamics {
  TopicLoss loss = TopicLoss::squared;
  double scale = 1;              ///< scores are scale · M
  double value_penalty = 0;      ///< λ_V of + λ_V |W_V|²
  double attention_penalty = 0;  ///< λ of + λ (|W_K|² + |W_Q|²)
  bool train_value = true;
  bool train_attention = true;
};

/// @brief Gradient flow at the given times (the first may be after the start at 0).
struct TopicFlow {
  std::vector<double> times;
  std::vector<TopicState> states;  ///< for the times that were reached
  OdeStatus status = OdeStatus::finished;
};
TopicFlow topic_flow(const TopicModel& model,
                     const TopicDynamics& dynamics,
                     const TopicState& start,
                     std::span<const double> times);

/// @brief The same up to the last time.
/// @throws Error (numerical) beginning with `what` if it ends before
TopicFlow whole_topic_flow(const std::string& what,
                           const TopicModel& model,
                           const TopicDynamics& dynamics,
                           const TopicState& start,
                           std::span<const double> times);

/// @brief One step of gradient descent with rate eta, exact.
TopicState topic_descent_step(const TopicModel& model,
                              const TopicDynamics& dynamics,
                              const TopicState& state,
                              double eta);

/// @brief Population loss of a state, penalties not included.
double topic_loss(const TopicModel& model, const TopicDynamics& dynamics, const TopicState& state);

/// Frobenius norms of W_V, W_K, W_Q.
struct TopicNorms {
  double value = 0;
  double key = 0;
  double query = 0;
};
TopicNorms topic_norms(const CommutantAlgebra& algebra, const TopicState& state);

/// @brief How W_K and W_Q start to grow at W_V of Theorem 2 and M = 0: along contrasts between
/// topics only.
struct AttentionOnset {
  /// Eigenvalue of the score gradient on topic contrasts: -2 p_c (1-1/τ)(κ/τ+ρ/T) / ((T-1)κv²);
  /// 0 if p_c = 0 or τ = 1.
  double topic_contrast = 0;
  double growth_rate = 0;  ///< σ = scale |topic_contrast|
};
AttentionOnset attention_onset(const TopicModel& model, double scale);

/// @brief When the norm of (W_K, W_Q) from a small split start with W_V of Theorem 2 has grown by
/// `threshold` > 1: t = arcosh(1 + (θ²-1) D/(T-1)) / (2σ); +infinity for σ = 0. Steps η of descent
/// make (1+ησ)^2n + (1-ησ)^2n of e^{2σt} + e^{-2σt}: to first order t (1 + ησ coth(2σt)/2).
double onset_time(const TopicModel& model,
                  const AttentionOnset& onset,
                  double threshold,
                  double eta = 0);

/// @brief The eigenvalue of W_KᵀW_K on topic contrasts while attention is nearly uniform, at W_V of
/// Theorem 2: ε² e^{2σt} from the identity start, ε² cosh(2σt) from the split start, times e^{-4λt}
/// with a penalty λ.
double early_contrast(
    const AttentionOnset& onset, bool split, double epsilon, double penalty, double time);

/// @brief The two stages of a run: first time |W_V| reaches 0.9 of `plateau`, and first time
/// sqrt((|W_K|²+|W_Q|²) / value at 0) reaches `threshold`; +infinity if not by `horizon`.
struct StageBoundary {
  double value_time = 0;      ///< t_V
  double attention_time = 0;  ///< t_KQ
};
constexpr double kPlateauShare = 0.9;
StageBoundary stage_boundary(const TopicModel& model,
                             const TopicDynamics& dynamics,
                             const TopicState& start,
                             double plateau,
                             double threshold,
                             double horizon);

}  // namespace attica
