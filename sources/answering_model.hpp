#pragma once
/// @file
/// @brief A model whose losses and gradients a program answers.

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/population_model.hpp"
#include "attica/sources/process.hpp"

namespace attica::sources {

/// @brief A program that stays. It reads lines `{"theta": [...], "weights": [...]}` and answers
/// each with a line `{"losses": [...], "gradient": [...]}`: the losses of all samples at theta and
/// the gradient of the weighted sum of them. Weights may be negative; where they are null, losses
/// are enough. Where the line has `"observables": [names]`, the answer has `"observables": {name:
/// number}`.
class AnsweringModel : public PopulationModel {
 public:
  /// @brief Starts it and asks for the losses at the start: that many samples there are, all of
  /// equal probability.
  /// @param key of the command, for messages
  /// @throws Error (input, numerical) naming the pass, here and in `pass`
  AnsweringModel(std::string key, const Command& command, const Eigen::VectorXd& start);

  /// @throws Error (input) naming `key` for other than as many probabilities as losses
  void set_weights(const std::string& key, const Eigen::VectorXd& p);

  Eigen::Index parameters() const override { return parameters_; }
  const Eigen::VectorXd& weights() const override { return p_; }
  void pass(const Eigen::VectorXd& theta,
            Eigen::VectorXd& losses,
            const Eigen::VectorXd* weights,
            Eigen::VectorXd* gradient) const override;

  /// @brief Names of further numbers that it answers, before any is asked for.
  void set_observables(std::vector<std::string> names) { observables_ = std::move(names); }
  /// @brief One of them.
  double observable(const Eigen::VectorXd& theta, const std::string& name) const;

  /// Lines that it was sent.
  std::int64_t passes() const { return passes_; }

 private:
  struct Answer;  ///< JSON
  Answer ask(const Eigen::VectorXd& theta, const Eigen::VectorXd* weights, bool observables) const;
  Eigen::VectorXd numbers(const Answer& answer, const char* key, Eigen::Index size) const;
  std::string which() const;
  Error wrong(const Answer& answer, const std::string& expected) const;

  std::string key_, name_;
  mutable Conversation conversation_;
  mutable std::mutex mutex_;
  mutable std::int64_t passes_ = 0;
  mutable std::map<std::vector<double>, std::map<std::string, double>> kept_;
  Eigen::Index parameters_;
  Eigen::Index losses_ = 0;
  Eigen::VectorXd p_;
  std::vector<std::string> observables_;
};

}  // namespace attica::sources
