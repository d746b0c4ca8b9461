#include "attica/sources/command_template.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "attica/core/error.hpp"

namespace attica::sources {

CommandTemplate::CommandTemplate(Configuration& c, const std::string& side) : c_(c), side_(side) {
  key_ = side + ".command";
  // That of a theory of training is the size of its minibatches.
  if (side == "simulation" && c.declares(side + ".batch") && c.has(side + ".batch"))
    batch_ = static_cast<std::uint64_t>(c.integer(side + ".batch"));
  for (const std::string& text : c.texts(key_)) {
    pieces_.emplace_back();
    read(text);
  }
  if (pieces_.empty() || c.texts(key_).front().empty())
    throw invalid_parameter(key_, "[]", "a program and its arguments");
  const bool seeds = std::ranges::any_of(pieces_, [](const auto& argument) {
    return std::ranges::any_of(argument, [](const Piece& p) { return p.key && p.text == "seeds"; });
  });
  if (batch_ && !seeds) {
    throw invalid_parameter(
        side + ".batch", fmt::format("{}", *batch_), "{seeds} in the command: a seed a replicate");
  }
  if (c.has(side + ".max_seconds")) max_seconds_ = c.real(side + ".max_seconds");
  // Where the configuration is decides whether its commands are carried out at all.
  home_ =
      c.input_directories.empty() ? std::filesystem::current_path() : c.input_directories.front();
  directory_ = home_;
  if (c.has(side + ".directory")) directory_ = home_ / c.text(side + ".directory");
  c.set(side + ".directory", std::filesystem::absolute(directory_).string(), false);
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory_, ignored))
    throw invalid_parameter(side + ".directory", directory_.string(), "an existing folder");
}

void CommandTemplate::require_own() const {
  std::error_code ignored;
  if (std::filesystem::exists(home_ / "run.json", ignored)) {
    throw Error(ErrorKind::input,
                fmt::format("{}: '{}' is a run folder, whose commands are not carried out; copy "
                            "the configuration elsewhere and read it first",
                            key_,
                            home_.string()),
                key_);
  }
  // A program that is not there is told before any work, where its name is fixed.
  const auto& name = pieces_.front();
  if (name.size() == 1 && !is_there(name.front().text))
    throw invalid_parameter(key_, name.front().text, "a program that can be started");
}

void CommandTemplate::require_inputs() const {
  for (const std::string& pattern : watched().unmatched) {
    throw invalid_parameter(side_ + ".inputs",
                            pattern,
                            fmt::format("a file, a folder or a pattern that matches files in '{}'",
                                        directory_.string()));
  }
}

WatchedFiles CommandTemplate::watched() const {
  WatchedCommand command{.arguments = c_.texts(key_), .directory = directory_};
  if (c_.has(side_ + ".inputs")) command.inputs = c_.texts(side_ + ".inputs");
  return watched_files(command);
}

Command CommandTemplate::fill(const std::vector<double>& values,
                              std::span<const std::uint64_t> seeds,
                              std::uint64_t first) const {
  Command command{.arguments = {}, .directory = directory_, .max_seconds = max_seconds_};
  for (const auto& argument : pieces_) {
    std::string text;
    for (const Piece& piece : argument) {
      if (!piece.key) {
        text += piece.text;
      } else if (piece.text == "seed") {
        text += fmt::format("{}", seeds.front());
      } else if (piece.text == "seeds") {
        text += fmt::format("{}", fmt::join(seeds, ","));
      } else if (piece.text == "replicate") {
        text += fmt::format("{}", first);
      } else if (const auto loop = loop_index(piece.text)) {
        text += fmt::format("{}", values[*loop]);
      } else {
        text += printed(*scalar_named(c_, piece.text));
      }
    }
    command.arguments.push_back(std::move(text));
  }
  return command;
}

bool CommandTemplate::is_there(const std::string& program) const {
  const auto startable = [](const std::filesystem::path& path) {
    return ::access(path.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos) return startable(directory_ / program);
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const auto end = std::min(folders.find(':'), folders.size());
    if (startable(std::filesystem::path(folders.substr(0, end)) / program)) return true;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return false;
}

std::optional<std::size_t> CommandTemplate::loop_index(const std::string& name) const {
  for (std::size_t k = 0; k < loops_.size(); ++k) {
    if (loops_[k].name == name) return k;
  }
  return std::nullopt;
}

void CommandTemplate::read(const std::string& text) {
  std::vector<Piece>& into = pieces_.back();
  into.push_back({});
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '}' && k + 1 < text.size() && text[k + 1] == '}') {
      into.back().text += '}';
      ++k;
    } else if (text[k] != '{') {
      into.back().text += text[k];
    } else if (k + 1 < text.size() && text[k + 1] == '{') {
      into.back().text += '{';
      ++k;
    } else {
      const auto close = text.find('}', k);
      if (close == std::string::npos)
        throw invalid_parameter(key_, text, "a '}' for every '{'; a brace itself is '{{'");
      std::string name = text.substr(k + 1, close - k - 1);
      for (const std::string prefix : {"model.", "sim.", "sweep."}) {
        if (name.starts_with(prefix)) name.erase(0, prefix.size());
      }
      resolve(name, text);
      into.push_back({true, name});
      into.push_back({});
      k = close;
    }
  }
}

void CommandTemplate::resolve(const std::string& name, const std::string& text) {
  if (name == "seed" || name == "seeds" || name == "replicate") {
    if (side_.starts_with("theory"))
      throw invalid_parameter(key_, text, "no {seed}, {seeds} and {replicate} in a theory");
    if (batch_ && name != "seeds") {
      throw invalid_parameter(
          key_,
          text,
          fmt::format("no {{{}}} with {}.batch: {{seeds}} has a seed a replicate", name, side_));
    }
    if (!batch_ && name == "seeds") {
      throw invalid_parameter(
          key_, text, fmt::format("{}.batch, the number of replicates of a process", side_));
    }
    return;
  }
  if (loop_index(name) || scalar_named(c_, name)) return;
  if (auto loop = loop_named(c_, name)) {
    loops_.push_back(std::move(*loop));
    return;
  }
  std::vector<std::string> known{"seed", "seeds", "replicate"};
  for (const auto& [key, value] : c_.entries()) {
    if (key.starts_with("model.") || key.starts_with("sweep.")) known.push_back(key.substr(6));
  }
  throw invalid_parameter(
      key_, text, fmt::format("no key '{{{}}}': known are {}", name, fmt::join(known, ", ")));
}

}  // namespace attica::sources
