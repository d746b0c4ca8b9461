/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>
#include <string>

#include "configured_study.hpp"

using namespace attica;

namespace studies_potts_body4_refusals_test {

using attica::testing::made;

TEST_CASE("body4 studies: bad input names its key",
          "[studies][study:body4-msd][study:body4-stairs]") {
  for (const Study& study : {study_named("body4-stairs"), study_named("body4-msd")}) {
    const auto refuses = [&](const Table& assignments, const char* key) {
      CHECK_THROWS_WITH(made(study, assignments), Catch::Contains("'" + std::string(key) + "'"));
    };
    refuses({{"model.sites", 3}}, "model.order");
    refuses({{"model.order_weights", List{1.0, 1.0}}}, "model.order_weights");
    refuses({{"model.colour_couplings", "cosine"}, {"model.order_weights", List{1.0}}},
            "model.order_weights");
    refuses({{"sim.initial_scale", List{0.1, 0.2}}}, "sim.initial_scale");
    refuses({{"model.sites", 900}}, "model.sites");
    refuses({{"model.colours", 64}, {"model.order", 6}, {"model.colour_couplings", "cosine"}},
            "model.order");
  }
}

}  // namespace studies_potts_body4_refusals_test
