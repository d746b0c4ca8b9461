/// @file
/// @brief `attica man`: the manual page.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "attica/app/command/command_line.hpp"
#include "attica/app/command/examples.hpp"
#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/version.hpp"

namespace attica::app {
namespace {

/// Text with what roff would take for itself escaped.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '-' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

constexpr auto kExitCodes = std::to_array<std::pair<int, const char*>>(
    {{kExitDone, "done, or AGREE"},
     {kExitDisagree, "DISAGREE"},
     {kExitUsage, "usage, configuration or input file"},
     {kExitInconclusive, "INCONCLUSIVE"},
     {kExitNumerical, "numerical failure: divergence, no convergence, a non-finite number"},
     {kExitStorage, "output and run folders"},
     {kExitStopped, "stopped at a checkpoint: run again with --resume"},
     {kExitInterrupted, "interrupted before any checkpoint"}});

}  // namespace

int man_verb(const Options&, const Registry& registry) {
  const auto entry = [](const std::string& head, const std::string& text) {
    put(".TP\n.B {}\n{}\n", roff(head), roff(text));
  };
  put(".TH ATTICA 1 \"\" \"attica {}\" \"User Commands\"\n"
      ".SH NAME\nattica \\- attention theory against simulation\n"
      ".SH SYNOPSIS\n.B attica\n.I VERB\n[\n.I STUDY\n|\n.I CONFIG.toml\n|\n.I RUN\n] [\n"
      ".I options\n]\n"
      ".SH DESCRIPTION\nComputes what an analytic theory predicts for a small attention model, "
      "runs the finite\\-sample\nexperiment with the same parameters, draws both in one figure, "
      "and says with stated error rates whether\nthey agree.\n"
      ".SH VERBS\n",
      kVersion);
  for (const Verb& verb : verbs()) {
    put(".SS \"{} {}\"\n{}\n", verb.name, fmt::join(verb.targets, " "), roff(verb.summary));
    for (const Target& target : targets_of(verb)) entry(target.name, target.meaning);
    for (const Option& option : options_of(verb)) {
      entry(option.usage,
            option.meaning + (option.excludes.empty() ? "" : "; not with " + option.excludes));
    }
    for (const std::string_view example : help_of(verb.name).examples)
      put(".PP\n.EX\n{}\n.EE\n", roff(std::string(example)));
  }
  put(".SH STUDIES\n");
  for (std::size_t k = 0; k < registry.size(); ++k)
    entry(std::string(registry.name(k)), std::string(registry.question(k)));
  put(".SH EXIT STATUS\n");
  for (const auto& [code, meaning] : kExitCodes) entry(fmt::format("{}", code), meaning);
  return kExitDone;
}

}  // namespace attica::app
