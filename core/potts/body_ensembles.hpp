#pragma once
/// @file
/// @brief Families of hyperedges, couplings and colour tensors of the p-body Potts model.

#include <Eigen/Core>
#include <vector>

#include "attica/core/potts/body_model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// Most hyperedges of a model.
inline constexpr double kMostHyperedges = 1e6;

/// @brief All sets of p of the L sites in lexicographic order, couplings 0.
/// @throws Error (input, `order`) unless 2 <= p <= L; (input, `sites`) if there are too many
Hyperedges all_hyperedges(Eigen::Index sites, int order);
/// @brief `count` different ones of these, at random.
Hyperedges random_hyperedges(const Hyperedges& all, Eigen::Index count, RandomStream& stream);
/// @brief Edges per site, E p / L: a coupling of 1/sqrt of it keeps the fields of order 1.
double edges_per_site(const Hyperedges& edges, Eigen::Index sites);
/// @brief A fixed generic choice: J_e = cos(1 + 0.5 sum of its sites + 0.8 product of its sites),
/// sites from 0.
Eigen::VectorXd cosine_body_couplings(const Hyperedges& edges);

/// @brief A tensor of independent standard normals, averaged over the permutations of its indices
/// and scaled to mean square 1.
ColourTensor gaussian_tensor(int order, Eigen::Index colours, RandomStream& stream);
/// @brief A fixed generic tensor: sin(1 + 0.9 e_1 + 1.7 e_2 + 0.6 e_p) with the elementary
/// symmetric polynomials e_k of the p colours, colours from 0.
ColourTensor cosine_tensor(int order, Eigen::Index colours);

/// @brief The pure r-index part: what depends on r of the colours and on no fewer. With
/// Pi = 1 - 11^T/C and the mean M = 11^T/C on each index, U = sum over r of the sum over all
/// choices of r indices with Pi there and M elsewhere (analysis of variance). r = 0..p.
ColourTensor pure_part(const ColourTensor& tensor, int r);
/// @brief sum_r weights[r-1] U_r / rms(U_r) over r = 1..p, U_r the pure r-index part: how strongly
/// single sites, pairs, ... are coupled. A part that is absent in U cannot be weighted.
/// @throws Error (input, `order_weights`) unless there are p finite weights, or where a part that
/// is to be weighted vanishes
ColourTensor graded(const ColourTensor& tensor, const std::vector<double>& weights);

}  // namespace attica
