/// @file
/// @brief Study bigrams-recursion: training curves of SGD against the mean-field recursion.

#include "attica/studies/bigrams/mean_field.hpp"

namespace attica::bigrams_recursion {

Study study() {
  return described({.name = "bigrams-recursion",
                    .make = make_mean_field,
                    .agreement = [](const Configuration& c) { return mean_field_rules(c, 0.03); }});
}

}  // namespace attica::bigrams_recursion
