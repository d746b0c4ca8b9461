#include "attica/app/command/paths.hpp"

#include "attica/core/platform.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// The data folder beside the Python module or the library that holds this code.
fs::path beside_module() {
  const fs::path file = platform::code_file();
  return file.extension() == ".so" ? file.parent_path() / "data" : fs::path();
}

/// Where the program stands; empty if nothing says.
fs::path program_directory() { return platform::program_file().parent_path(); }

}  // namespace

fs::path data_directory() {
  std::error_code ignored;
  for (const fs::path& candidate : {program_directory().parent_path() / "share" / "attica" / "data",
                                    beside_module(),
                                    fs::path(ATTICA_SOURCE_DATA)}) {
    if (fs::is_directory(candidate, ignored)) return candidate;
  }
  return {};
}

fs::path without_slash(const fs::path& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

std::vector<fs::path> input_directories(const fs::path& configuration_directory) {
  std::vector<fs::path> directories;
  if (!configuration_directory.empty()) directories.push_back(configuration_directory);
  directories.push_back(fs::current_path());
  if (const fs::path data = data_directory(); !data.empty()) directories.push_back(data);
  std::error_code ignored;
  const fs::path fetched = program_directory() / "data";
  if (fetched.is_absolute() && fs::is_directory(fetched, ignored)) directories.push_back(fetched);
  return directories;
}

}  // namespace attica::app
