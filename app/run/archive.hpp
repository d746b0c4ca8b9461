#pragma once
/// @file
/// @brief ZIP archives.

#include <filesystem>
#include <string>
#include <vector>

namespace attica::app {

/// A file of an archive.
struct ArchivedFile {
  std::string name;  ///< path inside the archive, '/' between folders
  std::string content;
  bool executable = false;
};

/// @brief Writes a ZIP archive, whole or not at all. Equal files give equal bytes: all of them have
/// the time of SOURCE_DATE_EPOCH in the environment, or the first that the format knows.
/// @throws Error of kind storage
void write_zip(const std::filesystem::path& path, const std::vector<ArchivedFile>& files);

}  // namespace attica::app
