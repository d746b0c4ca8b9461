#include "attica/core/icl/positional.hpp"

#include "attica/core/error.hpp"

namespace attica {

void require_valid(const PositionalTask& task) {
  require(task.a > 0 && std::isfinite(task.a), "a", task.a, "a > 0");
  require(task.omega >= 0 && task.omega <= 1, "omega", task.omega, "0 <= omega <= 1");
}

}  // namespace attica
