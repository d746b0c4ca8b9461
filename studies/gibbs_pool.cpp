#include "attica/studies/gibbs_pool.hpp"

namespace attica {

std::vector<Parameter> gibbs_pool_parameters() {
  return {
      {.key = "sim.chains",
       .type = ParameterType::integer,
       .fallback = Value(20000),
       .meaning = "models too large to enumerate: chains that make the pool of sequences",
       .range = {.low = 16, .high = 1e7}},
      {.key = "sim.burn_in",
       .type = ParameterType::integer,
       .fallback = Value(100),
       .meaning = "models too large to enumerate: Gibbs sweeps before a chain's state is used",
       .range = {.low = 1, .high = 1e7}},
      {.key = "sim.allow_unconverged",
       .type = ParameterType::flag,
       .fallback = Value(false),
       .meaning = "use the sampler's states even where its diagnostics say it has not converged"},
  };
}

GibbsPoolOptions GibbsPoolOptions::from(const Configuration& c) {
  return {.chains = c.integer("sim.chains"),
          .burn_in = c.integer("sim.burn_in"),
          .allow_unconverged = c.flag("sim.allow_unconverged")};
}

}  // namespace attica
