/// @file
/// @brief Study bigrams-recursion: training curves of SGD against the mean-field recursion.

#include "attica/studies/bigrams/mean_field.hpp"

namespace attica::bigrams_recursion {

Study study() { return described({.name = "bigrams-recursion", .make = make_mean_field}); }

}  // namespace attica::bigrams_recursion
