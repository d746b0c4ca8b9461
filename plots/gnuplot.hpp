#pragma once
/// @file
/// @brief Running gnuplot.

#include <filesystem>
#include <string>

namespace attica::plots {

/// @brief The gnuplot that a package brings along for machines without one; empty if there is none.
/// It draws SVG and no other format.
std::filesystem::path bundled_gnuplot();

/// @brief Whether the system has a gnuplot: a program of that name in PATH.
bool has_system_gnuplot();

/// @brief Feeds `script` to gnuplot working in `folder`: the system's, or the bundled one.
///
/// The user's own gnuplot settings are not read. gnuplot's messages are left in
/// `folder`/`name`.log; those who run at the same time need names of their own.
/// @param format the only one that the script draws
/// @return false if there is no gnuplot that draws this format
/// @throws Error of kind input if gnuplot refuses the script; of kind storage if nothing can be
/// written to the folder
bool run_gnuplot(const std::string& script,
                 const std::filesystem::path& folder,
                 const std::string& name,
                 const std::string& format);

}  // namespace attica::plots
