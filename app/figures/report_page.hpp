#pragma once
/// @file
/// @brief The HTML page of a run, from the files of its folder.

#include <string>

#include "attica/app/run/run_folder.hpp"

namespace attica::app {

/// @brief Reads check.json, theory.json, provenance.json, config.resolved.toml and the figure, and
/// returns the page.
/// @throws Error of kind storage if a record is missing or damaged
std::string report_page(const RunRecord& record, const Study& study, const Figure& figure);

}  // namespace attica::app
