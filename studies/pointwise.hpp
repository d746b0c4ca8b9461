#pragma once
/// @file
/// @brief What most experiments are: a number of points, each simulated replicate by replicate.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/studies/rounded_values.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// @brief One replicate of one point.
struct Replicate {
  const Piece& piece;
  std::uint64_t number;  ///< in the run

  std::size_t point() const { return piece.point; }
  StreamAddress address(StreamId id = StreamId::data) const { return piece.stream(number, id); }
  RandomStream stream(StreamId id = StreamId::data) const { return RandomStream(address(id)); }
  /// Where a long simulation keeps its state; empty: nowhere.
  std::filesystem::path state_file() const { return piece.state_file(number); }
  /// Whether the run is to end: a long simulation asks now and then; its result is dropped.
  bool stopped() const { return piece.stop.stop_requested(); }
};

/// @brief An experiment that says how one replicate is made; pieces, copies of what is not random,
/// and what is told of the problem are looked after here.
///
/// Constructors only check and prepare what is cheap; what is expensive waits, as a Lazy, for
/// `theory` or `run`.
class PointwiseExperiment : public Experiment {
 public:
  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t point) const final;
  double relative_work(std::size_t point) const final;
  std::vector<Outcome> simulate(const Piece& piece) const final;
  Table diagnostics() const override { return diagnostics_; }
  std::vector<std::string> warnings() const override;
  /// Refuses values that would be run alike; studies that refuse more call it.
  void require_simulable() const override;

 protected:
  virtual Outcome run(const Replicate& replicate) const = 0;
  /// Work of a replicate in floating-point operations; a slow one, by default, is a piece of its
  /// own.
  virtual double flops(std::size_t /*point*/) const {
    return std::numeric_limits<double>::infinity();
  }
  /// Whether all replicates are equal by design: one is then made, and compared exactly.
  virtual bool deterministic(std::size_t /*point*/) const { return false; }

  Table diagnostics_ = {};
  std::vector<std::string> warnings_ = {};
  std::vector<RoundedValues> rounded_ = {};  ///< said among the warnings
};

/// @brief Makes an experiment that its configuration alone determines.
template <class E>
std::unique_ptr<Experiment> make(Configuration& c) {
  return std::make_unique<E>(c);
}

}  // namespace attica
