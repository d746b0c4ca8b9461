#pragma once
/// @file
/// @brief Where attica finds the files that come with it.

#include <filesystem>
#include <vector>

namespace attica::app {

/// @brief Folder of the data that ship with attica: beside the installed program, or in the source
/// tree it was built from; empty if neither is there.
std::filesystem::path data_directory();

/// @brief The absolute path of a folder without a slash at its end, which "runs/mine/" has.
std::filesystem::path without_slash(const std::filesystem::path& folder);

/// @brief Where a relative input file is looked up: beside the configuration, in the working
/// folder, in the data folder, in the folder data beside the program (where `./dev data` of a
/// checkout writes).
/// @param configuration_directory empty if there is no configuration file
std::vector<std::filesystem::path> input_directories(
    const std::filesystem::path& configuration_directory);

}  // namespace attica::app
