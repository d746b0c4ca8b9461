/// @file
/// @brief The verdict as check.json holds it.

#include <algorithm>
#include <cmath>

#include "attica/app/verdict/verdict.hpp"

namespace attica::app {
namespace {

/// Moments of numbers whose squares are too large are no numbers: null.
void put_null_for_overflow(Json& json) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) json = nullptr;
  if (!json.is_structured()) return;
  for (Json& element : json) put_null_for_overflow(element);
}

Json point_object(const Place& at, const PointVerdict& v) {
  Json object{{"series", at.series},
              {"point", to_json(at.point)},
              {"x_name", at.x_name},
              {"x", at.x},
              {"mean", v.sample.mean},
              {"theory", v.theory},
              {"sem", v.sample.sem},
              {"n", v.sample.n},
              {"verdict", describe(v.verdict)},
              {"difference", v.difference},
              {"margin", v.margin},
              {"margin_terms",
               {{"absolute", v.margin_terms.absolute},
                {"relative", v.margin_terms.relative},
                {"finite_size", v.margin_terms.finite_size},
                {"numerical_error", v.margin_terms.numerical_error}}},
              {"tails",
               v.success_fraction         ? "rate"
               : v.tails == Tails::normal ? "normal"
                                          : "guarded"},
              {"p_agree", v.p_agree},
              {"p_disagree", v.p_disagree},
              {"p_disagree_adjusted", v.p_disagree_adjusted},
              {"skewness", v.sample.skewness},
              {"guard_share", v.guard_share}};
  if (v.status == PointStatus::no_theory) {
    object.erase("theory");
    object["difference"] = object["margin"] = nullptr;
  }
  // What so few replicates cannot tell is null, not zero.
  if (v.sample.n < 2) object["sem"] = nullptr;
  if (v.sample.n == 0) object["mean"] = object["difference"] = nullptr;
  if (v.interval) object["interval90"] = Json::array({v.interval->low, v.interval->high});
  if (v.z) object["z"] = *v.z;
  if (v.verdict == Verdict::inconclusive && v.detectable_gap) {  // else `reason` says what lacks
    object["replicates_needed"] = v.replicates_needed ? Json(*v.replicates_needed) : Json("none");
  }
  if (v.guard_alone) object["guard_alone"] = true;
  if (v.sample.other) {
    object["theory_n"] = v.sample.other->n;
    object["standard_error"] = v.sample.standard_error();  // of the difference
    object["degrees_of_freedom"] = v.sample.degrees_of_freedom();
  }
  if (!v.reason.empty()) object["reason"] = v.reason;
  if (!v.warning.empty()) object["warning"] = v.warning;
  return object;
}

}  // namespace

Json to_json(const CheckRecord& record) {
  Json points = Json::array();
  for (std::size_t k = 0; k < record.places.size(); ++k)
    points.push_back(point_object(record.places[k], record.points.points[k]));
  Json claims = Json::array();
  for (const ClaimResult& claim : record.claims) {
    claims.push_back({{"name", claim.name},
                      {"statement", claim.statement},
                      {"verdict", describe(claim.verdict)},
                      {"detail", claim.detail},
                      {"refutable", claim.refutable}});
    if (claim.p_agree) claims.back()["p_agree"] = *claim.p_agree;
    if (claim.p_disagree) claims.back()["p_disagree"] = *claim.p_disagree;
    if (claim.replicates_needed) claims.back()["replicates_needed"] = *claim.replicates_needed;
  }
  Json rules = Json::array();
  for (const AgreementRule& rule : record.rules) {
    rules.push_back({{"series", rule.series},
                     {"relative", record.post_hoc_margin.value_or(rule.relative)},
                     {"absolute", rule.absolute}});
  }
  Json controls = Json::array();
  for (const Control& control : record.controls) {
    controls.push_back({{"series", control.series},
                        {"verdict", describe(control.points.verdict)},
                        {"compared", control.points.compared},
                        {"agree", control.points.agree}});
    if (const auto worst = control.points.worst)
      controls.back()["worst"] =
          point_object(control.places[*worst], control.points.points[*worst]);
  }
  Json object{{"study", record.study},
              {"run", record.run},
              {"verdict", describe(record.verdict)},
              {"margin", record.margin()},
              {"rules", std::move(rules)},
              {"post_hoc_margin", record.margin_is_post_hoc()},
              {"family", record.family},
              {"counts",
               {{"compared", record.points.compared},
                {"agree", record.points.agree},
                {"disagree", record.points.disagree},
                {"inconclusive", record.points.inconclusive},
                {"failed", record.points.failed},
                {"no_theory", record.points.no_theory},
                {"not_compared", record.not_compared.size()}}},
              {"points", std::move(points)},
              {"claims", std::move(claims)},
              {"controls", std::move(controls)},
              {"diagnostics", record.diagnostics}};
  if (record.points.worst) object["worst_point"] = *record.points.worst;
  if (record.points.largest_detectable_gap)
    object["largest_detectable_gap"] = *record.points.largest_detectable_gap;
  if (!record.resolution.empty()) {
    const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
    // Of the harder sign, unless a sign is named.
    const auto both = [&](const Resolution& r) {
      return Json{{"not_agree", number(r.not_agree.both())},
                  {"disagree", number(r.disagree.both())}};
    };
    Json resolution = Json::array();
    std::optional<double> coarsest = 0;
    for (const SeriesResolution& r : record.resolution) {
      Json parts = Json::array();
      for (const SeriesResolution::Part& part : r.parts) {
        parts.push_back({{"first", part.first},
                         {"last", part.last},
                         {"not_agree", number(part.resolution.not_agree.both())},
                         {"disagree", number(part.resolution.disagree.both())}});
      }
      resolution.push_back({{"series", r.series},
                            {"not_agree", number(r.resolution.not_agree.both())},
                            {"disagree", number(r.resolution.disagree.both())},
                            {"lower",
                             {{"not_agree", number(r.resolution.not_agree.lower)},
                              {"disagree", number(r.resolution.disagree.lower)}}},
                            {"higher",
                             {{"not_agree", number(r.resolution.not_agree.higher)},
                              {"disagree", number(r.resolution.disagree.higher)}}},
                            {"coarsest_third", both(r.coarsest_third)},
                            {"parts", std::move(parts)}});
      if (coarsest && r.resolution.not_agree.both()) {
        coarsest = std::max(*coarsest, *r.resolution.not_agree.both());
      } else {
        coarsest.reset();
      }
    }
    object["resolution"] = std::move(resolution);
    object["coarsest_resolution"] = number(coarsest);
  }
  if (record.cap) {
    object["stopping"] = {
        {"rule", "group-sequential"}, {"cap", *record.cap}, {"replicates", record.replicates}};
  }
  if (!record.perturbed.empty()) object["perturbed"] = record.perturbed;
  if (!record.edited.empty()) object["edited"] = record.edited;
  if (!record.not_compared.empty()) {
    Json places = Json::array();
    for (const Place& at : record.not_compared) {
      places.push_back({{"series", at.series},
                        {"point", to_json(at.point)},
                        {"x_name", at.x_name},
                        {"x", at.x}});
    }
    object["not_compared"] = std::move(places);
    if (!record.why_not_compared.empty()) object["not_compared_because"] = record.why_not_compared;
  }
  if (!record.incomplete.empty()) {
    Json incomplete = Json::array();
    for (const Incomplete& point : record.incomplete) {
      incomplete.push_back({{"series", point.place.series},
                            {"point", to_json(point.place.point)},
                            {"x_name", point.place.x_name},
                            {"x", point.place.x},
                            {"failed", point.failed},
                            {"replicates", point.replicates}});
    }
    object["incomplete"] = std::move(incomplete);
  }
  if (!record.expected.empty()) object["expected"] = record.expected;
  if (record.theory_only > 0) object["counts"]["theory_only"] = record.theory_only;
  if (!record.without_rule.empty()) object["without_margin"] = record.without_rule;
  if (!record.unmatched.empty()) {
    Json unmatched = Json::array();
    for (const Unmatched& u : record.unmatched) {
      unmatched.push_back({{"series", u.place.series},
                           {"point", to_json(u.place.point)},
                           {"x_name", u.place.x_name},
                           {"x", u.place.x},
                           {"reason", u.why}});
    }
    object["unmatched"] = std::move(unmatched);
    object["partial"] = record.partial;
  }
  if (record.equal) object["equal_to_theory"] = true;
  if (record.wide_errors > 0) object["wide_errors"] = record.wide_errors;
  if (record.copies) {
    object["copies"] = {{"copies", record.copies->copies},
                        {"replicates", record.copies->replicates}};
    if (!record.copies->place.empty()) object["copies"]["place"] = record.copies->place;
  }
  if (record.serial) {
    object["serial_correlation"] = {{"correlation", record.serial->correlation},
                                    {"p", record.serial->p_value},
                                    {"factor", record.serial->factor()},
                                    {"correlated", record.serial->correlated()}};
    if (record.serial->correlated()) object["serial_correlation"]["stands"] = record.serial_stands;
  }
  if (!record.looks.empty()) object["looks"] = record.looks;
  if (!record.judged_before.empty()) object["judged_before"] = record.judged_before;
  if (!record.likely_cause.empty()) object["likely_cause"] = record.likely_cause;
  object["summary"] = summary(record);
  put_null_for_overflow(object);
  return versioned("check", std::move(object));
}

}  // namespace attica::app
