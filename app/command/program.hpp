#pragma once
/// @file
/// @brief The command line: verbs, options, exit codes.

#include <vector>

#include "attica/studies/registry.hpp"
#include "attica/studies/study.hpp"

namespace attica::app {

/// @brief Runs the program with these studies and returns its exit code.
int program(int argc, char** argv, const Registry& registry);

/// @brief A program of your own with studies of your own is
/// `return attica::app::program(argc, argv, my_studies);`.
int program(int argc, char** argv, const std::vector<Study>& studies);

}  // namespace attica::app
