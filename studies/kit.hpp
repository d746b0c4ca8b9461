#pragma once
/// @file
/// @brief The words in which studies are written.

#include "attica/core/error.hpp"
#include "attica/core/lazy.hpp"
#include "attica/studies/at_point.hpp"
#include "attica/studies/by_replicate.hpp"
#include "attica/studies/card.hpp"
#include "attica/studies/choices.hpp"
#include "attica/studies/claims.hpp"
#include "attica/studies/curves.hpp"
#include "attica/studies/grids.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/studies/pointwise.hpp"
#include "attica/studies/sources.hpp"
#include "attica/studies/study.hpp"
