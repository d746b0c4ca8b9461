#pragma once
/// @file
/// @brief Topics that share words: what the best value matrix keeps of the contrast between them.

namespace attica {

/// @brief Mean over words of the own topic less mean over words of another one, of entries of W_V,
/// for infinite documents under uniform attention.
///
/// W_V P_t = P_t/κ + c for all t (docs/topics.md), and of topics of v equally likely words, s of
/// them common to both, |P_t|² - P_s·P_t = (1 - s/v)/v.
/// @param kappa κ, share of shown tokens that are the true one; 0 < κ <= 1
/// @param words v
/// @param shared s, words that the two topics have in common
/// @source ours, by the equation behind Theorem 2 of Y. Li, Y. Li, A. Risteski, arXiv:2303.04245
inline double overlap_contrast(double kappa, double words, double shared) {
  return (1 - shared / words) / (kappa * words);
}

}  // namespace attica
