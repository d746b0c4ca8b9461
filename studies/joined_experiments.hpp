#pragma once
/// @file
/// @brief Two experiments of one study: the points of the second follow those of the first.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica {

/// @brief Both sides of both; series of different names.
class JoinedExperiments : public Experiment {
 public:
  JoinedExperiments(std::unique_ptr<Experiment> first, std::unique_ptr<Experiment> second);

  TheoryResult theory(TheoryGrid grid) const override;
  std::size_t points() const override { return first_->points() + second_->points(); }
  std::uint64_t replicates_per_piece(std::size_t point) const override;
  double relative_work(std::size_t point) const override;
  void prepare() const override;
  std::vector<Outcome> simulate(const Piece& piece) const override;
  void require_simulable() const override;
  Table diagnostics() const override;
  std::vector<std::string> warnings() const override;

 private:
  /// The experiment that has a point, and the point's number there.
  std::pair<const Experiment&, std::size_t> at(std::size_t point) const;

  std::unique_ptr<Experiment> first_;
  std::unique_ptr<Experiment> second_;
};

}  // namespace attica
