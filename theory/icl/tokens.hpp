#pragma once
/// @file
/// @brief Equiangular tokens on the sphere: all overlaps x_i·x_j are one number ρ(t). Exact for an
/// equiangular start, and the limit d → ∞ at fixed n of independent uniform starts (ρ(0) = 0).
/// @source Geshkovski, Letrouit, Polyanskiy, Rigollet 2023, arXiv:2312.10794, Theorem 6.9 (number
/// as remembered); the clustering time in closed form and the scatter are derived here

#include <span>
#include <vector>

#include "attica/core/icl/tokens.hpp"

namespace attica {

/// @brief ρ' at overlap ρ.
double overlap_rate(const TokenDynamics& dynamics, double rho);

/// @brief ρ at times, rising, from ρ(0) = start.
/// @throws Error (input) naming beta, tokens or overlap (-1/(n-1) < start < 1); (numerical)
std::vector<double> overlap_curve(const TokenDynamics& dynamics,
                                  double start,
                                  std::span<const double> times);

/// @brief The time from ρ = start to ρ = 1 - δ, in exponential integrals.
/// @throws Error (input) naming beta (β (1 - start) up to 700), tokens, overlap or delta (0 < δ < 1
/// - start)
double clustering_time(const TokenDynamics& dynamics, double start, double delta);

/// @brief d Var ρ(t) over independent uniform starts in d dimensions, in linear response: the
/// scatter of ρ(0), 2/(n(n-1)), times (F(ρ)/F(0))² with F the rate.
double overlap_variance(const TokenDynamics& dynamics, double rho);

}  // namespace attica
