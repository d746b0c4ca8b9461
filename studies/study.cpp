#include "attica/studies/study.hpp"

namespace attica {

std::vector<Outcome> each_replicate(const Piece& piece,
                                    const std::function<Outcome(std::uint64_t)>& simulate) {
  std::vector<Outcome> outcomes;
  for (std::uint64_t r = 0; r < piece.replicates && !piece.stop.stop_requested(); ++r)
    outcomes.push_back(simulate(piece.first_replicate + r));
  return outcomes;
}

}  // namespace attica
