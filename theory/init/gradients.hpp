#pragma once
/// @file
/// @brief Gradients back through a transformer at initialisation, at leading order in 1/d or with
/// the next.
///
/// Of the loss Σ_t g_t·x_t after the last block, g_t ~ N(0, 1/d). γ0 is the mean squared gradient
/// at a token, γ1 the mean overlap of two tokens' gradients, which is kept because (T-1) γ1
/// competes with γ0. Every normalisation divides by its mean squared norm q. With c, Y, C, J of the
/// way forward and J2 = E tr J_A J_B of two rows:
///
///     MLP        γ0 ← (γ0/q)(m² + s_w⁴/2),  γ1 ← (γ1/q)(m² + s_w⁴ (π - arccos ρ)/(2π))
///     attention  γ0, γ1 ← γ0/q, γ1/q;  D0 = s_v²(1-c) γ0 J,  D1 = s_v²(1-c) γ1 J2,
///                V0 = s_v²(γ0 Y + (T-1) γ1 C),  K0 = s0² (D0 + (T-1) c D1)
///                γ0' = a²γ0 + V0 + s0²(1-c) D0 + K0
///                γ1' = a²γ1 + [s_v²(γ0 + (T-1) γ1) - V0]/(T-1) + s0²(1-c) D1 - K0/(T-1)
///
/// Beyond it: c is the mean over networks to first order. Divisions by q have the mean of 1/|y|²,
/// Var |y|² of order 1/d, less what the units that are on have in common with |y|², and less the
/// gradient's component along y, which a normalisation removes. (1-c)² in the gradients of W_Q and
/// W_K stands for a product of two centred Gram matrices G̃ of the tokens, D0 ∝ tr J G̃ J G̃. Its mean
/// has the spread of 1-c between networks besides, and the scatter f of pairs in one (1-c)² f =
/// Var G̃_ts (`pair_scatter`): it adds f [(tr J)² + tr J²] to tr J². So it grows by T/d from block
/// to block. Gradients of keys weigh a row of attention with |q|², to which the row is related.

#include <vector>

#include "attica/theory/init/propagation.hpp"

namespace attica {

/// Gradients at the input of a block and of its weights.
struct BlockGradients {
  double own = 0;           ///< γ0
  double overlap = 0;       ///< γ1
  double value_weight = 0;  ///< |∂loss/∂W_V|²/(T d)
  double query_weight = 0;  ///< the same of W_Q
  double key_weight = 0;    ///< of W_K; at leading order the same
  double clones = 0;        ///< as in BlockMoments
};

/// @brief Blocks 1 ... `blocks`, in this order. @param order 0: leading order; 1: as said above,
/// for 0 < p
std::vector<BlockGradients> back_propagate(const InitialTransformer& network,
                                           int blocks,
                                           int order = 0);

/// @brief κ, by which the second moment of the tokens' centred Gram matrix grows per block in units
/// of T/d, and with it the gradients of W_Q and W_K beyond leading order.
double gram_growth(const InitialTransformer& network);

}  // namespace attica
