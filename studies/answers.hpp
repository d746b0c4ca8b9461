#pragma once
/// @file
/// @brief Statements of papers, and which studies answer them: the `answers` of cards, and what
/// studies/papers.toml says of statements that none answers.

#include <string>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica {

/// A statement of a paper with what is found of it.
struct Answer {
  std::string section;  ///< of docs/papers.md
  std::size_t row = 0;  ///< in that section, from 1
  Source paper;         ///< `used` is empty
  std::string statement;
  std::string result;                  ///< what is found, in short; Markdown
  std::string study = {};              ///< that answers it; empty: none does
  std::string card = {};               ///< "studies/bigrams/floor.toml"; empty: no study
  std::vector<std::string> with = {};  ///< further studies
  std::string run = {};  ///< preset or reference run of the study; empty: its quick settings
  std::string by = {};   ///< Markdown that names what answers it, where names of studies do not
};

/// @brief All of them, by section and row.
/// @throws std::logic_error for a card with mistakes, with the place
const std::vector<Answer>& answers();

/// @brief The statements that one card answers. @param sections the sections' names and papers
/// @throws Error of kind input with all mistakes
std::vector<Answer> read_answers(
    const std::string& card,
    const std::string& source,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& sections);

}  // namespace attica
