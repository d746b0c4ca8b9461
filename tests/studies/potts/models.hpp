#pragma once
/// @file
/// @brief Models and files that tests of the Potts studies share.

#include <fstream>
#include <string>

#include "attica/studies/study.hpp"

namespace attica::testing {

/// @brief A model of cosine couplings.
inline const Table kCosine{{"model.couplings", "cosine"},
                           {"model.colour_couplings", "cosine"},
                           {"model.zero_sum", false},
                           {"model.sites", 4},
                           {"model.colours", 3},
                           {"model.beta", 1.2}};

/// @brief Both lists of values.
inline Table with(Table base, const Table& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

/// @brief Writes a file of that name and content into the build folder. @return its path
inline std::string file_with(const std::string& name, const std::string& text) {
  const std::string path = std::string(ATTICA_BINARY_DIR) + "/" + name;
  std::ofstream(path) << text;
  return path;
}

}  // namespace attica::testing
