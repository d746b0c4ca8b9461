#include "attica/app/command/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <regex>
#include <sstream>
#include <system_error>

#include "attica/app/command/command_line.hpp"
#include "attica/app/command/examples.hpp"
#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/version.hpp"
#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"

namespace attica::app {
namespace {

/// Options by another name before 0.9.
const std::map<std::string, std::string> kRenamedOptions = {{"--plant", "--perturb"},
                                                            {"--planted", "--perturbed"}};

void add_target(CLI::App& command, const Target& target, std::string& place, Options& options) {
  std::string name = target.name;
  std::erase_if(name, [](char c) { return c == '[' || c == ']' || c == '.'; });
  CLI::Option* added = target.many() ? command.add_option(name, options.files, target.meaning)
                                     : command.add_option(name, place, target.meaning);
  added->required(!target.optional());
  if (!target.words.empty()) added->check(CLI::IsMember(target.words));
}

void add_option(CLI::App& command, const Option& option, Options& options) {
  CLI::Option* added = nullptr;
  if (option.value().empty()) {
    added = command.add_flag_callback(
        option.flag(), [&options, set = option.set] { set(options, {}); }, option.meaning);
  } else {
    added = command.add_option(
        option.flag(),
        [&options, set = option.set](const CLI::results_t& values) {
          for (const std::string& value : values) set(options, value);
          return true;
        },
        option.meaning);
    added->type_name(option.value());
    if (option.value().starts_with('[')) added->expected(0, 1);
  }
  if (option.repeatable) {
    added->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  }
  if (!option.words.empty()) {
    if (option.repeatable) added->delimiter(',');
    added->check(CLI::IsMember(option.words));
  }
  if (!option.excludes.empty()) added->excludes(option.excludes);
}

/// The parser with all verbs, writing into `options`.
std::unique_ptr<CLI::App> make_parser(Options& options) {
  auto app = std::make_unique<CLI::App>(
      "attica: does the theory describe the simulation, and how do I know?", "attica");
  app->require_subcommand(1);
  app->set_version_flag("--version", fmt::format("attica {} ({})", kVersion, kRevision));
  const std::string codes =
      "`attica VERB --help` explains a verb. Exit codes: 0 done, AGREE, CLAIMS HOLD, NONE (nothing "
      "was compared) or\n"
      "a bound that HOLDS, 1 DISAGREE or VIOLATED, 2 usage or configuration, 3 INCONCLUSIVE or "
      "UNDECIDED,\n"
      "4 numerical failure, 5 output or run folder, 75 stopped (run again with --resume).";
  app->footer(codes);
  for (const Verb& verb : verbs()) {
    CLI::App& command = *app->add_subcommand(verb.name, verb.summary);
    std::string* place = &options.target;
    for (const Target& target : targets_of(verb)) {
      add_target(command, target, *place, options);
      place = &options.second_target;
    }
    for (const Option& option : options_of(verb)) add_option(command, option, options);
    command.footer(help_footer(verb.name) + "\n" + codes);
  }
  return app;
}

/// @param verb that was typed; empty: none of attica's
int complain(const std::string& text, const std::string& verb) {
  say(fmt::format("attica: error: {}\n", with_page(text, verb)));
  return kExitUsage;
}

/// Files opened later must not get the numbers of the standard streams: one that is closed is
/// opened so that writing to it fails.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);  // the lowest free number
  }
}

/// A mistake of the command line in attica's words: what is missing or was not expected, and what
/// to type instead.
int mistake(const CLI::App& parser, const CLI::ParseError& error) {
  const auto chosen = parser.get_subcommands();
  if (chosen.empty()) return complain(fmt::format("{}; see `attica --help`", error.what()), "");
  const std::string verb = chosen.front()->get_name();
  const std::string text = error.what();
  static const std::regex kNotOneOf(R"((.*): (.*) not in \{(.*)\})");
  static const std::regex kMissing(R"((\S+) is required)");
  static const std::regex kNoValue(R"((\S+): 1 required .* missing)");
  std::smatch found;
  if (std::regex_match(text, found, kNotOneOf)) {
    const std::string allowed = std::regex_replace(found[3].str(), std::regex(","), ", ");
    return complain(
        fmt::format(
            "parameter '{}' = {}: expected one of {}", found[1].str(), found[2].str(), allowed),
        verb);
  }
  const std::string_view example = help_of(verb).examples.front();
  if (std::regex_match(text, found, kMissing))
    return complain(fmt::format("`{}` needs {}, as in `{}`", verb, found[1].str(), example), verb);
  if (std::regex_match(text, found, kNoValue))
    return complain(fmt::format("`{}` needs a value; see `attica {} --help`", found[1].str(), verb),
                    verb);
  return complain(fmt::format("{}; see `attica {} --help`", text, verb), verb);
}

/// Help and version go to standard output; anything else is a mistake.
int parsed_to_the_end(const CLI::App& parser, const CLI::ParseError& error) {
  if (error.get_exit_code() != 0) return mistake(parser, error);
  std::ostringstream out;
  std::ostringstream err;
  const int code = parser.exit(error, out, err);
  say(err.str());
  put("{}", out.str());
  return code == 0 ? kExitDone : kExitUsage;
}

/// Says which argument was not expected, and which option was probably meant.
int unexpected_arguments(const CLI::App& app, const CLI::ExtrasError& error) {
  const std::string name = app.get_subcommands().front()->get_name();
  const auto verb =
      std::find_if(verbs().begin(), verbs().end(), [&](const Verb& v) { return v.name == name; });
  std::vector<std::string> known;
  for (const Option& option : options_of(*verb)) known.push_back(option.long_flag());
  for (const std::string& word : app.remaining(true)) {
    if (!word.starts_with('-')) continue;
    const std::string given = word.substr(0, word.find('='));
    const auto renamed = kRenamedOptions.find(given);
    if (renamed != kRenamedOptions.end())
      return complain(fmt::format("option '{}' is now '{}'", given, renamed->second), name);
    std::error_code none;
    if (std::filesystem::exists(word, none)) {
      return complain(
          fmt::format(
              "`{}` has no option '{}'; the file of that name is written './{}'", name, word, word),
          name);
    }
    const std::string near = nearest(given, known);
    return complain(fmt::format("`{}` has no option '{}'{}",
                                name,
                                word,
                                near.empty() ? fmt::format("; see `attica {} --help`", name)
                                             : fmt::format("; did you mean '{}'?", near)),
                    name);
  }
  return complain(error.what(), name);
}

/// @param verb that was carried out; empty: none was found
int report(const Error& error, const std::string& verb = {}) {
  std::string text = error.what();
  if (error.kind() == ErrorKind::input && !verb.empty()) text = with_page(text, verb);
  // Configuration errors already say where they are.
  const bool located = text.find(": error: ") != std::string::npos;
  say(fmt::format("{}{}\n", located ? "" : "attica: error: ", text));
  return static_cast<int>(error.kind());
}

/// Parses, and carries out the verb.
int parse_and_run(
    int argc, char** argv, CLI::App& parser, const Options& options, const Registry& registry) {
  int code = kExitUsage;
  bool parsed = true;
  try {
    parser.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    return unexpected_arguments(parser, error);
  } catch (const CLI::RequiredError& error) {
    // An unknown option is the mistake, not the argument that the parser missed first.
    if (!parser.remaining(true).empty() && !parser.get_subcommands().empty())
      return unexpected_arguments(parser,
                                  CLI::ExtrasError(parser.get_name(), parser.remaining(true)));
    code = parsed_to_the_end(parser, error);
    parsed = false;
  } catch (const CLI::ParseError& error) {
    code = parsed_to_the_end(parser, error);
    parsed = false;
  }
  for (const Verb& verb : verbs()) {
    if (!parsed || !parser.got_subcommand(verb.name)) continue;
    const ThreadLimit limit(options.threads);
    code = verb.run(options, registry);
  }
  if (std::fflush(stdout) != 0) throw Error(ErrorKind::storage, "cannot write to standard output");
  return code;
}

}  // namespace

int program(int argc, char** argv, const Registry& registry) {
  open_standard_streams();
  Options options;
  options.command_line.assign(argv, argv + argc);
  const auto parser = make_parser(options);
  if (argc == 1) {
    say(parser->help());
    return kExitUsage;
  }
  std::string help = "--help";  // `attica help [VERB]`
  std::array<char*, 3> helped{argv[0], help.data(), nullptr};
  if (argv[1] == std::string("help")) {
    if (argc > 2) helped = {argv[0], argv[2], help.data()};
    argc = argc > 2 ? 3 : 2;
    argv = helped.data();
  }
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  if (argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    const std::string near = nearest(argv[1], names);
    return complain(
        fmt::format("unknown verb '{}'; {}",
                    argv[1],
                    near.empty() ? fmt::format("expected one of {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", near)),
        "");
  }
  try {
    if (&registry == &built_in()) return parse_and_run(argc, argv, *parser, options, registry);
    std::vector<Study> current;  // studies compiled elsewhere may have the names before 0.9
    for (const Study& study : registry) current.push_back(with_current_names(study));
    return parse_and_run(argc, argv, *parser, options, current);
  } catch (const Error& error) {
    const auto chosen = parser->get_subcommands();
    return report(error, chosen.empty() ? "" : chosen.front()->get_name());
  } catch (const std::system_error& error) {
    return report({ErrorKind::storage, error.what()});
  } catch (const std::bad_alloc&) {
    return report({ErrorKind::numerical, "out of memory: the problem is too large"});
  } catch (const std::exception& error) {
    say(fmt::format("attica: internal error: {}\n", error.what()));
    return kExitNumerical;
  }
}

int program(int argc, char** argv, const std::vector<Study>& studies) {
  return program(argc, argv, Registry(studies));
}

}  // namespace attica::app
