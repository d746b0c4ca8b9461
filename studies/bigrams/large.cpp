/// @file
/// @brief Study bigrams-large: training curves of SGD's Gaussian surrogate on large vocabularies
/// against the mean-field recursion.

#include "attica/studies/bigrams/mean_field.hpp"

namespace attica::bigrams_large {

Study study() { return described({.name = "bigrams-large", .make = make_mean_field}); }

}  // namespace attica::bigrams_large
