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

/// @name One pair apart
/// A start at right angles but for one pair of overlap g, by symmetry three numbers: the overlap of
/// the pair, of one of it with another token, and of two others.
/// @{
/// The mean over all pairs at times, rising. @throws as overlap_curve, naming overlap (-1 < g < 1)
std::vector<double> pair_curve(const TokenDynamics& dynamics,
                               double overlap,
                               std::span<const double> times);
/// When it reaches 1 - δ. @throws as clustering_time
double pair_clustering_time(const TokenDynamics& dynamics, double overlap, double delta);
/// @}

/// @name Finite dimension
/// Overlaps of independent uniform starts are uncorrelated, of mean 0 and variance 1/d: a mean over
/// starts is off its limit by n(n-1)/4d times the second derivative by g of the above, to order
/// 1/d.
/// @{
/// d (E ρ(t) - ρ), at times, rising.
std::vector<double> overlap_shift(const TokenDynamics& dynamics, std::span<const double> times);
/// d (E T - T).
double clustering_shift(const TokenDynamics& dynamics, double delta);
/// @}

}  // namespace attica
