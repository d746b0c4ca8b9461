#pragma once
/// @file
/// @brief The studies of masked modelling on Potts data.

#include "attica/studies/study.hpp"

namespace attica {

Study potts_loss();
Study potts_couplings();
Study potts_learning();
Study potts_flow();
Study potts_peak();
Study potts_square();
Study potts_sampler();
Study potts_alignment();
Study body4_stairs();
Study body4_msd();

}  // namespace attica
