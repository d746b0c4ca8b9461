#pragma once
/// @file
/// @brief Special functions that the standard library lacks.

namespace attica {

/// @brief x with erf(x) = y, |y| < 1.
double inverse_erf(double y);
/// @brief x with erfc(x) = y, 0 < y < 2: accurate to rounding for the smallest y, where
/// inverse_erf(1 - y) is not.
double inverse_erfc(double y);
/// @brief Dawson's integral exp(-x^2) int_0^x exp(t^2) dt.
double dawson(double x);

}  // namespace attica
