#pragma once
/// @file
/// @brief What a run wrote stays what it is: digests of the files that later verbs read.
///
/// manifest.json lists every such file with its size and SHA-256 and is written last. Line ends are
/// no content: a table that came through a system that writes CRLF is the same table.

#include <filesystem>
#include <string>
#include <vector>

namespace attica::app {

/// @brief Writes the manifest of a finished run, or of a finished shard.
void seal(const std::filesystem::path& run);

/// @brief Enters the new content of one file, which a verb has just rewritten from the others.
void seal_again(const std::filesystem::path& run, const std::string& name);

/// @brief Files of the run that are not as they were written, or gone, in the order of the
/// manifest. Empty for runs of the first format, which have none.
/// @throws Error of kind storage if the manifest is missing or damaged
std::vector<std::string> edited_files(const std::filesystem::path& run);

/// @brief The same, refused unless accepted.
/// @throws Error of kind storage naming the files
std::vector<std::string> accepted_edits(const std::filesystem::path& run, bool accept);

}  // namespace attica::app
