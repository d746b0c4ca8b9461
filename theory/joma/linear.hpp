#pragma once
/// @file
/// @brief Joint dynamics of attention and a linear MLP in closed form: erf growth, blow-up, several
/// units, linear attention, and the fluctuations of SGD about it.
///
/// One query, loss linear in the hidden units, exponential attention with T = A = 1. With
/// Delta_l = E[g x_l] ("discriminancy times frequency") and the invariant z_l = v_l^2/2 + c_l,
///
///     v_l' = Delta_l e^{c_l} exp(v_l^2/2),
///     erf(v_l(t)/sqrt2) = erf(v_l(0)/sqrt2) + sqrt(2/pi) Delta_l e^{c_l} t .
///
/// From zero, erf(v_l/sqrt2)/Delta_l is one number for all tokens, and the token with the largest
/// |Delta| blows up at t* = sqrt(pi/2)/|Delta|, taking all attention. Source: Tian et al. 2023
/// (arXiv:2310.00535), Theorem 2; the factor sqrt2 follows from exp(v^2/2).

#include <Eigen/Core>
#include <vector>

namespace attica {

/// One token's equation.
struct ErfToken {
  double delta = 0;
  double start = 0;   ///< v(0)
  double offset = 0;  ///< c = z(0) - v(0)^2/2
};

/// @brief t*, +inf if delta = 0.
double erf_blowup_time(const ErfToken& token);
/// @brief v(t). @throws Error (input, `time`) unless 0 <= t < t*, with t* in the message
double erf_value(const ErfToken& token, double time);
/// @brief Blow-up time of several tokens from zero start, that of the largest |delta|; +inf if all
/// are 0.
double joint_blowup_time(const std::vector<double>& delta);
/// @brief v of all tokens at t = fraction t*; tokens that tie with the winner included.
/// @param fraction 0 <= fraction < 1; with t* = +inf the solution is 0 throughout
std::vector<double> erf_values(const std::vector<double>& delta, double fraction);
/// @brief The same from the relative distance gap = (t* - t)/t* to the blow-up, however small; the
/// winner's is sqrt2 erfc_inv(gap). @param gap 0 < gap <= 1
std::vector<double> erf_values_at_gap(const std::vector<double>& delta, double gap);

/// @brief softmax(z), z_l = v_l^2/2, and its entropy in nats.
std::vector<double> joma_attention(const std::vector<double>& v);
double attention_entropy(const std::vector<double>& p);
/// @brief The entropy of softmax(logits), nats.
double softmax_entropy(const Eigen::VectorXd& logits);

/// @brief y = sqrt(pi/2) erf(v/sqrt2), in which drift and noise of SGD are constant.
double erf_coordinate(double v);

/// @brief Stochastic gradient descent about the closed form, in the coordinate
/// y = sqrt(pi/2) erf(v/sqrt2), in which it is a random walk with drift Delta and constant noise.
struct ErfWalk {
  double delta = 0;
  double variance = 0;  ///< Var(g x_l) of one sample
  double eta = 0;       ///< learning rate; time = eta x steps
  double batch = 1;     ///< samples per step
  double start = 0;     ///< v(0); with an offset c, delta is e^c Delta, variance e^2c Var(g x_l)

  /// @brief sqrt(eta t variance / batch)
  double deviation(double time) const;
  /// @brief E[y] - y(0) - Delta t to first order in eta,
  ///     -(eta/2) (q/Delta) [ (v^2 - v(0)^2)/2 + int_v(0)^v e^(-u^2/2) int_v(0)^u e^(w^2/2) dw du
  ///     ],
  /// q = Delta^2 + variance/batch, v the closed form; 0 for Delta = 0. The inner integrals are
  /// Dawson's, D(u/sqrt2) sqrt2 e^(u^2/2) from 0 to u. The first term is what the curvature of y(v)
  /// makes of squared steps, the second what they take from z - v^2/2.
  double bias(double time) const;
};

}  // namespace attica
