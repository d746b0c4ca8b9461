/// @file
/// @brief `attica figure`: several runs and tables in one figure, or a figure of a publication.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/figures/composition.hpp"
#include "attica/app/figures/paper_figures.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/run/run.hpp"
#include "attica/app/verbs/verbs.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

int list_paper_figures() {
  for (const PaperFigure& figure : paper_figures()) {
    put("{:<14} {} {}: {}\n",
        figure.id(),
        surnames(figure.paper.authors),
        figure.paper.year,
        figure.shows);
  }
  put("\n`attica figure --paper {}` makes its runs, in less than a minute, and draws it.\n"
      "`attica claims 2410.19637` names the study behind every statement and figure of a paper.\n",
      paper_figures().front().id());
  return kExitDone;
}

/// Makes what is not there of a figure's runs, beside the figure. Empty: a run was stopped;
/// `exit_code` says how.
std::optional<Composition> compose_paper_figure(const PaperFigure& figure,
                                                const Options& options,
                                                const std::vector<Override>& values,
                                                const fs::path& out,
                                                const Registry& registry,
                                                int& exit_code) {
  ExitOnSignal signals;
  std::map<std::string, fs::path> folders;
  for (const PaperRun& run : figure.runs) {
    Options own = options;
    own.target = run.study;
    own.preset = run.preset;
    own.out = (out / "runs").string();
    own.name = fmt::format("{}-{}-{}", figure.paper.arxiv, figure.figure, run.name);
    own.resume = true;
    own.force = false;
    own.overrides = run.values;
    own.overrides.insert(own.overrides.end(), values.begin(), values.end());
    remark(options.quiet, fmt::format("attica: {}: {}", figure.id(), run.study));
    RunRequest request = run_request(own);
    request.draw = false;
    const RunEnd end = carry_out(requested_simulation(own, registry), request, signals);
    if (end.unfinished) throw *end.unfinished;
    if (!end.verdict) {
      exit_code = end.exit_code;
      return std::nullopt;
    }
    folders[run.name] = end.folder;
  }
  Composition made = compose_file(drawing_of(figure, folders), registry, options.accept_edits);
  made.drawing.metadata.emplace_back("figure",
                                     fmt::format("{} of {} ({}), arXiv:{}: {}",
                                                 figure.figure,
                                                 surnames(figure.paper.authors),
                                                 figure.paper.year,
                                                 figure.paper.arxiv,
                                                 figure.shows));
  if (!figure.differs.empty())
    made.drawing.metadata.emplace_back("differs from the publication", figure.differs);
  return made;
}

}  // namespace

int figure_verb(const Options& options, const Registry& registry) {
  if (options.paper && options.paper->empty()) return list_paper_figures();
  // What is not the figure's is the runs'.
  std::vector<Override> of_runs;
  std::vector<Override> of_figure;
  for (const Override& o : options.overrides)
    (o.assignment.starts_with("figure.") ? of_figure : of_runs).push_back(o);
  if (!options.paper) {
    for (const Override& o : of_runs) {
      if (!o.shown.starts_with("--set"))
        throw Error(ErrorKind::input,
                    fmt::format("'{}' is for the runs of a publication's figure: --paper "
                                "ARXIV:FIGURE, which `attica figure --paper` lists",
                                o.shown));
    }
    of_figure = options.overrides;
    if (options.files.empty()) {
      throw Error(ErrorKind::input,
                  "expected a figure's TOML file, folders of runs, or --paper ARXIV:FIGURE, which "
                  "`attica figure --paper` lists");
    }
  } else if (!options.files.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("'{}' and --paper: expected one of the two", options.files.front()));
  }
  const FigureChange change = read_figure_changes(of_figure);
  const auto is_file = [](const std::string& target) { return target.ends_with(".toml"); };
  const bool file = std::any_of(options.files.begin(), options.files.end(), is_file);
  if (file && options.files.size() != 1) {
    throw Error(ErrorKind::input,
                fmt::format("'{}': expected one figure's file, or folders of runs",
                            *std::find_if(options.files.begin(), options.files.end(), is_file)));
  }
  const std::string out = options.out.value_or("figures");
  int exit_code = kExitDone;
  std::optional<Composition> composed =
      options.paper ? compose_paper_figure(find_paper_figure(*options.paper),
                                           options,
                                           of_runs,
                                           fs::path(out),
                                           registry,
                                           exit_code)
      : file ? compose_file(read_figure_file(options.files.front()), registry, options.accept_edits)
             : compose_runs(options.files, registry, options.accept_edits);
  if (!composed) {
    remark(options.quiet, "the same command continues, and draws the figure");
    return exit_code;
  }
  Composition& made = *composed;
  apply(change, made.figure, made.drawing);
  enter_drawing_options(options, made.drawing);
  if (!options.name.empty()) made.figure.name = options.name;
  made.drawing.folder = out;
  for (const fs::path& path : draw_files(options, made.figure, made.data, made.drawing))
    put("{}\n", path.string());
  return kExitDone;
}

}  // namespace attica::app
