#include <fmt/format.h>

#include <string>
#include <utility>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/bound_constant.hpp"
#include "attica/app/verbs/bound_text.hpp"

namespace attica::app {
namespace {

std::string statement_text(const sources::StatedBound& stated) {
  return fmt::format(
      "{} {} {}, {}",
      stated.series,
      stated.upper ? "<=" : ">=",
      stated.formula,
      stated.probability < 1 ? fmt::format("with probability {}", stated.probability) : "always");
}

std::string constant_text(const sources::StatedBound& stated,
                          const std::string& name,
                          const ConstantResult& r) {
  std::string text = statement_text(stated) + "\n";
  const SmallestConstant& c = r.constant;
  for (std::size_t k = 0; k < r.places.size(); ++k) {
    const NeededPlace& p = r.places[k];
    text += fmt::format("  {:<24} {} {:>9.4g}, 95 % [{:.4g}, {:.4g}]  {} replicates\n",
                        place_text(p.point, p.x_name, p.x),
                        stated.upper ? "needs " + name : "allows " + name,
                        c.needed[k],
                        c.needed95[k].low,
                        c.needed95[k].high,
                        p.needed.size());
  }
  const NeededPlace& decides = r.places[c.place];
  text += fmt::format(
      "  {} {} at which it holds everywhere: {:.4g}, 95 % [{:.4g}, {:.4g}], set at {}\n",
      stated.upper ? "smallest" : "largest",
      name,
      c.value,
      c.interval95.low,
      c.interval95.high,
      place_text(decides.point, decides.x_name, decides.x));
  for (const Growth& g : r.growth) {
    text += fmt::format(
        "  {} grows with {} to the power {:.3f}, 95 % [{:.3f}, {:.3f}]: {}\n",
        stated.upper ? stated.series + " over the bound" : "the bound over " + stated.series,
        g.size,
        g.exponent,
        g.interval95.low,
        g.interval95.high,
        describe(g.verdict));
  }
  text += std::string(sources::describe(r.verdict));
  if (!r.reason.empty() && r.verdict != sources::BoundVerdict::holds) text += ": " + r.reason;
  return text + "\n";
}

Json constant_object(const sources::StatedBound& stated,
                     const std::string& name,
                     double tolerance,
                     const ConstantResult& r) {
  Json places = Json::array();
  for (std::size_t k = 0; k < r.places.size(); ++k) {
    const NeededPlace& p = r.places[k];
    places.push_back({{"point", to_json(place_of(p))},
                      {"n", p.needed.size()},
                      {"failed", p.failed},
                      {"constant", finite_or_null(r.constant.needed[k])},
                      {"interval95", interval(r.constant.needed95[k])}});
  }
  Json growth = Json::array();
  for (const Growth& g : r.growth) {
    growth.push_back({{"name", g.size},
                      {"exponent", g.exponent},
                      {"interval95", interval(g.interval95)},
                      {"verdict", describe(g.verdict)}});
  }
  Json tightest = places[r.constant.place];
  return {{"series", stated.series},
          {"expression", stated.formula},
          {"direction", stated.upper ? "upper" : "lower"},
          {"probability", stated.probability},
          {"tolerance", tolerance},
          {"constant",
           {{"name", name},
            {"value", finite_or_null(r.constant.value)},
            {"interval95", interval(r.constant.interval95)},
            {"tightest", std::move(tightest)}}},
          {"growth", std::move(growth)},
          {"verdict", sources::describe(r.verdict)},
          {"reason", r.reason},
          {"points", std::move(places)}};
}

int exit_code_of(sources::BoundVerdict verdict) {
  if (verdict == sources::BoundVerdict::violated) return kExitDisagree;
  return verdict == sources::BoundVerdict::undecided ? int{kExitInconclusive} : int{kExitDone};
}

}  // namespace

int judge_statement(const Options& options, const Registry& registry) {
  FitSubject subject{.curves = {}, .series = {}, .cap_series = {}, .about = {}};
  const sources::StatedBound stated = stated_bound(options, registry, subject);
  if (options.constant.empty()) {
    if (options.tolerance)
      throw Error(ErrorKind::input, "--tolerance is of exponents; expected --constant with it");
    sources::BoundResult b = sources::judge_stated_bound(
        stated, {.theory = {}, .simulation = std::move(subject.curves)});
    if (options.json) {
      Json object = subject.about;
      object["verdict"] = sources::describe(b.verdict);
      object["bounds"] = Json::array({bound_object(b)});
      print("bound", object);
    } else {
      put("{}", bound_text(b));
    }
    return exit_code_of(b.verdict);
  }
  const double tolerance = options.tolerance.value_or(kExponentTolerance);
  const ConstantResult result = judge_constant(stated, options.constant, tolerance, subject.curves);
  if (options.json) {
    Json object = subject.about;
    object.update(constant_object(stated, options.constant, tolerance, result));
    print("bound", object);
  } else {
    put("{}", constant_text(stated, options.constant, result));
  }
  return exit_code_of(result.verdict);
}

}  // namespace attica::app
