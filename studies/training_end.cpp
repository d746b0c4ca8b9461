#include "attica/studies/training_end.hpp"

#include <fmt/format.h>

namespace attica {

void mark_end(Outcome& outcome, const networks::TrainingResult& end) {
  if (end.status != networks::TrainingStatus::diverged) return;
  outcome.status = "diverged";
  outcome.failed = true;
  outcome.message = fmt::format("training diverged at step {}", end.step);
}

}  // namespace attica
