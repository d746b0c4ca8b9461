#pragma once
/// @file
/// @brief A text of the test's own, as a file.

#include <filesystem>
#include <fstream>
#include <string>

namespace attica::testing {

/// @brief A file of the test's own with that content.
class TextFileFor {
 public:
  TextFileFor(const std::string& name, const std::string& content)
      : path_(std::filesystem::temp_directory_path() / name) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  TextFileFor(const TextFileFor&) = delete;
  TextFileFor& operator=(const TextFileFor&) = delete;
  ~TextFileFor() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace attica::testing
