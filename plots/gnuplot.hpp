#pragma once
/// @file
/// @brief Running gnuplot.

#include <filesystem>
#include <string>

namespace attica::plots {

/// @brief Feeds `script` to gnuplot working in `folder`.
///
/// The user's own gnuplot settings are not read. gnuplot's messages are left in
/// `folder`/`name`.log; those who run at the same time need names of their own.
/// @return false if gnuplot is not installed
/// @throws Error of kind input if gnuplot refuses the script; of kind storage if nothing can be
/// written to the folder
bool run_gnuplot(const std::string& script,
                 const std::filesystem::path& folder,
                 const std::string& name);

}  // namespace attica::plots
