#include "attica/studies/registry.hpp"

#include <stdexcept>

#include "attica/studies/card.hpp"

namespace attica {

// Which families there are stands in families.cmake, the list of each in <family>/studies.cpp.
#define ATTICA_FAMILY(family) std::vector<NamedStudy> family##_studies();
#include "attica/studies/families.inc"
#undef ATTICA_FAMILY

Registry::Registry(const std::vector<Study>& studies) {
  for (const Study& study : studies) {
    Slot& slot = slots_.emplace_back();
    slot.name = study.name;
    slot.study = &study;
  }
}

Registry::Registry(const std::vector<NamedStudy>& studies) {
  for (const NamedStudy& study : studies) {
    Slot& slot = slots_.emplace_back();
    slot.name = study.name;
    slot.make = study.make;
  }
}

const Study& Registry::operator[](std::size_t index) const {
  Slot& slot = slots_[index];
  if (slot.study != nullptr) return *slot.study;
  std::call_once(slot.once, [&] {
    slot.made = std::make_unique<const Study>(slot.make());
    if (slot.made->name != slot.name) {
      throw std::logic_error("the study '" + slot.made->name + "' is listed as '" +
                             std::string(slot.name) + "'");
    }
  });
  return *slot.made;
}

std::string_view Registry::question(std::size_t index) const {
  const Slot& slot = slots_[index];
  const std::string_view written =
      slot.study == nullptr ? embedded_question(slot.name) : std::string_view();
  return written.empty() ? std::string_view((*this)[index].question) : written;
}

const Study* Registry::find(std::string_view name) const {
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    if (slots_[k].name == name) return &(*this)[k];
  }
  return nullptr;
}

const Registry& built_in() {
  static const Registry all = [] {
    std::vector<NamedStudy> joined;
    for (const auto family : {
#define ATTICA_FAMILY(family) family##_studies,
#include "attica/studies/families.inc"
#undef ATTICA_FAMILY
         }) {
      for (const NamedStudy& study : family()) joined.push_back(study);
    }
    return Registry(joined);
  }();
  return all;
}

const std::vector<Study>& studies() {
  static const std::vector<Study> all(built_in().begin(), built_in().end());
  return all;
}

const std::vector<std::string>& absent_families() {
  static const std::vector<std::string> absent = {
#include "attica/studies/families.inc"
  };
  return absent;
}

const Study& study_named(std::string_view name) {
  const Study* study = built_in().find(name);
  if (study == nullptr) throw std::logic_error("no study '" + std::string(name) + "'");
  return *study;
}

}  // namespace attica
