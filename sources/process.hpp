#pragma once
/// @file
/// @brief A user's program as a part of a study: run, heard, and ended when the time is over.

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace attica::sources {

/// What a program is to be run as.
struct Command {
  std::vector<std::string> arguments;  ///< the program first; no shell reads them
  std::filesystem::path directory;     ///< where it runs
  std::optional<double> max_seconds = {};
};

/// @brief What the program printed, when it ended with code 0; none if it was asked to stop before
/// that. It runs in a process group of its own, with an empty standard input, LC_ALL=C and one
/// thread for the numerical libraries unless the environment says otherwise; whatever of the group
/// is left when it ends, or when this process does, is killed.
/// @throws Error: numerical if it ends otherwise or takes longer than max_seconds, with the last
/// lines of its standard error; input if it cannot be started
std::optional<std::string> output_of(const Command& command, const std::stop_token& stop = {});

}  // namespace attica::sources
