#include "attica/app/paths.hpp"

namespace attica::app {

namespace fs = std::filesystem;

fs::path data_directory() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& candidate :
       {program.parent_path().parent_path() / "share" / "attica" / "data",
        fs::path(ATTICA_SOURCE_DATA)}) {
    if (fs::is_directory(candidate, ignored)) return candidate;
  }
  return {};
}

std::vector<fs::path> input_directories(const fs::path& configuration_directory) {
  std::vector<fs::path> directories;
  if (!configuration_directory.empty()) directories.push_back(configuration_directory);
  directories.push_back(fs::current_path());
  if (const fs::path data = data_directory(); !data.empty()) directories.push_back(data);
  return directories;
}

}  // namespace attica::app
