#pragma once
/// @file
/// @brief The study that a configuration defines: theory and simulation come from where its
/// [theory] and [simulation] say (`study = "own"`, or no study at all).

#include <memory>
#include <string>
#include <vector>

#include "attica/core/value.hpp"
#include "attica/studies/study.hpp"

namespace attica {

namespace sources {

/// Which points are not compared, where a configuration does not say.
inline constexpr const char* kNotCompared =
    "where the theory itself is said not to hold (compared)";

/// @brief The study of a configuration: what may be configured follows from what is written there.
/// Of [model] and [sweep] every key may be used; a side that is a study of attica's brings its
/// parameters along.
/// @param entries what the configuration says, by flat dotted key
/// @throws Error of kind input for a name that cannot be used
Study defined_study(const Table& entries);

/// @brief The parameters of a [[bound]], which every study's configuration may have.
std::vector<Parameter> bound_parameters(const std::string& name);

// What that study does.
std::unique_ptr<Experiment> sides_experiment(Configuration& c);
Figure sides_figure(const Configuration& c);
std::vector<AgreementRule> sides_agreement(const Configuration& c);
std::vector<ClaimResult> sides_claims(const Configuration& c, const Observed& observed);
BroughtSides brought_sides(const Configuration& c);

}  // namespace sources

/// @brief The study whose sides its configuration brings, before any configuration: its
/// `defined_by` makes that of one.
const Study& study_of_sides();

}  // namespace attica
