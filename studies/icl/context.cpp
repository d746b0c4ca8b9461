/// @file
/// @brief Study icl-context: errors of linear attention in context against the length of the
/// context.

#include "attica/studies/icl/ridge_sweep.hpp"

namespace attica::icl_context {
namespace {

struct ContextLength : ContextSweep {
  explicit ContextLength(Configuration& c) : ContextSweep(c, ContextAxis::alpha) {}
};

}  // namespace

Study study() {
  return described(
      {.name = "icl-context",
       .make = make<ContextLength>,
       .claims = [](const Configuration&, const Observed& observed) -> std::vector<ClaimResult> {
         return {above_bayes(observed)};
       }});
}

}  // namespace attica::icl_context
