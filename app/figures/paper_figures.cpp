#include "attica/app/figures/paper_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attica/core/error.hpp"
#include "attica/studies/card.hpp"
#include "attica/studies/sources.hpp"
#include "attica/studies/toml_reader.hpp"

namespace attica::app {

using namespace toml_io;

/// The files of app/figures/papers, in the order of their paths; written by the build.
std::span<const EmbeddedCard> embedded_paper_figures();

namespace {

/// Keys of a file that are not the figure's.
const std::vector<std::string> kOwnKeys = {"paper", "figure", "shows", "differs", "runs"};

/// Values by dotted key: {sim = {eta = 0.1}} is sim.eta.
void flatten(const toml::table& table,
             const std::string& prefix,
             const std::string& file,
             std::vector<Override>& values) {
  for (auto&& [key, node] : table) {
    const std::string name =
        prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    if (const auto* inner = node.as_table(); inner != nullptr && !is_range(*inner)) {
      flatten(*inner, name, file, values);
      continue;
    }
    if (prefix.empty()) continue;  // study, preset
    std::string text;
    if (const auto value = to_value(node)) {
      text = to_toml(*value);
    } else if (const auto* range = node.as_table()) {
      text = to_toml(Value(expand_range(*range, name)));
    }
    values.push_back({.shown = fmt::format("{}: {}", file, name),
                      .assignment = fmt::format("{}={}", name, text)});
  }
}

}  // namespace

std::string surnames(const std::string& authors) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= authors.size();) {
    const std::size_t end = std::min(authors.find(", ", at), authors.size());
    const std::string author = authors.substr(at, end - at);
    const auto initials = author.rfind(". ");
    names.push_back(initials == std::string::npos ? author : author.substr(initials + 2));
    at = end + 2;
  }
  constexpr std::size_t kMost = 3;
  if (names.size() > kMost) return names.front() + " et al.";
  std::string text = names.front();
  for (std::size_t k = 1; k < names.size(); ++k)
    text += (k + 1 == names.size() ? " and " : ", ") + names[k];
  return text;
}

PaperFigure read_paper_figure(const std::string& text, const std::string& file) {
  const toml::table document = parsed(text, file, true);
  PaperFigure figure{.file = file, .paper = {}, .figure = {}, .shows = {}, .text = text};
  TomlReader reader(file, true);
  std::string paper;
  const auto runs = [&](const toml::node& node) {
    const auto* table = node.as_table();
    if (table == nullptr) return false;
    for (auto&& [key, inner] : *table) {
      const auto* one = inner.as_table();
      if (one == nullptr) return false;
      PaperRun run{.name = std::string(key.str()), .study = (*one)["study"].value_or("")};
      run.preset = (*one)["preset"].value_or("");
      flatten(*one, "", file, run.values);
      if (run.study.empty()) return false;
      figure.runs.push_back(std::move(run));
    }
    return !figure.runs.empty();
  };
  toml::table own;
  for (const std::string& key : kOwnKeys) {
    if (document.contains(key)) own.insert(key, document.at(key));
  }
  reader.read(own,
              "",
              {text_key("paper", paper, "a key of studies/sources.cpp"),
               text_key("figure", figure.figure),
               text_key("shows", figure.shows),
               text_key("differs", figure.differs),
               {"runs", "tables with a study each", runs}});
  for (const std::string key : {"paper", "figure", "shows", "runs"}) {
    if (!own.contains(key)) reader.report({1, 1}, fmt::format("missing key '{}'", key));
  }
  reader.finish();
  figure.paper = cited(paper, "");
  return figure;
}

const std::vector<PaperFigure>& paper_figures() {
  static const std::vector<PaperFigure> all = [] {
    std::vector<PaperFigure> read;
    for (const EmbeddedCard& file : embedded_paper_figures())
      read.push_back(read_paper_figure(std::string(file.text), std::string(file.path)));
    return read;
  }();
  return all;
}

const PaperFigure& find_paper_figure(const std::string& id) {
  const auto& all = paper_figures();
  const auto found = std::ranges::find(all, id, &PaperFigure::id);
  if (found != all.end()) return *found;
  // Those of the same paper, if there are any.
  const std::string paper = id.substr(0, id.find(':'));
  std::vector<std::string> names;
  for (const PaperFigure& figure : all)
    if (figure.paper.arxiv == paper) names.push_back(figure.id());
  if (names.empty())
    for (const PaperFigure& figure : all) names.push_back(figure.id());
  throw invalid_parameter("--paper",
                          id,
                          fmt::format("one of {}; `attica claims` names the study behind every "
                                      "statement and figure",
                                      fmt::join(names, ", ")));
}

FigureFile drawing_of(const PaperFigure& figure,
                      const std::map<std::string, std::filesystem::path>& folders) {
  FigureFile file = read_figure_text(figure.text, figure.file, kOwnKeys);
  for (PanelRequest& panel : file.panels) {
    for (auto* layers : {&panel.layers, &panel.inset_layers}) {
      for (LayerRequest& layer : *layers) {
        if (const auto folder = folders.find(layer.run); folder != folders.end())
          layer.run = folder->second.string();
      }
    }
  }
  return file;
}

}  // namespace attica::app
