#pragma once
/// @file
/// @brief Whole steps of descent on a population, all parts trained and all penalised: 24 numbers
/// and all entries take the same. Every run of topics-two-stage compares them, at these settings.

#include <string>
#include <vector>

#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/dynamics.hpp"

namespace attica {

/// @brief One loss from one start.
struct WholeSteps {
  TopicLoss loss;
  bool split;

  static std::vector<WholeSteps> all();
  /// @brief The series: norms and loss after the last step.
  static const std::vector<std::string>& names();

  Curves predicted() const;
  /// @brief Empty if a step left the finite numbers.
  Curves simulated() const;

 private:
  static constexpr double kEta = 1;
  static constexpr double kEpsilon = 0.4;
  static constexpr std::uint64_t kSteps = 80;

  static TopicModel model();
  TopicDynamics dynamics() const;
  Curves curves() const;
};

}  // namespace attica
