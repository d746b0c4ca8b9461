#pragma once
/// @file
/// @brief The HTML page of a run, from the files of its folder.

#include <filesystem>
#include <string>

#include "attica/studies/study.hpp"

namespace attica::app {

/// @brief Reads check.json, theory.json, provenance.json, config.resolved.toml and the figure, and
/// returns the page.
/// @param figure_name name of the study's figure, without extension
/// @throws Error of kind storage if a record is missing or damaged
std::string report_page(const std::filesystem::path& run, const Study& study, const Figure& figure);

}  // namespace attica::app
