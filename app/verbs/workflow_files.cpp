#include "attica/app/verbs/workflow_files.hpp"

#include <fmt/format.h>

#include "attica/app/run/files.hpp"
#include "attica/app/run/json.hpp"

namespace attica::app {
namespace {

/// Text in an attribute of XML; control characters, which XML has none of, as a question mark.
std::string for_xml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return escaped;
}

std::string shown_value(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// "loss alpha=0.5 x=2".
std::string junit_place(const Json& point) {
  std::string text = point.at("series").get<std::string>();
  for (const auto& [name, value] : point.at("point").items())
    text += fmt::format(" {}={}", name, shown_value(value));
  const auto x_name = point.at("x_name").get<std::string>();
  if (x_name != "none") text += fmt::format(" {}={}", x_name, shown_value(point.at("x")));
  return text;
}

std::string finding_at(const Json& point) {
  if (point.contains("reason")) return point.at("reason").get<std::string>();
  return fmt::format("simulation {}, standard error {}, theory {}, margin {}",
                     shown_value(point.value("mean", Json())),
                     shown_value(point.value("sem", Json())),
                     shown_value(point.value("theory", Json())),
                     shown_value(point.value("margin", Json())));
}

/// A test of JUnit: DISAGREE is a failure; INCONCLUSIVE is skipped, which is no pass.
std::string test_case(const std::string& study,
                      const std::string& name,
                      const std::string& verdict,
                      const std::string& finding) {
  std::string text =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", for_xml(study), for_xml(name));
  if (verdict == "DISAGREE")
    return text + fmt::format("><failure type=\"DISAGREE\" message=\"{}\"/></testcase>\n",
                              for_xml(finding));
  if (verdict == "INCONCLUSIVE" || verdict == "NONE")
    return text + fmt::format("><skipped type=\"{}\" message=\"{}\"/></testcase>\n",
                              verdict,
                              for_xml(finding));
  return text + "/>\n";
}

std::string junit(const Json& record) {
  const auto study = record.at("study").get<std::string>();
  std::string cases;
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  const auto add = [&](const std::string& name, const Json& result, const std::string& finding) {
    const auto verdict = result.at("verdict").get<std::string>();
    const std::string one = test_case(study, name, verdict, finding);
    ++tests;
    failures += one.find("<failure ") != std::string::npos ? 1 : 0;
    skipped += one.find("<skipped ") != std::string::npos ? 1 : 0;
    cases += one;
  };
  for (const Json& point : record.at("points")) add(junit_place(point), point, finding_at(point));
  for (const Json& claim : record.at("claims")) {
    add("claim " + claim.at("name").get<std::string>(),
        claim,
        claim.at("statement").get<std::string>() + ": " + claim.at("detail").get<std::string>());
  }
  // The verdict itself: a run without points, or with simulated ones that have no theory.
  const Json whole{{"verdict", record.at("verdict")}};
  add("verdict", whole, record.value("summary", record.at("verdict").get<std::string>()));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"attica {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n"
      "{}  </testsuite>\n</testsuites>\n",
      for_xml(study),
      tests,
      failures,
      skipped,
      cases);
}

Json metrics(const Json& record) {
  const Json& counts = record.at("counts");
  Json numbers{{"verdict", record.at("verdict")}};
  for (const char* const name : {"compared", "agree", "disagree", "inconclusive"})
    numbers[name] = counts.at(name);
  numbers["resolution"] = record.value("coarsest_resolution", Json());
  return versioned("metrics", std::move(numbers));
}

}  // namespace

void write_workflow_files(const Options& options, const CheckRecord& verdict) {
  if (options.junit.empty() && options.metrics.empty()) return;
  const Json record = to_json(verdict);
  if (!options.junit.empty()) write_atomically(options.junit, junit(record));
  if (!options.metrics.empty()) write_atomically(options.metrics, dump(metrics(record), 2) + "\n");
}

}  // namespace attica::app
