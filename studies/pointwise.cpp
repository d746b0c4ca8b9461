#include "attica/studies/pointwise.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attica {

std::uint64_t PointwiseExperiment::replicates_per_piece(std::size_t point) const {
  constexpr double kFlopsPerPiece = 2e9;  // less than a tenth of a second, as a rule
  constexpr double kMost = 200;
  if (deterministic(point)) return std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint64_t>(
      std::clamp(std::floor(kFlopsPerPiece / flops(point)), 1.0, kMost));
}

double PointwiseExperiment::relative_work(std::size_t point) const {
  const double work = flops(point);
  return std::isfinite(work) ? work : 0;
}

std::vector<std::string> PointwiseExperiment::warnings() const {
  std::vector<std::string> all = warnings_;
  for (const RoundedValues& values : rounded_) {
    for (std::string& line : values.lines()) all.push_back(std::move(line));
  }
  return all;
}

void PointwiseExperiment::require_simulable() const {
  for (const RoundedValues& values : rounded_) values.require_distinct();
}

std::vector<Outcome> PointwiseExperiment::simulate(const Piece& piece) const {
  require_simulable();
  if (deterministic(piece.point)) {
    return std::vector<Outcome>(piece.replicates, run({piece, piece.first_replicate}));
  }
  std::vector<Outcome> outcomes;
  for (std::uint64_t r = 0; r < piece.replicates && !piece.stop.stop_requested(); ++r) {
    outcomes.push_back(run({piece, piece.first_replicate + r}));
  }
  return outcomes;
}

}  // namespace attica
