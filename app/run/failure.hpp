#pragma once
/// @file
/// @brief What is said where numbers fail: at which point of the run, and which setting to change.

#include <exception>
#include <string>

#include "attica/app/run/results.hpp"
#include "attica/app/run/work.hpp"
#include "attica/app/verdict/verdict.hpp"

namespace attica::app {

/// A setting of the user, for messages.
struct FarSetting {
  std::string key;   ///< empty: there is none
  std::string text;  ///< "model.beta = 50 (default 1)"
};

/// @brief The number that is farthest from its default among those that the user set.
/// @param point of lists and swept scalars the value there, where it has one
FarSetting farthest_setting(const CheckedConfiguration& configuration, const Point& point);

/// @brief An error of a study's computation in the user's terms. A parameter of the study is named
/// with its place in the configuration, if it was written there. Of any other quantity, and of a
/// number that failed, the place is told, and the setting that is farthest from its default.
/// @param point what is known of the coordinates
/// @param place more of it in words: "point 3 of 11"; may be empty
Error explained(const Error& error,
                const CheckedConfiguration& configuration,
                const Point& point = {},
                const std::string& place = {});

/// @brief Throws what a study threw, explained: memory that does not suffice is told of the size
/// that is farthest above its default.
/// @param values of this problem of the sweep
[[noreturn]] void rethrow_explained(const std::exception_ptr& error,
                                    const CheckedConfiguration& configuration,
                                    const Configuration& values,
                                    const Point& point = {},
                                    const std::string& place = {});

/// @brief Throws an Error of kind numerical with replicate, point and setting for the first
/// observation that is not finite in a replicate that ended well.
void require_finite(const PartRecord& part,
                    const CheckedConfiguration& configuration,
                    const Point& coordinates);

/// @brief What failed in a finished run: the first place, how many more there are, and the setting
/// that is farthest from its default. Empty if nothing did.
std::string failure_text(const CheckedConfiguration& configuration, const CheckRecord& record);
/// @brief The same of points of the theory.
/// @param failed as TheoryRecord's diagnostics list them
std::string failed_theory_text(const CheckedConfiguration& configuration, const Json& failed);
/// @brief What to say of points at which the theory is infinite, of which no table has a row.
/// @param diverged as TheoryRecord's diagnostics list them
std::string diverged_theory_text(const Json& diverged);

}  // namespace attica::app
