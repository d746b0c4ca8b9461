/// @file
/// @brief `attica new`: writes a small study that runs, to make one's own of. Its text stands in
/// data/new.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/paths.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/version.hpp"
#include "attica/core/error.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// What stands for what in a template: "name" for every "@name@".
using Words = std::vector<std::pair<std::string, std::string>>;

std::string filled(const std::string& file, const Words& words) {
  const fs::path data = data_directory();
  if (data.empty())
    throw Error(ErrorKind::storage, "attica's data folder is not found; see `attica doctor`");
  std::string text = read_whole(data / "new" / file);
  for (const auto& [word, value] : words) {
    const std::string mark = "@" + word + "@";
    for (auto at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

/// Files to be written, all or none.
class NewFiles {
 public:
  /// @throws Error of kind storage if it is there already
  void create(const fs::path& path, std::string content) {
    if (fs::exists(path)) {
      throw Error(ErrorKind::storage,
                  fmt::format("'{}' exists; `attica new` overwrites nothing", path.string()));
    }
    files_.push_back({path, std::move(content), "wrote  "});
  }

  /// @brief A line after the last one that begins and ends as told.
  /// @throws Error of kind input if there is none
  void insert(const fs::path& path,
              const std::string& begin,
              const std::string& end,
              const std::string& line) {
    std::string& text = edited(path);
    std::size_t after = std::string::npos;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t next = std::min(text.find('\n', at), text.size());
      const std::string_view old(text.data() + at, next - at);
      if (old.starts_with(begin) && old.ends_with(end)) after = next + 1;
      at = next + 1;
    }
    if (after == std::string::npos) throw no_place(path, line);
    text.insert(after, line + "\n");
  }
  void append(const fs::path& path, const std::string& added) { edited(path) += added; }

  /// @brief Writes everything, and says so.
  void carry_out() const {
    for (const File& file : files_) {
      std::error_code failure;
      if (!file.path.parent_path().empty())
        fs::create_directories(file.path.parent_path(), failure);
      write_atomically(file.path, file.content);
      put("{} {}\n", file.deed, file.path.string());
    }
  }

 private:
  struct File {
    fs::path path;
    std::string content;
    const char* deed;
  };

  static Error no_place(const fs::path& path, const std::string& line) {
    return {ErrorKind::input,
            fmt::format("'{}' has no list that '{}' could join", path.string(), line)};
  }

  std::string& edited(const fs::path& path) {
    const auto known =
        std::find_if(files_.begin(), files_.end(), [&](const File& f) { return f.path == path; });
    if (known != files_.end()) return known->content;
    return files_.emplace_back(File{path, read_whole(path), "added to"}).content;
  }

  std::vector<File> files_;
};

/// Lower-case words joined by hyphens, a letter first.
bool is_name(const std::string& name) {
  char before = '-';
  for (const char c : name) {
    const bool letter = c >= 'a' && c <= 'z';
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit && !(c == '-' && before != '-')) return false;
    before = c;
  }
  return before != '-' && name.front() >= 'a';
}

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void require_name(const std::string& name, const Registry& registry, bool in_tree) {
  if (!is_name(name) || (in_tree && name.find('-') == std::string::npos)) {
    throw invalid_parameter("NAME",
                            name.empty() ? "\"\"" : name,
                            in_tree ? "FAMILY-NAME, words in lower case joined by hyphens"
                                    : "words in lower case joined by hyphens, such as my-study");
  }
  // CMake keeps these for itself.
  constexpr std::array kTaken{
      "all", "clean", "codegen", "depend", "help", "install", "package", "test"};
  const auto is_it = [&](const auto& other) { return other == name; };
  if (std::any_of(kTaken.begin(), kTaken.end(), is_it))
    throw invalid_parameter("NAME", name, "another name: this one is a target of every build");
  if (registry.find(name) != nullptr)
    throw invalid_parameter("NAME", name, "a new name: `attica list` has this one");
}

/// The study as a project of its own.
void write_project(const std::string& name) {
  const fs::path folder = name;
  if (fs::exists(folder)) {
    throw Error(ErrorKind::storage,
                fmt::format("'{}' exists; `attica new` overwrites nothing", folder.string()));
  }
  // The installed package is where the program is; from a build folder it is the user who knows.
  const fs::path prefix = data_directory().parent_path().parent_path().parent_path();
  const bool installed = data_directory() == prefix / "share" / "attica" / "data";
  const std::string build = fmt::format(
      "cmake -S {0} -B {0}/build -DCMAKE_PREFIX_PATH={1}\n"
      "cmake --build {0}/build\n"
      "ctest --test-dir {0}/build --output-on-failure\n"
      "{0}/build/{0} run {0}\n",
      name,
      installed ? prefix.string() : "WHERE_ATTICA_IS_INSTALLED");
  const Words words = {
      {"namespace", "attica"},
      {"include", "\n#include \"attica/app/command/program.hpp\""},
      {"main",
       "\nint main(int argc, char** argv) {\n"
       "  return attica::app::program(argc, argv, {attica::study()});\n}"},
      {"heading", "#"},
      {"use", "Build, test and run it next to its folder:\n\n```sh\n" + build + "```"},
      {"version", kVersion},
      {"name", name}};
  NewFiles files;
  files.create(folder / "CMakeLists.txt", filled("CMakeLists.txt.in", words));
  files.create(folder / (name + ".cpp"), filled("study.cpp.in", words));
  files.create(folder / "README.md", filled("page.md.in", words));
  files.carry_out();
  put("next\n{}", build);
}

/// The family whose folder receives a study: that of its first word, or one that has studies of
/// this first word already.
std::string family_of(const std::string& name, const fs::path& studies) {
  const std::string word = name.substr(0, name.find('-'));
  for (const auto& entry : fs::directory_iterator(studies)) {
    const fs::path list = entry.path() / "studies.cpp";
    if (fs::exists(list) && read_whole(list).find("namespace " + word + "_") != std::string::npos)
      return entry.path().filename().string();
  }
  return word;
}

/// The study as one of attica's own.
void write_in_tree(const std::string& name, const fs::path& tree) {
  const fs::path families = tree / "studies" / "families.cmake";
  if (!fs::exists(families)) {
    throw invalid_parameter(
        "--in-tree", tree.string(), "a checkout of attica, with studies/families.cmake");
  }
  const std::string family = family_of(name, tree / "studies");
  const bool prefixed = name.starts_with(family + "-");
  const std::string file = underscored(prefixed ? name.substr(family.size() + 1) : name);
  const std::string space = underscored(name);
  const auto page_words = [&](const char* heading) {
    return Words{{"heading", heading},
                 {"use", fmt::format("```sh\nattica run {}\n```", name)},
                 {"name", name}};
  };
  const Words words = {
      {"namespace", "attica::" + space}, {"include", ""}, {"main", ""}, {"name", name}};
  NewFiles files;
  std::string study = filled("study.cpp.in", words);
  study.pop_back();  // the line of main
  files.create(tree / "studies" / family / (file + ".cpp"), study);
  files.create(tree / "tests" / "agreement" / family / (file + "_test.cpp"),
               filled("agreement_test.cpp.in", words));
  if (const fs::path list = tree / "studies" / family / "studies.cpp"; fs::exists(list)) {
    files.insert(list, "namespace ", "}", fmt::format("namespace {} {{ Study study(); }}", space));
    files.insert(list, "      ", "},", fmt::format("      {{\"{}\", {}::study}},", name, space));
  } else {
    files.create(list,
                 fmt::format("/// @file\n/// @brief The studies of the family {0}, in the order of "
                             "`attica list`.\n\n#include \"attica/studies/registry.hpp\"\n\n"
                             "namespace attica {{\n\n// clang-format off\nnamespace {1} {{ Study "
                             "study(); }}\n// clang-format on\n\n"
                             "std::vector<NamedStudy> {0}_studies() {{\n  return {{\n"
                             "      {{\"{2}\", {1}::study}},\n"
                             "  }};\n}}\n\n}}  // namespace attica\n",
                             family,
                             space,
                             name));
    files.insert(families, "  ", "", "  " + family);
  }
  if (const fs::path page = tree / "docs" / (family + ".md"); fs::exists(page)) {
    files.append(page, "\n" + filled("page.md.in", page_words("##")));
  } else {
    files.create(tree / "docs" / (name + ".md"), filled("page.md.in", page_words("#")));
  }
  files.carry_out();
  put("next\ncmake --build {0}/build\n{0}/build/attica run {1}\n"
      "then a row in docs/notation.md for every name that is new\n",
      tree.string(),
      name);
}

}  // namespace

int new_verb(const Options& options, const Registry& registry) {
  require_name(options.target, registry, options.in_tree.has_value());
  if (options.in_tree) {
    write_in_tree(options.target, *options.in_tree);
  } else {
    write_project(options.target);
  }
  return kExitDone;
}

}  // namespace attica::app
