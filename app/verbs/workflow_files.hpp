#pragma once
/// @file
/// @brief What workflows read of a verdict: JUnit XML, and a few numbers as JSON.

#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/check.hpp"

namespace attica::app {

/// @brief Writes the files of --junit and --metrics, if they are asked for.
/// @throws Error (storage)
void write_workflow_files(const Options& options, const CheckRecord& verdict);

}  // namespace attica::app
