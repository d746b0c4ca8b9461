#include "attica/studies/study.hpp"

#include <fmt/format.h>

#include <map>

#include "attica/core/error.hpp"

template class std::vector<attica::Parameter>;
template class std::vector<attica::Preset>;
template class std::vector<attica::SeriesInfo>;
template class std::vector<attica::Source>;
template class std::vector<attica::ReferenceRun>;
template class std::vector<attica::AgreementRule>;
template class std::vector<attica::ClaimResult>;
template class std::vector<attica::Panel>;
template class std::vector<attica::Layer>;
template class std::vector<attica::Prediction>;
template class std::vector<attica::Series>;
template class std::vector<attica::Outcome>;
template class std::vector<attica::ObservedCurve>;

namespace attica {

std::filesystem::path Piece::state_file(std::uint64_t replicate) const {
  if (state.empty()) return {};
  return fmt::format("{}.r{:06}{}", state.string(), replicate, kStateExtension);
}

std::vector<Outcome> each_replicate(const Piece& piece,
                                    const std::function<Outcome(std::uint64_t)>& simulate) {
  std::vector<Outcome> outcomes;
  for (std::uint64_t r = 0; r < piece.replicates && !piece.stop.stop_requested(); ++r)
    outcomes.push_back(simulate(piece.first_replicate + r));
  return outcomes;
}

const ObservedCurve* Observed::curve(std::string_view series, const Point& point) const {
  for (const ObservedCurve& curve : simulation) {
    if (curve.mean.name == series && same_place(curve.mean.point, point)) return &curve;
  }
  return nullptr;
}

std::vector<double> Observed::last(std::string_view series, const Point& point) const {
  const ObservedCurve* found = curve(series, point);
  return found == nullptr || found->values.empty() ? std::vector<double>{} : found->values.back();
}

std::vector<std::vector<double>> Observed::paths(std::string_view series,
                                                 const Point& point) const {
  std::map<std::uint64_t, std::vector<double>> of_replicate;
  if (const ObservedCurve* found = curve(series, point)) {
    for (std::size_t k = 0; k < found->values.size(); ++k) {
      for (std::size_t r = 0; r < found->values[k].size(); ++r) {
        of_replicate[found->replicates[k][r]].push_back(found->values[k][r]);
      }
    }
  }
  std::vector<std::vector<double>> all;
  for (auto& entry : of_replicate) all.push_back(std::move(entry.second));
  return all;
}

std::optional<double> Observed::predicted(std::string_view series, const Point& point) const {
  for (const Prediction& p : theory) {
    if (p.series.name == series && same_place(p.series.point, point) && !p.series.y.empty()) {
      return p.series.y.front();
    }
  }
  return std::nullopt;
}

Study with_current_names(Study study) {
  const auto take = [&](auto& current, auto& former, const char* name, const char* former_name) {
    if (former.empty()) return;
    if (!current.empty()) {
      throw Error(ErrorKind::input,
                  fmt::format("study '{}' has '{}' and '{}', its former name; expected '{}' alone",
                              study.name,
                              name,
                              former_name,
                              name));
    }
    current = std::move(former);
    former.clear();
  };
  take(study.approximation, study.neglects, "approximation", "neglects");
  take(study.not_compared, study.outside, "not_compared", "outside");
  take(study.reference_runs, study.recipes, "reference_runs", "recipes");
  take(study.perturbed, study.plants, "perturbed", "plants");
  return study;
}
}  // namespace attica
