/// @file
/// @brief `attica figure`: several runs and tables in one figure.

#include <fmt/format.h>

#include <algorithm>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/figures/composition.hpp"
#include "attica/app/verbs/verbs.hpp"

namespace attica::app {

namespace fs = std::filesystem;

int figure_verb(const Options& options, const Registry& registry) {
  const FigureChange change = read_figure_changes(options.overrides);
  const auto is_file = [](const std::string& target) { return target.ends_with(".toml"); };
  const bool file = std::any_of(options.files.begin(), options.files.end(), is_file);
  if (file && options.files.size() != 1) {
    throw Error(ErrorKind::input,
                fmt::format("'{}': expected one figure's file, or folders of runs",
                            *std::find_if(options.files.begin(), options.files.end(), is_file)));
  }
  Composition made =
      file ? compose_file(read_figure_file(options.files.front()), registry, options.accept_edits)
           : compose_runs(options.files, registry, options.accept_edits);
  apply(change, made.figure, made.drawing);
  enter_drawing_options(options, made.drawing);
  if (!options.name.empty()) made.figure.name = options.name;
  made.drawing.folder = options.out.value_or("figures");
  for (const fs::path& path : draw_files(options, made.figure, made.data, made.drawing))
    put("{}\n", path.string());
  return kExitDone;
}

}  // namespace attica::app
