#include "attica/studies/gibbs_pool.hpp"

#include "attica/studies/parameters.hpp"

namespace attica {

std::vector<Parameter> gibbs_pool_parameters() {
  return {
      integer_parameter("sim.chains",
                        20000,
                        "models too large to enumerate: chains that make the pool of sequences",
                        {.low = 16, .high = 1e7}),
      integer_parameter(
          "sim.burn_in",
          100,
          "models too large to enumerate: Gibbs sweeps before a chain's state is used",
          {.low = 1, .high = 1e7}),
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
