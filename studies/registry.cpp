#include <stdexcept>

#include "attica/studies/study.hpp"

namespace attica {

// A family's list stands in <family>/studies.cpp.
std::vector<Study> gauss_studies();
std::vector<Study> potts_studies();
std::vector<Study> topics_studies();
std::vector<Study> joma_studies();
std::vector<Study> bigrams_studies();
std::vector<Study> icl_studies();
std::vector<Study> language_studies();
std::vector<Study> masked_studies();

const std::vector<Study>& studies() {
  static const std::vector<Study> all = [] {
    std::vector<Study> joined;
    for (const auto family : {
             gauss_studies,
             potts_studies,
             topics_studies,
             joma_studies,
             bigrams_studies,
             icl_studies,
             language_studies,
             masked_studies,
         }) {
      for (Study& study : family()) joined.push_back(std::move(study));
    }
    return joined;
  }();
  return all;
}

const Study& study_named(std::string_view name) {
  for (const Study& study : studies()) {
    if (study.name == name) return study;
  }
  throw std::logic_error("no study '" + std::string(name) + "'");
}

}  // namespace attica
