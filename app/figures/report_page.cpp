#include "attica/app/figures/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "attica/app/command/text.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/json.hpp"
#include "attica/core/error.hpp"
#include "attica/plots/draw.hpp"
#include "attica/plots/report.hpp"
#include "attica/sources/study.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// A JSON value as a reader wants it: text without quotes, short lists in a line.
std::string plain(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (value.is_array()) {
    std::string text;
    for (const Json& element : value) text += (text.empty() ? "" : ", ") + plain(element);
    return text;
  }
  if (value.is_object()) {
    std::string text;
    for (const auto& [key, element] : value.items()) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", key, plain(element));
    }
    return text;
  }
  return value.dump();
}

TextPairs pairs(const Json& object) {
  TextPairs list;
  for (const auto& [key, value] : object.items()) list.emplace_back(key, plain(value));
  return list;
}

std::string number(const Json& point, const char* key, const char* format) {
  const auto at = point.find(key);
  if (at == point.end() || !at->is_number()) return "";
  return fmt::format(fmt::runtime(format), at->get<double>());
}

/// The summary without the verdict in front, which the page shows by itself.
std::string after_verdict(const std::string& summary) {
  const auto colon = summary.find(": ");
  return colon == std::string::npos ? summary : summary.substr(colon + 2);
}

/// "lambda = 0.1, width = 16".
std::string coordinates_text(const Json& point) {
  std::string text;
  for (const auto& [name, value] : point.items()) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, plain(value));
  }
  return text;
}

/// A sentence on the points that the figure draws and the verdict leaves out; empty if there are
/// none.
std::string not_compared(const Json& check, const Figure& figure) {
  constexpr std::size_t kListed = 6;
  std::set<std::string> drawn;
  for (const Panel& panel : figure.panels) {
    for (const Layer& layer : panel.layers) drawn.insert(layer.series);
  }
  std::vector<std::pair<std::string, std::size_t>> curves;
  const bool older = check.contains("outside");  // runs before 0.9
  for (const Json& at : check.value(older ? "outside" : "not_compared", Json::array())) {
    const std::string series = at.at("series");
    if (!drawn.contains(series)) continue;
    const std::string coordinates = coordinates_text(at.at("point"));
    std::string curve = coordinates.empty() ? series : series + " at " + coordinates;
    const auto known = std::find_if(
        curves.begin(), curves.end(), [&](const auto& of) { return of.first == curve; });
    if (known == curves.end()) {
      curves.emplace_back(std::move(curve), 1);
    } else {
      ++known->second;
    }
  }
  if (curves.empty()) return "";
  std::string text;
  for (std::size_t k = 0; k < std::min(curves.size(), kListed); ++k) {
    text += fmt::format("{}{} ({} {})",
                        k == 0 ? "" : "; ",
                        curves[k].first,
                        curves[k].second,
                        curves[k].second == 1 ? "point" : "points");
  }
  if (curves.size() > kListed) text += fmt::format("; {} more", curves.size() - kListed);
  text = " Drawn, but not compared: " + text + ".";
  const char* const because = older ? "outside_because" : "not_compared_because";
  if (check.contains(because)) text += " Reason: " + plain(check[because]) + ".";
  return text;
}

ReportRow point_row(const Json& point) {
  const std::string coordinates = coordinates_text(point.at("point"));
  const std::string verdict = point.at("verdict");
  const std::string x_name = point.at("x_name");
  // Without a theory there is nothing to compare.
  const bool compared = !number(point, "theory", "{}").empty();
  const auto comparison = [&](const char* key, const char* format) {
    return compared ? number(point, key, format) : "";
  };
  // Nor is there anything to agree within without a margin.
  const bool declared = compared && point.at("margin").is_number() && point.at("margin") > 0;
  const auto margin = [&](const char* key, const char* format) {
    return declared ? number(point, key, format) : "";
  };
  return {.cells = {declared || !compared ? verdict : std::string(describe(Verdict::none)),
                    point.at("series"),
                    coordinates,
                    x_name == "none" ? "" : x_name + number(point, "x", " = {:.5g}"),
                    number(point, "theory", "{:.6g}"),
                    number(point, "mean", "{:.6g}"),
                    number(point, "sem", "{:.2g}"),
                    number(point, "n", "{:.0f}"),
                    comparison("difference", "{:+.3g}"),
                    comparison("z", "{:+.2f}"),
                    margin("margin", "{:.3g}"),
                    margin("p_agree", "{:.2g}"),
                    margin("p_disagree_adjusted", "{:.2g}"),
                    comparison("replicates_needed", "{:.0f}")},
          .verdict = verdict};
}

}  // namespace

std::string report_page(const RunRecord& record, const Study& study, const Figure& figure) {
  const fs::path& run = record.path;
  try {
    const Json check = Json::parse(read_whole(run / "check.json"));
    const Json provenance = Json::parse(read_whole(run / "provenance.json"));
    ReportContent content{.title = study.question,
                          .study = study.name,
                          .run = fmt::format("{}-{}", record.name, record.hash),
                          .verdict = check.at("verdict"),
                          .summary = after_verdict(check.at("summary")),
                          .approximation = approximation_sentence(study.approximation),
                          .warnings = {},
                          .figure_svg = {},
                          .caption = figure.caption + not_compared(check, figure),
                          .wide = figure.columns > 1,
                          .columns = {"verdict",
                                      "series",
                                      "point",
                                      "x",
                                      "theory",
                                      "mean",
                                      "SEM",
                                      "n",
                                      "difference",
                                      "z",
                                      "margin",
                                      "p agree",
                                      "p disagree (adjusted)",
                                      "replicates to decide"},
                          .rows = {},
                          .claims = {},
                          .diagnostics = pairs(check.at("diagnostics")),
                          .configuration = read_whole(run / "config.resolved.toml"),
                          .provenance = pairs(provenance),
                          .reproduce = {},
                          .sources = {}};
    const char* const perturbed = check.contains("planted") ? "planted" : "perturbed";
    if (check.contains(perturbed))
      content.warnings.push_back("The theory is perturbed on purpose: " + plain(check[perturbed]) +
                                 ".");
    if (!record.edited.empty() || check.contains("edited")) {
      content.warnings.push_back(
          "Edited after the run: " +
          (record.edited.empty() ? plain(check["edited"]) : plain(record.edited)) + ".");
    }
    if (was_edited(run / "plots" / (figure.name + ".gp"))) {
      content.warnings.emplace_back(
          "The figure's script or data was edited by hand, so that the figure may be of earlier "
          "data; attica plot --force draws it again.");
    }
    for (const Json& u : check.value("unmatched", Json::array())) {
      constexpr std::size_t kMost = 12;
      if (content.warnings.size() > kMost) {
        content.warnings.push_back(
            fmt::format("{} simulated points have no theory in all.", check["unmatched"].size()));
        break;
      }
      const std::string place = coordinates_text(u.at("point"));
      content.warnings.push_back(fmt::format("No theory: {} at {}{} = {}: {}.",
                                             u.at("series").get<std::string>(),
                                             place.empty() ? "" : place + ", ",
                                             u.at("x_name").get<std::string>(),
                                             plain(u.at("x")),
                                             u.at("reason").get<std::string>()));
    }
    if (const Json serial = check.value("serial_correlation", Json::object());
        serial.value("correlated", false)) {
      content.warnings.push_back(
          fmt::format("Correlated replicates: autocorrelation {:.2f} in their order (p = {:.2g}); "
                      "error bars are "
                      "too small by a factor of {:.2g}.",
                      serial.at("correlation").get<double>(),
                      serial.at("p").get<double>(),
                      serial.at("factor").get<double>()));
    }
    if (check.at("verdict") == describe(Verdict::none) &&
        check.at("counts").at("compared").get<std::size_t>() > 0) {
      content.warnings.emplace_back(
          "No margin was declared: z values, and no verdict; --margin or --absolute gives one.");
    }
    if (check.contains("likely_cause"))
      content.warnings.push_back("Likely cause: " + check["likely_cause"].get<std::string>());
    if (const fs::path svg = run / "plots" / (figure.name + ".svg"); fs::exists(svg))
      content.figure_svg = read_whole(svg);
    for (const std::string& name : study.shown) {
      if (fs::exists(run / name)) content.texts.emplace_back(name, read_whole(run / name));
    }
    for (const Json& point : check.at("points")) content.rows.push_back(point_row(point));
    for (const Json& claim : check.at("claims")) {
      content.claims.push_back({.cells = {claim.at("verdict"),
                                          claim.at("name"),
                                          claim.at("statement"),
                                          claim.at("detail")},
                                .verdict = claim.at("verdict")});
    }
    for (const Json& control : check.value("controls", Json::array())) {
      content.diagnostics.emplace_back("control " + control.at("series").get<std::string>(),
                                       fmt::format("{}: {} of {} points agree",
                                                   control.at("verdict").get<std::string>(),
                                                   control.at("agree").get<std::size_t>(),
                                                   control.at("compared").get<std::size_t>()));
    }
    // The resolution of an AGREE stands below the verdict.
    if (content.verdict == describe(Verdict::agree) && check.contains("resolution")) {
      const auto either_sign = [](const Json& r, const char* key) {
        std::string words;
        for (const char* sign : {"lower", "higher"}) {
          if (!r.contains(sign) || !r[sign].at(key).is_number()) continue;
          words += fmt::format("{}{:.2g} % {}",
                               words.empty() ? "" : " or ",
                               100 * r[sign].at(key).get<double>(),
                               sign);
        }
        return words;
      };
      for (const Json& r : check.at("resolution")) {
        const std::string noticed = either_sign(r, "not_agree");
        const std::string rejected = either_sign(r, "disagree");
        content.diagnostics.emplace_back(
            "resolution of " + r.at("series").get<std::string>(),
            noticed.empty()
                ? "no error of a factor would be detected"
                : fmt::format("an error {} would have been detected", noticed) +
                      (rejected.empty() ? "" : fmt::format("; DISAGREE from {}", rejected)));
      }
    }
    content.reproduce = fmt::format(
        "attica run config.resolved.toml --name {}{}   # the configuration below, saved under this "
        "name",
        shell_word(record.name),
        record.cap ? " --until-decided" : "");
    for (const Source& s : study.sources) {
      content.sources.push_back(
          fmt::format("{} ({}). {}. arXiv:{}: {}", s.authors, s.year, s.title, s.arxiv, s.used));
    }
    return report_html(content);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::storage,
                fmt::format("run folder '{}' is damaged: {}", run.string(), error.what()));
  }
}

}  // namespace attica::app
