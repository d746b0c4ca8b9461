#pragma once
/// @file
/// @brief Positional against semantic attention: population loss of the two overlaps, its
/// landmarks, and the flow of online SGD on the sphere.
///
/// With r = (q*_1 - q*_2)/√2, s = (q*_1 + q*_2)/√2 and R, S the same of the student, all are
/// normal, of correlation m, R shifted by √2 e; student and teacher attend to their own token with
/// g = σ(R(R±S)) and t = (1-ω) σ(r(r±s)) + ωA. Model: PositionalTask. Loss L = E ½|T - S|_F².
/// @source model and form of the flow: Arnaboldi et al. 2025, arXiv:2506.02651; the rest is derived
/// here

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "attica/core/icl/positional.hpp"

namespace attica {

/// @brief The population loss at (e, m), its derivatives, and the scatter of its gradient.
struct PositionalTerms {
  double loss = 0;
  double d_e = 0;      ///< ∂L/∂e
  double d_m = 0;      ///< ∂L/∂m
  double scatter = 0;  ///< V = E Σ_i (∂l/∂q_i)² of the loss l of one pair
};

/// @brief L and V of one task on the whole disc: series in T_n(2e²-1) and m^{2k}.
class PositionalField {
 public:
  /// @param loss, scatter coefficients; @shape{nodes x powers}
  PositionalField(Eigen::MatrixXd loss, Eigen::MatrixXd scatter)
      : loss_(std::move(loss)), scatter_(std::move(scatter)) {}
  /// @throws Error (input) naming e where e² + m² > 1
  PositionalTerms at(const PositionalOverlaps& overlaps) const;

 private:
  Eigen::MatrixXd loss_;
  Eigen::MatrixXd scatter_;
};

/// @brief L and V on the whole disc, for all a and ω: by Mehler's formula, E[t(r,s) g(R,S)] =
/// Σ m^{i+j} t_ij g_ij with normalised Hermite coefficients, which depend on e through g and are
/// interpolated in e². Both are even in e and in m.
class PositionalLandscape {
 public:
  /// @param order even, of the last kept power of m; 80 leaves below 1e-9 up to |m| = 0.9 and 1e-6
  /// at 1
  /// @throws Error (input) unless 2 <= order <= 120, even
  explicit PositionalLandscape(int order = 80);

  /// @throws Error (input) naming a or omega
  PositionalField of(const PositionalTask& task) const;
  /// @throws Error (input) naming a, omega, or e where e² + m² > 1
  PositionalTerms terms(const PositionalTask& task, const PositionalOverlaps& at) const {
    return of(task).at(at);
  }
  /// @brief What the last 20 powers of m contribute to L: an estimate of the error of cutting
  /// there.
  double truncation(const PositionalTask& task, const PositionalOverlaps& at) const;

 private:
  /// Expectations that L and V are made of. Those without a teacher's factor depend on e alone.
  enum Moment : std::size_t {
    kStudent,            ///< g
    kStudentSquare,      ///< g²
    kCross,              ///< t g
    kScatter,            ///< g²|∇g|² + g g' ∇g·∇g', g' = σ(R(R-S))
    kScatterStudent,     ///< g|∇g|² + g' ∇g·∇g'
    kScatterCross,       ///< t times that
    kScatterFree,        ///< |∇g|² + ∇g·∇g'
    kScatterTeacher,     ///< t times that
    kScatterBothSquare,  ///< t²|∇g|² + t t' ∇g·∇g'
    kMoments
  };

  int order_;
  double teacher_ = 0;         ///< E t at ω = 0
  double teacher_square_ = 0;  ///< E t² at ω = 0
  /// Of T_n(2e²-1) m^{2k}. @shape{nodes x order/2 + 1}
  std::array<Eigen::MatrixXd, kMoments> coefficients_;
};

/// @brief (e, m) at times, rising, from t = 0, of u ← normalise(u - (η/d) ∇l) as d → ∞, t = η
/// step/d: e' = -(1-e²) L_e + e m L_m - (η/2) V e and the same with e and m exchanged. η = 0 is the
/// gradient flow on the sphere.
/// @throws Error (input) naming eta, e, a or omega; (numerical) if the solver gives up
std::vector<PositionalOverlaps> positional_flow(const PositionalLandscape& landscape,
                                                const PositionalTask& task,
                                                const PositionalOverlaps& start,
                                                double eta,
                                                std::span<const double> times);

/// @brief Expectations at the semantic state (e, m) = (0, 1), at the origin and at the positional
/// state (1, 0), of which the landmarks are made; by the trapezoid rule in two dimensions, to
/// 1e-12.
struct PositionalMoments {
  PositionalMoments();

  double teacher, teacher_square;                ///< m_1, m_2: E g, E g² at e = 0
  double positional, positional_square;          ///< n_1, n_2: the same at e = 1
  double square_rr;                              ///< E[g² He_2(r)] at e = 0
  std::array<double, 3> hermite;                 ///< E[g He_2] at e = 0: rr, rs, ss
  std::array<double, 3> hermite_shifted;         ///< at e = 1
  double linear_shifted, square_linear_shifted;  ///< E[g r], E[g² r] at e = 1
  double slope_square;                           ///< E g_R² at e = 0
  double curvature;                              ///< E g_RR
  double curvature_cross;                        ///< E g g_RR
  double gradient_square;                        ///< E|∇g|²
};

/// @name The loss at the semantic state (0, 1), and at the positional state (1, 0)
/// @{
double semantic_loss(const PositionalMoments& moments, const PositionalTask& task);
double positional_loss(const PositionalMoments& moments, const PositionalTask& task);
/// @}

/// @brief Shares ω of position at which something changes, for given a. Values above 1: it never
/// does.
struct PositionalTransitions {
  double global;            ///< above, the positional state has the lower loss
  double direction;         ///< above, the loss falls most steeply towards position from the origin
  double semantic_below;    ///< the semantic state is a minimum below
  double positional_above;  ///< the positional state is a minimum above
};
/// @throws Error (input) naming a
PositionalTransitions positional_transitions(const PositionalMoments& moments, double a);

}  // namespace attica
