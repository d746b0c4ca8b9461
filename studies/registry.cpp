#include <stdexcept>

#include "attica/studies/study.hpp"

namespace attica {

// Which families there are stands in families.cmake, the list of each in <family>/studies.cpp.
#define ATTICA_FAMILY(family) std::vector<Study> family##_studies();
#include "attica/studies/families.inc"
#undef ATTICA_FAMILY

const std::vector<Study>& studies() {
  static const std::vector<Study> all = [] {
    std::vector<Study> joined;
    for (const auto family : {
#define ATTICA_FAMILY(family) family##_studies,
#include "attica/studies/families.inc"
#undef ATTICA_FAMILY
         }) {
      for (Study& study : family()) joined.push_back(std::move(study));
    }
    return joined;
  }();
  return all;
}

const std::vector<std::string>& absent_families() {
  static const std::vector<std::string> absent = {
#include "attica/studies/families.inc"
  };
  return absent;
}

const Study& study_named(std::string_view name) {
  for (const Study& study : studies()) {
    if (study.name == name) return study;
  }
  throw std::logic_error("no study '" + std::string(name) + "'");
}

}  // namespace attica
