#pragma once
/// @file
/// @brief The last moments before the blow-up of exponential attention with a linear unit,
///     v_l' = Delta_l exp(v_l^2/2)        from v = 0,
/// to gaps (t* - t)/t* that time itself cannot resolve: by integration, the independent route to
/// the closed forms of linear.hpp (Tian et al. 2023, arXiv:2310.00535, Theorem 2).

#include <cstddef>
#include <vector>

namespace attica {

/// Tolerance of the integrations below, per step.
inline constexpr double kBlowupTolerance = 1e-13;

/// @brief Whether token l has the largest |Delta|, alone or tied.
bool wins_blowup(const std::vector<double>& delta, std::size_t l);

/// @brief 1 - attention of all winners, softmax(v^2/2), without cancellation.
double attention_deficit(const std::vector<double>& delta, const std::vector<double>& v);

/// @brief v of all tokens at relative gaps (t* - t)/t*, integrated in -ln gap.
/// @param gaps falling, 0 < gap <= 1
/// @return v of all tokens, gap by gap
/// @throws Error (numerical) if an integration fails
std::vector<std::vector<double>> erf_values_integrated(const std::vector<double>& delta,
                                                       const std::vector<double>& gaps);

/// @brief t*, integrated in the clock dt/ds = exp(-max v^2/2), in which nothing overflows.
/// @throws Error (numerical) if the integration fails
double blowup_time_integrated(const std::vector<double>& delta);

}  // namespace attica
