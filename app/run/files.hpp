#pragma once
/// @file
/// @brief Files that are either whole or not there, digests, and the lock of a run folder.

#include <filesystem>
#include <string>
#include <string_view>

namespace attica::app {

/// @brief Writes under a temporary name in the same folder, flushes to disk, renames into place;
/// devices and pipes are written to.
/// @throws Error of kind storage with the system's reason
void write_atomically(const std::filesystem::path& path, std::string_view content);

/// @brief Whole content. @throws Error of kind storage
std::string read_whole(const std::filesystem::path& path);

/// @brief SHA-256 in lower-case hexadecimal.
std::string sha256(std::string_view content);

/// @brief Exclusive lock on a folder, held while the object lives. The kernel drops it when the
/// process ends, however it ends, so that a killed run never blocks the next one.
class FolderLock {
 public:
  /// @throws Error of kind storage naming the process that holds the lock
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// @brief "process N on HOST": who writes that folder now; empty if nobody does.
std::string lock_owner(const std::filesystem::path& folder);

}  // namespace attica::app
