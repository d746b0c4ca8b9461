#pragma once
/// @file
/// @brief A transformer on its population: every input once, every possible target of it, with
/// their probabilities. It is what the training theory (theory/training) needs of a network.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "attica/core/population_model.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica::networks {

/// @brief `factor` times the loss of a target at a site, a part of the loss of a sample.
struct PopulationTerm {
  std::int32_t site = 0;  ///< number among the sites of the inputs
  std::int32_t target = 0;
  std::int32_t sample = 0;
  double factor = 1;
};

/// @brief The trained parameters in storage order: the blocks that are not frozen. @shape{P}
template <class T>
Eigen::VectorXd trained_values(const Parameters<T>& parameters);
/// @brief Puts them back. @param theta @shape{P}
template <class T>
void set_trained_values(Parameters<T>& parameters, const Eigen::VectorXd& theta);

/// @brief Loss of sample s: l_s = sum over its terms of factor l(logits at site, target).
///
/// Inputs are evaluated once, however many samples they occur in. In single precision (T = float)
/// differences along the parameters need steps of at least 3e-3 (TheoryMethod::step).
template <class T>
class TransformerPopulation : public PopulationModel {
 public:
  /// @param network its shape, its frozen values, and which blocks are frozen; copied
  /// @param inputs  sequences and sites; targets and weights do not count
  /// @param terms   at least one of every sample
  /// @param p       probabilities of the samples; @shape{n}
  /// @throws Error (input) naming `inputs`, `terms`, `p`, or what the theory has no place for:
  /// `dropout`, `learning_rate_factor`, `decay_factor`
  TransformerPopulation(const Transformer<T>& network,
                        Batch inputs,
                        std::vector<PopulationTerm> terms,
                        Eigen::VectorXd p);
  ~TransformerPopulation() override;

  Eigen::Index parameters() const override { return parameters_; }
  const Eigen::VectorXd& weights() const override { return p_; }
  void pass(const Eigen::VectorXd& theta,
            Eigen::VectorXd& losses,
            const Eigen::VectorXd* weights = nullptr,
            Eigen::VectorXd* gradient = nullptr) const override;

  const Batch& inputs() const { return inputs_; }
  /// @brief f of a network with these parameters: an attention weight, a norm. Threads have
  /// networks of their own.
  double measure(const Eigen::VectorXd& theta,
                 const std::function<double(Transformer<T>&)>& f) const;

 private:
  struct Pool;
  class Borrowed;

  TransformerShape shape_;
  Eigen::Index parameters_ = 0;
  Batch inputs_;
  std::vector<PopulationTerm> terms_;  ///< in the order of their sites
  std::vector<std::size_t> first_;     ///< term of each site; one more at the end
  Eigen::VectorXd p_;
  std::unique_ptr<Pool> pool_;
};

/// @brief The model of a network that reads an input and names one of several targets: a sample is
/// an input with a target that it can have.
/// @param inputs one site each
/// @param law    P(input, target), sums to 1; @shape{inputs x targets}
std::unique_ptr<TransformerPopulation<double>> labelled_population(const TransformerShape& shape,
                                                                   const Batch& inputs,
                                                                   const Eigen::MatrixXd& law);

extern template class TransformerPopulation<float>;
extern template class TransformerPopulation<double>;

}  // namespace attica::networks
