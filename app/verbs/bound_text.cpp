#include "attica/app/verbs/bound_text.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "attica/app/run/json.hpp"
#include "attica/app/verbs/fit_subject.hpp"
#include "attica/studies/study.hpp"

namespace attica::app {

std::string place_text(const Point& point, const std::string& x_name, double x) {
  return describe(x_name == "none" ? point : joined(point, {{x_name, x}}));
}

namespace {

std::string interval_text(const std::optional<Interval>& interval) {
  return interval ? fmt::format(" ({:.3g} to {:.3g})", interval->low, interval->high) : "";
}

std::string place_of(const sources::BoundPoint& p) { return place_text(p.point, p.x_name, p.x); }

/// What the bound is compared with.
std::string bounded_quantile(const sources::BoundResult& b) {
  if (b.probability >= 1) return b.upper ? "largest" : "smallest";
  return fmt::format("{:.4g}-quantile", b.upper ? b.probability : 1 - b.probability);
}

}  // namespace

std::string bound_text(const sources::BoundResult& b) {
  std::string text =
      fmt::format("bound {}: {} {} {}, {}\n",
                  b.name,
                  b.series,
                  b.upper ? "<=" : ">=",
                  b.formula,
                  b.probability < 1 ? fmt::format("with probability {}", b.probability) : "always");
  for (const sources::BoundPoint& p : b.points) {
    text += fmt::format("  {:<24} bound {:>11.5g}  {} {:>11}  violated {} of {} ({:.3g} to {:.3g})",
                        place_of(p),
                        p.bound,
                        bounded_quantile(b),
                        p.n > 0 ? fmt::format("{:.5g}", p.quantile) : "none",
                        p.violations,
                        p.n,
                        p.rate.low,
                        p.rate.high);
    if (p.slack > 0)
      text += fmt::format("  slack {:.3g}{}", p.slack, interval_text(p.slack_interval));
    text += fmt::format("  {}\n", sources::describe(p.verdict));
  }
  text += fmt::format("{}: ", sources::describe(b.verdict));
  if (b.first_violated) {
    const sources::BoundPoint& p = b.points[*b.first_violated];
    text += fmt::format("first at {}, in {} of {} replicates", place_of(p), p.violations, p.n);
  } else if (b.tightest) {
    const sources::BoundPoint& p = b.points[*b.tightest];
    text += fmt::format("tightest at {}, by a factor {:.3g}{}",
                        place_of(p),
                        p.slack,
                        interval_text(p.slack_interval));
  } else {
    text += fmt::format("{} points", b.points.size());
  }
  if (!b.reason.empty()) text += "; " + b.reason;
  return text + "\n";
}

Json bound_object(const sources::BoundResult& b) {
  const auto limits = [](const std::optional<Interval>& i) { return i ? interval(*i) : Json(); };
  Json points = Json::array();
  for (const sources::BoundPoint& p : b.points) {
    points.push_back({{"point", to_json(p.point)},
                      {"x_name", p.x_name},
                      {"x", p.x},
                      {"bound", p.bound},
                      {"mean", finite_or_null(p.mean)},
                      {"quantile", p.n > 0 ? finite_or_null(p.quantile) : Json()},
                      {"n", p.n},
                      {"failed", p.failed},
                      {"violations", p.violations},
                      {"violation_rate90", limits(p.rate)},
                      {"slack", p.slack > 0 ? finite_or_null(p.slack) : Json()},
                      {"slack90", limits(p.slack_interval)},
                      {"verdict", sources::describe(p.verdict)}});
  }
  const auto place = [&](const std::optional<std::size_t>& k) { return k ? points[*k] : Json(); };
  Json first = place(b.first_violated);
  Json tightest = place(b.tightest);
  return {{"name", b.name},
          {"series", b.series},
          {"expression", b.formula},
          {"direction", b.upper ? "upper" : "lower"},
          {"probability", b.probability},
          {"loose", b.loose},
          {"verdict", sources::describe(b.verdict)},
          {"first_violated", std::move(first)},
          {"tightest", std::move(tightest)},
          {"points", std::move(points)}};
}

}  // namespace attica::app
