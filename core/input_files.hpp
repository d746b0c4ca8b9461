#pragma once
/// @file
/// @brief Input files of a run: each is read once, and what is made of it is made once.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "attica/core/numeric_csv.hpp"

namespace attica {

/// @brief Bytes of files, and what was parsed of them, for whoever asks again. Safe to use from
/// many threads; what it returns lives as long as its owner holds it.
class InputFiles {
 public:
  /// @brief All bytes of a file, as they were when it was first asked for; null if it cannot be
  /// read.
  std::shared_ptr<const std::string> bytes(const std::filesystem::path& path);

  /// @brief The numbers of a file (`parse_matrix`); how they were read is kept in `remarks`.
  /// @throws Error (input) naming the file
  NumericTable numbers(const std::filesystem::path& path, CsvHeader header);

  /// @brief What a user should know of how files of numbers were read, each once: a first column
  /// that counts the rows, a first line that may be names.
  std::vector<std::string> remarks();

  /// @brief What `make` makes, the first time it is asked for; an exception is passed on and
  /// nothing kept.
  /// @param made_of all that the value depends on: a path and how it is read
  template <class T>
  std::shared_ptr<const T> parsed(const std::string& made_of, const std::function<T()>& make) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<const void>& entry = parsed_[{std::type_index(typeid(T)), made_of}];
    if (!entry) entry = std::make_shared<const T>(make());
    return std::static_pointer_cast<const T>(entry);
  }

 private:
  std::recursive_mutex mutex_;  // `make` asks for bytes
  std::map<std::filesystem::path, std::shared_ptr<const std::string>> bytes_;
  std::map<std::pair<std::type_index, std::string>, std::shared_ptr<const void>> parsed_;
  std::vector<std::string> remarks_;
};

/// @brief The numbers of an input file, with remarks left to `files`; without it they are not kept.
NumericTable input_numbers(const std::shared_ptr<InputFiles>& files,
                           const std::filesystem::path& path,
                           CsvHeader header);

}  // namespace attica
