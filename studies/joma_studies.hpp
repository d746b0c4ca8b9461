#pragma once
/// @file
/// @brief The studies of joint dynamics of attention and MLP, of latent trees, and of deep
/// transformers.

#include "attica/studies/study.hpp"

namespace attica {

Study joma_invariants();
Study joma_softmax();
Study joma_erf();
Study joma_blowup();
Study joma_entropy_gd();
Study joma_convergence_time();
Study joma_salience();
Study joma_bounce();
Study tree_cooccurrence();
Study tree_latents();
Study deep_entropy();
Study deep_stable_rank();
Study deep_learning_rate();

}  // namespace attica
