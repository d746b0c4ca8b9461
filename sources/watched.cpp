#include "attica/sources/watched.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "attica/core/read_bytes.hpp"

namespace attica::sources {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Python source as words and signs, without comments and with texts as one sign '"'; lines end
/// with '\n' or ';', except within brackets.
std::vector<std::string> tokens_of(std::string_view source) {
  std::vector<std::string> tokens;
  int brackets = 0;
  for (std::size_t k = 0; k < source.size();) {
    const char c = source[k];
    if (is_word(c)) {
      std::size_t end = k;
      while (end < source.size() && is_word(source[end])) ++end;
      tokens.emplace_back(source.substr(k, end - k));
      k = end;
    } else if (c == '#') {
      while (k < source.size() && source[k] != '\n') ++k;
    } else if (c == '"' || c == '\'') {
      const bool three = source.substr(k, 3) == std::string(3, c);
      const std::string end = std::string(three ? 3 : 1, c);
      k += end.size();
      while (k < source.size() && source.substr(k, end.size()) != end) {
        if (!three && source[k] == '\n') break;
        k += source[k] == '\\' ? 2 : 1;
      }
      k = std::min(k + end.size(), source.size());
      tokens.emplace_back("\"");
    } else if (c == '\\' && k + 1 < source.size() &&
               (source[k + 1] == '\n' || source[k + 1] == '\r')) {
      k += 2;
      if (source[k - 1] == '\r' && k < source.size() && source[k] == '\n') ++k;
    } else {
      if (c == '(' || c == '[' || c == '{') ++brackets;
      if ((c == ')' || c == ']' || c == '}') && brackets > 0) --brackets;
      const bool space = c == ' ' || c == '\t' || c == '\r' || (c == '\n' && brackets > 0);
      if (!space) tokens.emplace_back(1, c == ';' ? '\n' : c);
      ++k;
    }
  }
  tokens.emplace_back("\n");
  return tokens;
}

/// "a.b" or "..a" from there on; stops before what does not belong to the name.
std::string dotted(const std::vector<std::string>& tokens, std::size_t& k) {
  std::string name;
  while (k < tokens.size() && (tokens[k] == "." || is_word(tokens[k].front()))) {
    const bool word = tokens[k] != ".";
    if (word && !name.empty() && name.back() != '.') break;
    if (word && tokens[k] == "import") break;
    name += tokens[k++];
  }
  return name;
}

/// Modules by name in one of the folders: all packages on the way, and the module itself.
class Modules {
 public:
  explicit Modules(WatchedFiles& found) : found_(found) {}

  /// A file that is no module may be one, too, such as the script.
  void add(const fs::path& file) {
    std::error_code ignored;
    if (seen_.insert(fs::weakly_canonical(file, ignored)).second) found_.files.push_back(file);
  }

  /// The script, and all that it imports. @param folders where modules are looked for
  void follow(const fs::path& script, const std::vector<fs::path>& folders) {
    std::error_code ignored;
    if (!followed_.insert(fs::weakly_canonical(script, ignored)).second) return;
    add(script);
    if (script.extension() != ".py" && script.extension() != ".pyw" && !has_shebang(script)) return;
    const std::optional<std::string> source = read_bytes(script);
    if (source) follow_source(*source, script.filename().string(), script.parent_path(), folders);
  }

  void follow_source(std::string_view source,
                     const std::string& name,
                     const fs::path& package,
                     const std::vector<fs::path>& folders) {
    for (const std::string& module : imported_names(source)) {
      const std::size_t dots = std::min(module.find_first_not_of('.'), module.size());
      if (dots == 0) {
        for (const fs::path& folder : folders) {
          if (follow_module(module, folder, folders)) break;
        }
        continue;
      }
      fs::path base = package;
      for (std::size_t k = 1; k < dots; ++k) base = base.parent_path();
      if (is_file(base / "__init__.py")) follow(base / "__init__.py", folders);
      follow_module(module.substr(dots), base, folders);
    }
    const std::vector<std::string> tokens = tokens_of(source);
    for (const char* const word : {"importlib", "__import__", "runpy", "exec", "execfile"}) {
      if (std::find(tokens.begin(), tokens.end(), word) == tokens.end()) continue;
      found_.warnings.push_back(fmt::format("'{}' uses {}", name, word));
      break;
    }
  }

  bool follow_module(const std::string& module,
                     const fs::path& folder,
                     const std::vector<fs::path>& folders) {
    bool found = false;
    fs::path place = folder;
    std::size_t from = 0;
    while (from < module.size()) {
      const std::size_t dot = std::min(module.find('.', from), module.size());
      const std::string part = module.substr(from, dot - from);
      from = dot + 1;
      if (part.empty()) return found;
      const fs::path file = place / (part + ".py");
      place /= part;
      if (is_file(place / "__init__.py")) {
        follow(place / "__init__.py", folders);
        found = true;
      } else if (is_file(file)) {
        follow(file, folders);
        return true;
      } else if (const auto library = compiled(place)) {
        add(*library);
        return true;
      } else if (!is_folder(place)) {
        return found;
      }
    }
    return found;
  }

 private:
  static bool has_shebang(const fs::path& script) {
    const std::optional<std::string> source = read_bytes(script);
    if (!source || !source->starts_with("#!")) return false;
    return source->substr(0, source->find('\n')).find("python") != std::string::npos;
  }

  /// An extension module: NAME.so or NAME.cpython-311-x86_64-linux-gnu.so.
  static std::optional<fs::path> compiled(const fs::path& module) {
    std::error_code ignored;
    const std::string front = module.filename().string() + ".";
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(module.parent_path(), ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(front) && name.ends_with(".so")) all.push_back(entry.path());
    }
    if (all.empty()) return std::nullopt;
    return *std::min_element(all.begin(), all.end());
  }

  WatchedFiles& found_;
  std::set<fs::path> seen_;
  std::set<fs::path> followed_;
};

std::vector<fs::path> python_path(const fs::path& directory) {
  std::vector<fs::path> folders;
  const char* const path = std::getenv("PYTHONPATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.push_back(directory / std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return folders;
}

/// Files of a folder and those below it, in order.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored)) all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<fs::path> matching(const fs::path& directory, const std::string& pattern) {
  const fs::path plain = directory / pattern;
  if (is_file(plain)) return {plain};
  if (is_folder(plain)) return files_below(plain);
  std::vector<fs::path> all;
  glob_t found = {};
  if (::glob(plain.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t k = 0; k < found.gl_pathc; ++k) {
      const fs::path path = found.gl_pathv[k];
      if (is_file(path)) all.push_back(path);
    }
  }
  ::globfree(&found);
  return all;
}

std::string program_name(const std::string& argument) {
  return fs::path(argument).filename().string();
}

bool is_python(const std::string& argument) {
  const std::string name = program_name(argument);
  for (const std::string_view front : {"python", "pypy"}) {
    if (name.starts_with(front) &&
        name.find_first_not_of("0123456789.", front.size()) == std::string::npos)
      return true;
  }
  return name == "ipython" || name == "ipython3";
}

/// Interpreters whose scripts are not read.
bool is_other_interpreter(const std::string& argument) {
  static constexpr std::array<std::string_view, 15> kKnown = {"sh",
                                                              "bash",
                                                              "dash",
                                                              "zsh",
                                                              "Rscript",
                                                              "R",
                                                              "julia",
                                                              "node",
                                                              "perl",
                                                              "ruby",
                                                              "octave",
                                                              "matlab",
                                                              "octave-cli",
                                                              "lua",
                                                              "wolframscript"};
  return std::find(kKnown.begin(), kKnown.end(), program_name(argument)) != kKnown.end();
}

}  // namespace

std::vector<std::string> imported_names(std::string_view source) {
  const std::vector<std::string> tokens = tokens_of(source);
  std::vector<std::string> names;
  bool begins = true;  // a statement
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const std::string& token = tokens[k];
    if (begins && token == "import") {
      ++k;
      while (k < tokens.size() && tokens[k] != "\n") {
        if (std::string name = dotted(tokens, k); !name.empty()) names.push_back(std::move(name));
        while (k < tokens.size() && tokens[k] != "," && tokens[k] != "\n") ++k;  // as NAME
        if (k < tokens.size() && tokens[k] == ",") ++k;
      }
    } else if (begins && token == "from") {
      ++k;
      const std::string name = dotted(tokens, k);
      if (k < tokens.size() && tokens[k] == "import" && !name.empty()) {
        if (name.find_first_not_of('.') != std::string::npos) names.push_back(name);
        const std::string front = name.back() == '.' ? name : name + ".";
        for (++k; k < tokens.size() && tokens[k] != "\n"; ++k) {
          if (is_word(tokens[k].front()) && tokens[k - 1] != "as" && tokens[k] != "as")
            names.push_back(front + tokens[k]);
        }
      }
    }
    // After "if x:" and the like a statement may follow on the line.
    begins = k < tokens.size() && (tokens[k] == "\n" || tokens[k] == ":");
  }
  return names;
}

WatchedFiles watched_files(const WatchedCommand& command) {
  WatchedFiles found;
  Modules modules(found);
  const auto& arguments = command.arguments;
  const std::vector<fs::path> paths = python_path(command.directory);
  const auto from = [&](const fs::path& first) {
    std::vector<fs::path> folders{first};
    folders.insert(folders.end(), paths.begin(), paths.end());
    return folders;
  };
  bool python = false;
  bool script = false;  // of the interpreter that runs: the first file after it
  std::string unread;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string& argument = arguments[k];
    const bool after_python = python && !script;
    if (after_python && argument == "-c" && k + 1 < arguments.size()) {
      modules.follow_source(arguments[k + 1], "-c", command.directory, from(command.directory));
      script = true;
    } else if (after_python && argument == "-m" && k + 1 < arguments.size()) {
      const std::string& module = arguments[k + 1];
      for (const fs::path& folder : from(command.directory)) {
        if (!modules.follow_module(module, folder, from(command.directory))) continue;
        modules.follow_module(module + ".__main__", folder, from(command.directory));
        break;
      }
      script = true;
    }
    const fs::path path = command.directory / argument;
    if (!argument.empty() && is_file(path)) {
      modules.follow(path, from(path.parent_path()));
      if (python) script = true;
      if (!unread.empty() && !script) {
        found.warnings.push_back(
            fmt::format("'{}' is a script for {}, which is not read", argument, unread));
        script = true;
      }
    }
    if (is_python(argument)) {
      python = true;
    } else if (k == 0 && is_other_interpreter(argument)) {
      unread = program_name(argument);
    }
  }
  for (const std::string& pattern : command.inputs) {
    const std::vector<fs::path> files = matching(command.directory, pattern);
    if (files.empty()) found.unmatched.push_back(pattern);
    for (const fs::path& file : files) modules.add(file);
  }
  // Who names inputs knows what else there is.
  if (!command.inputs.empty()) found.warnings.clear();
  for (std::string& warning : found.warnings)
    warning +=
        ": files that it imports or reads by itself are not watched; name them in inputs = "
        "[...] next to the command";
  return found;
}

std::vector<std::string> python_of(const WatchedCommand& command) {
  const auto& arguments = command.arguments;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (is_python(arguments[k]))
      return {arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(k) + 1};
    if (k > 0) continue;
    const std::optional<std::string> text = is_file(command.directory / arguments[k])
                                                ? read_bytes(command.directory / arguments[k])
                                                : std::nullopt;
    if (!text || !text->starts_with("#!")) continue;
    std::vector<std::string> words{""};
    for (const char c : text->substr(2, text->find('\n') - 2)) {
      if (c == ' ' || c == '\t' || c == '\r') {
        if (!words.back().empty()) words.emplace_back();
      } else {
        words.back() += c;
      }
    }
    if (words.back().empty()) words.pop_back();
    for (std::size_t j = 0; j < words.size(); ++j) {
      if (is_python(words[j]))
        return {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(j) + 1};
    }
  }
  return {};
}

}  // namespace attica::sources
