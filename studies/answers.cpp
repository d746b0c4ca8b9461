#include "attica/studies/answers.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "attica/core/error.hpp"
#include "attica/studies/card.hpp"
#include "attica/studies/sources.hpp"
#include "attica/studies/toml_reader.hpp"

namespace attica {

using namespace toml_io;

namespace {

constexpr std::string_view kPapers = "studies/papers.toml";

using Sections = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// "studies/gauss/double_descent.toml" is gauss-double-descent, unless the card says otherwise.
std::string study_of(const toml::table& card, const std::string& source) {
  if (const auto name = card["name"].value<std::string>()) return *name;
  std::string path = source.substr(0, source.rfind('.'));
  const auto file = path.rfind('/');
  const auto folder = path.rfind('/', file - 1);
  path = path.substr(folder + 1);
  std::ranges::replace(path, '/', '-');
  std::ranges::replace(path, '_', '-');
  return path;
}

/// Reads one table into an answer that has its study already.
void read_answer(const toml::table& table, TomlReader& reader, Answer& answer, std::string& paper) {
  std::optional<double> row;
  reader.read(table,
              reader.place(),
              {text_key("section", answer.section),
               text_key("paper", paper),
               number_key("row", row, "a whole number from 1", 1),
               text_key("statement", answer.statement),
               text_key("result", answer.result),
               text_key("run", answer.run),
               text_key("by", answer.by),
               texts_key("with", answer.with)});
  answer.row = static_cast<std::size_t>(row.value_or(0));
  for (const char* key : {"paper", "row", "statement", "result"}) {
    if (!table.contains(key))
      reader.report(table.source().begin, fmt::format("missing key '{}'", key));
  }
  try {
    answer.paper = cited(paper, "");
  } catch (const std::logic_error&) {
    throw invalid_parameter("answers.paper", paper, "a paper of studies/sources.cpp");
  }
}

Sections sections_of(const toml::table& papers) {
  Sections sections;
  if (const auto* list = papers["section"].as_array()) {
    for (const toml::node& node : *list) {
      const toml::table& table = *node.as_table();
      std::vector<std::string> keys;
      for (const toml::node& key : *table["papers"].as_array()) keys.emplace_back(key.value_or(""));
      sections.emplace_back(table["name"].value_or(""), keys);
    }
  }
  return sections;
}

std::vector<Answer> all_answers() {
  std::string_view text;
  for (const EmbeddedCard& card : embedded_cards()) {
    if (card.path == kPapers) text = card.text;
  }
  const std::string source(kPapers);
  const toml::table papers = parsed(std::string(text), source, true);
  const Sections sections = sections_of(papers);
  std::vector<Answer> all;
  for (const EmbeddedCard& card : embedded_cards()) {
    if (card.path == kPapers || card.text.find("\nanswers = [") == card.text.npos) continue;
    for (Answer& answer : read_answers(std::string(card.text), std::string(card.path), sections))
      all.push_back(std::move(answer));
  }
  if (const auto* open = papers["open"].as_array()) {
    TomlReader reader(source, true);
    for (const toml::node& node : *open) {
      std::string paper;
      Answer answer{.section = {}, .paper = {}, .statement = {}, .result = {}};
      read_answer(*node.as_table(), reader, answer, paper);
      all.push_back(std::move(answer));
    }
    reader.finish();
  }
  const auto place = [&](const Answer& answer) {
    const auto section = std::ranges::find(sections, answer.section, &Sections::value_type::first);
    return std::tuple(section - sections.begin(), answer.row);
  };
  std::ranges::stable_sort(all, {}, place);
  return all;
}

}  // namespace

std::vector<Answer> read_answers(const std::string& card,
                                 const std::string& source,
                                 const Sections& sections) {
  const toml::table document = parsed(card, source, true);
  std::vector<Answer> all;
  const auto* list = document["answers"].as_array();
  if (list == nullptr) return all;
  TomlReader reader(source, true);
  for (const toml::node& node : *list) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      reader.report(node.source().begin, "answers: expected a list of tables");
      continue;
    }
    Answer answer{.section = {},
                  .paper = {},
                  .statement = {},
                  .result = {},
                  .study = study_of(document, source),
                  .card = source};
    std::string paper;
    try {
      read_answer(*table, reader, answer, paper);
    } catch (const Error& error) {
      reader.report(node.source().begin, error.what());
      continue;
    }
    for (const auto& [name, papers] : sections) {
      if (std::ranges::count(papers, paper) > 0) answer.section = name;
    }
    if (answer.section.empty())
      reader.report(node.source().begin,
                    fmt::format("answers: paper '{}' is in no section of {}", paper, kPapers));
    all.push_back(std::move(answer));
  }
  reader.finish();
  return all;
}

const std::vector<Answer>& answers() {
  static const std::vector<Answer> all = [] {
    try {
      return all_answers();
    } catch (const Error& error) {
      throw std::logic_error(error.what());
    }
  }();
  return all;
}

}  // namespace attica
