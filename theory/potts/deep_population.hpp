#pragma once
/// @file
/// @brief Deep factored attention on the whole population: what the training theory is given for a
/// theory of the times at which layers learn.
///
/// The network is that of sim/potts/deep_factored.hpp: with site i masked, x^0_j = e_{s_j} for
/// j != i and 0 for i; z^l = A_l x^{l-1} V_l^T, x^l = r x^{l-1} + (z^l)^2 entry by entry, logits
/// (z^N)_i. Here every context of every site is one row of a table, and a sample is a context with
/// a colour of the masked site.
///
/// Source of the question: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2410.19637).

#include <cstdint>
#include <vector>

#include "attica/core/grouped_population.hpp"
#include "attica/core/population_model.hpp"
#include "attica/core/potts/body_model.hpp"

namespace attica {

/// @brief A network's maps A_l, V_l, first layer first.
using DeepLayers = std::vector<FactoredAttention>;

/// @brief All entries, layer by layer: A_l by columns, then V_l by columns.
Eigen::VectorXd packed_layers(const DeepLayers& layers);

/// @brief Losses and gradients of deep factored networks, parameters as `packed_layers` orders
/// them. Sample: row n of all contexts of site 0, of site 1, ..., with colour a: n C + a.
class DeepPopulation : public PopulationModel {
 public:
  /// @param colours C
  /// @param layers N
  /// @param residual r
  DeepPopulation(const MaskedPopulation& population,
                 Eigen::Index colours,
                 Eigen::Index layers,
                 bool residual);

  Eigen::Index parameters() const override { return layers_ * layer_size(); }
  const Eigen::VectorXd& weights() const override { return weights_; }
  void pass(const Eigen::VectorXd& theta,
            Eigen::VectorXd& losses,
            const Eigen::VectorXd* weights = nullptr,
            Eigen::VectorXd* gradient = nullptr) const override;

  /// @brief The samples that whole sequences are made of, one for each masked site: what training
  /// on stored sequences draws. @param states of the same population; @shape{states x L}
  GroupedPopulation sequences(const WeightedSequences& states) const;
  /// @brief Number of rows of all sites.
  Eigen::Index contexts() const { return first_.back(); }

 private:
  Eigen::Index layer_size() const { return sites_ * sites_ + colours_ * colours_; }

  static constexpr Eigen::Index kLanes = 8;
  using Lanes = Eigen::Array<double, kLanes, 1>;
  struct Work;
  /// Contexts of one site side by side; lanes that are left over weigh nothing.
  struct Block {
    Eigen::Index site;   ///< the masked one
    Eigen::Index first;  ///< row
    Eigen::Index count;
  };
  /// @param weights of the samples, or null: no gradient
  /// @tparam Shape L and C where they are known to the compiler, or 0
  template <class Shape>
  void pass_block(std::size_t block,
                  const Eigen::VectorXd& theta,
                  const Eigen::VectorXd* weights,
                  Shape shape,
                  Work& work,
                  Eigen::VectorXd& losses) const;

  Eigen::Index sites_;
  Eigen::Index colours_;
  Eigen::Index layers_;
  bool residual_;
  std::vector<Eigen::Index> first_;  ///< row of a site's first context; last: number of rows
  std::vector<Sequences> rows_;      ///< contexts of every site
  Eigen::VectorXd weights_;
  std::vector<Block> blocks_;
  std::vector<Lanes> inputs_;  ///< x^0 of every block, site j of colour c at j + L c
};

}  // namespace attica
