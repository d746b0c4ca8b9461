#pragma once
/// @file
/// @brief The one-layer network of topics as a model on its population: what the training theory
/// (theory/training) takes.
///
/// F = W_V A with A_k proportional to c_k exp(scale · w_k·q_y): tokens are one-hot, c are the
/// shares of shown tokens in an infinite document, y is what a selected position shows. A batch
/// draws documents, that is topic sets, and some selected positions in each, which are independent
/// of one another once the topics are known.

#include <Eigen/Core>
#include <vector>

#include "attica/core/grouped_population.hpp"
#include "attica/theory/topics/dynamics.hpp"

namespace attica {

/// @brief The matrices of the network, one-hot embedding.
struct TopicMatrices {
  Eigen::MatrixXd value;  ///< W_V; @shape{D x D}
  Eigen::MatrixXd key;    ///< W_K; @shape{d_a x D}
  Eigen::MatrixXd query;  ///< W_Q; @shape{d_a x D}
};

/// @brief Selected positions: a sample is a topic set with what the position shows and what its
/// true word is. Every loss has the penalties in it.
class TopicPositions : public PopulationModel {
 public:
  /// @param start has the matrices that are not trained, and the sizes of all
  /// @throws Error (input) unless documents are infinite and of the subset prior
  TopicPositions(const TopicModel& model, const TopicDynamics& dynamics, TopicMatrices start);

  /// @brief The trained matrices one after another, column by column. @shape{P}
  Eigen::VectorXd theta_of(const TopicMatrices& matrices) const;
  TopicMatrices matrices(const Eigen::VectorXd& theta) const;
  /// @brief The mean loss, without penalties.
  double loss(const Eigen::VectorXd& theta) const;
  /// @brief Whole documents: a sample is a topic set, its loss the mean over positions. Refers to
  /// this object.
  GroupedPopulation documents() const;

  Eigen::Index parameters() const override { return parameters_; }
  const Eigen::VectorXd& weights() const override { return weights_; }
  void pass(const Eigen::VectorXd& theta,
            Eigen::VectorXd& losses,
            const Eigen::VectorXd* weights = nullptr,
            Eigen::VectorXd* gradient = nullptr) const override;

 private:
  /// What a position shows, in documents of one topic set.
  struct Query {
    Eigen::Index set, shown;
    Eigen::Index first, count;  ///< its samples
  };
  struct Outputs {
    Eigen::MatrixXd attention;  ///< @shape{D x queries}
    Eigen::MatrixXd values;     ///< F; @shape{D x queries}
    Eigen::VectorXd own;        ///< |F|² + 1, or log Σ exp F; @shape{queries}
  };
  Outputs outputs(const TopicMatrices& w) const;
  void set_losses(const Outputs& out, Eigen::VectorXd& losses) const;
  double penalty(const TopicMatrices& w) const;
  bool squared() const { return dynamics_.loss == TopicLoss::squared; }

  TopicDynamics dynamics_;
  TopicMatrices start_;
  Eigen::Index parameters_;
  Eigen::MatrixXd shares_;  ///< c; @shape{D x topic sets}
  std::vector<Query> queries_;
  std::vector<Eigen::Index> words_;  ///< the true word of every sample
  Eigen::VectorXd weights_;
};

}  // namespace attica
