#pragma once
/// @file
/// @brief What tests of the studies of attention dynamics and latent trees share.

#include <catch2/catch.hpp>
#include <string>

#include "configured_study.hpp"

namespace attica::testing {

/// @brief What `make`, or the theory if it is accepted, says.
inline std::string refusal_with_theory(const Study& study, const Table& overrides) {
  return refusal(study, overrides, true);
}

inline Series series_of(const Study& study, const Table& overrides, const std::string& name) {
  Configuration c = configured(study, overrides);
  for (const Prediction& p : study.make(c)->theory(TheoryGrid::requested).predictions) {
    if (p.series.name == name) return p.series;
  }
  FAIL("no series " << name);
  return {};
}

}  // namespace attica::testing
