#include "attica/app/configuration/configuration_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include "attica/app/command/text.hpp"
#include "attica/app/configuration/assignment.hpp"
#include "attica/app/figures/figure_file.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/plots/draw.hpp"
#include "attica/sources/expression.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/study.hpp"
#include "attica/studies/description.hpp"
#include "attica/studies/toml_reader.hpp"

namespace attica::app {

using namespace toml_io;

namespace {

/// Of the names that users give to claims, bounds, models and keys.
constexpr const char* kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/// One key of the document: where it stands, and what it says.
struct Entry {
  std::string section = {};
  std::string name = {};
  const toml::node* node = nullptr;
  std::string where = {};         ///< "file.toml:14:1"
  toml::source_position at = {};  ///< the same as numbers; overrides come after the file
  std::string key() const { return section.empty() ? name : section + "." + name; }
};

/// Texts become coordinates, legends and names of files: tables and scripts hold a line of each.
void require_one_line(const Value& value, const std::string& name) {
  if (const auto* list = std::get_if<List>(&value)) {
    for (const Value& element : *list) require_one_line(element, name);
  }
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr && has_control_characters(*text))
    throw invalid_parameter(name, to_toml(value), "text without control characters");
}

/// Checks a list parameter element by element and returns it in the parameter's own type.
List checked_list(const Parameter& parameter,
                  const Value& value,
                  const std::string& name,
                  bool distinct) {
  const List* given = std::get_if<List>(&value);
  const List single{value};
  const List& elements = given != nullptr ? *given : single;
  // Empty where the parameter's meaning says what [] stands for.
  if (elements.empty() && parameter.meaning.find("[]:") == std::string::npos) {
    throw invalid_parameter(name, "[]", "at least one value");
  }
  List checked;
  std::set<std::string> seen;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    if (parameter.rows && std::holds_alternative<List>(elements[k])) {
      Parameter row = parameter;
      row.rows = false;
      checked.emplace_back(checked_list(row, elements[k], fmt::format("{}[{}]", name, k), false));
      continue;
    }
    checked.push_back(
        parameter.checked(elements[k], given != nullptr ? fmt::format("{}[{}]", name, k) : name));
    // -0 is 0.
    const double* real = std::get_if<double>(&checked.back());
    if (real != nullptr && *real == 0) checked.back() = Value(0.0);
    if (distinct && !seen.insert(to_toml(checked.back())).second) {
      throw invalid_parameter(
          fmt::format("{}[{}]", name, k), to_toml(checked.back()), "distinct values");
    }
  }
  return checked;
}

/// Whether a key of a document describes the study, rather than configuring it.
bool describes(const std::string& key, const toml::node& node) {
  return node.is_array_of_tables() && std::ranges::count(description_keys(), key) > 0;
}

/// Enters a key, or what is below it: keys that users declare have any number of parts.
/// @param make of the section, the name below it, the key that was written and its node
void flatten(
    const std::string& section,
    const std::string& front,
    const toml::table& table,
    const std::function<
        void(const std::string&, const std::string&, const toml::key&, const toml::node&)>& make) {
  for (auto&& [key, node] : table) {
    const std::string name = front + std::string(key.str());
    const toml::table* inner = node.as_table();
    const toml::array* many = node.as_array();
    if (inner != nullptr && !is_range(*inner)) {
      flatten(section, name + ".", *inner, make);
    } else if (section == "theory" && many != nullptr && !many->empty() &&
               many->is_homogeneous<toml::table>()) {
      // starts = [{m = "0.1"}, {m = "0.9"}]: tables by number.
      for (std::size_t k = 0; k < many->size(); ++k)
        flatten(section, fmt::format("{}.{}.", name, k + 1), *many->get_as<toml::table>(k), make);
    } else {
      make(section, name, key, node);
    }
  }
}

/// The same for a whole document of brought sides: [[claim]] and [[bound]] are named by their key
/// `name`, or numbered.
void flatten(
    const toml::table& document,
    const std::function<
        void(const std::string&, const std::string&, const toml::key&, const toml::node&)>& make) {
  for (auto&& [key, node] : document) {
    const std::string section(key.str());
    const toml::array* many = node.as_array();
    if (describes(section, node)) continue;
    if (const toml::table* table = node.as_table()) {
      flatten(section, "", *table, make);
    } else if (many != nullptr && !many->empty() && many->is_homogeneous<toml::table>()) {
      std::size_t number = 0;
      for (const toml::node& element : *many) {
        toml::table one = *element.as_table();
        const std::string name = one["name"].value_or(fmt::format("{}", ++number));
        for (auto&& [inner_key, inner] : *element.as_table()) {
          if (inner_key.str() == "name" && inner.is_string()) continue;
          const std::string own = name + "." + std::string(inner_key.str());
          if (const toml::table* deeper = inner.as_table()) {
            flatten(section, own + ".", *deeper, make);
          } else {
            make(section, own, inner_key, inner);
          }
        }
      }
    } else if (section != "study" && section != "experiment") {
      make("", section, key, node);
    }
  }
}

/// Refuses names of [[claim]], [[bound]] and other lists of tables that stand twice, or that are no
/// part of a key: of two tables with one name only the second would count. A table without a name
/// has its number.
void require_distinct_names(const toml::table& document, const std::string& source, bool file) {
  for (auto&& [key, node] : document) {
    const toml::array* many = node.as_array();
    if (many == nullptr || many->empty() || !many->is_homogeneous<toml::table>()) continue;
    if (describes(std::string(key.str()), node)) continue;
    std::map<std::string, std::size_t> seen;
    std::size_t number = 0;
    for (const toml::node& element : *many) {
      const toml::table& one = *element.as_table();
      const toml::node* const given = one.get("name");
      const toml::source_position at =
          given != nullptr ? given->source().begin : one.source().begin;
      const std::string name = one["name"].value_or(fmt::format("{}", ++number));
      const std::string where = file ? position(source, at) : source;
      if (given != nullptr && !given->is_string()) {
        throw Error(
            ErrorKind::input,
            fmt::format(
                "{}: error: name of [[{}]] is no text; expected it in quotes", where, key.str()));
      }
      if (name.empty() || name.find_first_not_of(kNameCharacters) != std::string::npos) {
        throw Error(ErrorKind::input,
                    fmt::format("{}: error: name {} of [[{}]]: expected letters, digits, _ and -",
                                where,
                                to_toml(Value(name)),
                                key.str()));
      }
      const auto [first, fresh] = seen.try_emplace(name, number);
      if (!fresh) {
        throw Error(
            ErrorKind::input,
            fmt::format("{}: error: name '{}' stands at [[{}]] {} already{}; give each a name of "
                        "its own",
                        where,
                        name,
                        key.str(),
                        first->second,
                        given == nullptr ? " and is the number of this one without a name" : ""));
      }
    }
  }
}

/// A document with that section of another and nothing else.
toml::table only(const toml::table& document, const std::string& section) {
  toml::table one;
  one.insert(section, *document.get(section));
  return one;
}

/// Reads entries into the configuration, collecting one line per mistake.
class Reader {
 public:
  /// @param target with its study
  Reader(CheckedConfiguration& target, std::vector<Parameter> parameters)
      : target_(target), parameters_(std::move(parameters)) {
    for (const Parameter& p : parameters_) {
      if (p.key.find('.') != std::string::npos) sections_.insert(p.section());
    }
  }

  void read(const toml::table& document, const std::string& source, bool file) {
    std::vector<Entry> entries;
    toml::table bounds;  // entries point into it
    const auto entry = [&](const std::string& section, const toml::key& key, const auto& node) {
      const auto at = key.source().begin;
      return Entry{section,
                   std::string(key.str()),
                   &node,
                   file ? position(source, at) : source,
                   file ? at : kAfterTheFile};
    };
    const bool own = target_.study->defined_by != nullptr;
    if (own) {
      flatten(document,
              [&](const std::string& section,
                  const std::string& name,
                  const toml::key& key,
                  const toml::node& node) {
                Entry e = entry(section, key, node);
                e.name = name;
                if (section == "figure" && find("figure." + name) == nullptr) return;
                if (section.empty() ? find(name) == nullptr : sections_.count(section) == 0) {
                  report(e, unknown_section(section.empty() ? name : section, !section.empty()));
                } else {
                  entries.push_back(std::move(e));
                }
              });
    }
    for (auto&& [key, node] : document) {
      const std::string name(key.str());
      if (own || (file && (name == "study" || name == "experiment")) ||
          (name == "figure" && node.is_table()))
        continue;
      if (name == "bound" && sections_.count(name) != 0) {
        bounds = only(document, name);
        flatten(bounds,
                [&](const std::string& section,
                    const std::string& inner,
                    const toml::key& inner_key,
                    const toml::node& inner_node) {
                  entries.push_back(entry(section, inner_key, inner_node));
                  entries.back().name = inner;
                });
        continue;
      }
      const auto* section = node.as_table();
      if (section == nullptr || sections_.count(name) == 0) {
        report(entry({}, key, node), unknown_section(name, section != nullptr));
        continue;
      }
      for (auto&& [inner_key, inner] : *section) entries.push_back(entry(name, inner_key, inner));
    }
    // TOML tables iterate in alphabetical order; swept scalars make their grid in that of the file.
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return before(a.at, b.at);
    });
    for (const Entry& e : entries) {
      try {
        read(e);
      } catch (const Error& error) {
        report(e, error.what());
      }
    }
  }

  /// A mistake of the command line.
  void report(const std::string& where, const std::string& message) {
    report(Entry{.where = where, .at = kAfterTheFile}, message);
  }

  void finish() {
    for (const auto& [name, entry] : swept_at_) {
      const std::string key = swept_scalar(name)->key;
      if (target_.values.given(key)) {
        report(entry,
               fmt::format("parameter '{}' is given and swept; expected one of the two", key));
      }
    }
    if (errors_.empty()) return;
    std::stable_sort(errors_.begin(), errors_.end(), [](const Mistake& a, const Mistake& b) {
      return before(a.at, b.at);
    });
    std::vector<std::string> lines;
    for (const Mistake& mistake : errors_) lines.push_back(mistake.text);
    throw Error(ErrorKind::input, fmt::format("{}", fmt::join(lines, "\n")));
  }

 private:
  struct Mistake {
    toml::source_position at;
    std::string text;
  };
  static constexpr toml::source_position kAfterTheFile{
      std::numeric_limits<toml::source_index>::max(), 1};

  void report(const Entry& entry, const std::string& message) {
    errors_.push_back({entry.at, fmt::format("{}: error: {}", entry.where, message)});
  }

  const Parameter* find(const std::string& key) const {
    const auto p = std::find_if(
        parameters_.begin(), parameters_.end(), [&](const Parameter& q) { return q.key == key; });
    return p == parameters_.end() ? nullptr : &*p;
  }

  /// The scalar of [model] or [sim] that `sweep.<name>` takes over, if there is one.
  const Parameter* swept_scalar(const std::string& name) const {
    for (const char* section : {"model.", "sim."}) {
      const Parameter* p = find(section + name);
      if (p != nullptr && !p->list && p->key != "sim.seed" && p->key != "sim.replicates") return p;
    }
    return nullptr;
  }

  void read(const Entry& entry) {
    const Parameter* parameter = find(entry.key());
    const Parameter* swept =
        parameter == nullptr && entry.section == "sweep" ? swept_scalar(entry.name) : nullptr;
    if (parameter == nullptr && swept == nullptr) {
      throw Error(ErrorKind::input, unknown_key(entry));
    }
    Value value;
    if (const auto* table = entry.node->as_table();
        table != nullptr &&
        (swept != nullptr || (parameter->list && parameter->type != ParameterType::text))) {
      value = expand_range(*table, entry.key());
      const ParameterType type = (swept != nullptr ? swept : parameter)->type;
      if (type == ParameterType::integer) {
        for (Value& v : std::get<List>(value))
          v = static_cast<std::int64_t>(std::llround(std::get<double>(v)));
        auto& list = std::get<List>(value);
        list.erase(std::unique(list.begin(), list.end()), list.end());
      }
    } else if (auto converted = to_value(*entry.node)) {
      value = std::move(*converted);
    } else {
      throw invalid_parameter(
          entry.key(), entry.node->is_table() ? "a table" : "a date", "a plain value");
    }
    if (entry.section == "sweep") require_one_line(value, entry.key());
    target_.locations[entry.key()] = entry.where;
    if (swept != nullptr) {
      std::erase_if(target_.swept, [&](const SweptScalar& s) { return s.key == swept->key; });
      swept_at_[entry.name] = entry;
      target_.swept.push_back(
          {swept->key, entry.name, checked_list(*swept, value, entry.key(), true)});
    } else if (parameter->list) {
      target_.values.set(
          parameter->key,
          checked_list(*parameter,
                       value,
                       entry.key(),
                       parameter->section() == "sweep" || parameter->section() == "plot"),
          true);
    } else {
      target_.values.set(parameter->key, parameter->checked(value, parameter->key), true);
    }
  }

  std::string unknown_section(const std::string& name, bool is_table) const {
    const std::vector<std::string> sections(sections_.begin(), sections_.end());
    if (!is_table) {
      for (const Parameter& p : parameters_) {
        if (p.name() == name) return fmt::format("key '{}' belongs in [{}]", name, p.section());
      }
      return fmt::format("unknown key '{}' outside any section", name);
    }
    const std::string near = nearest(name, sections);
    if (name == "agreement" && sections_.count("simulation") != 0)
      return "[agreement] stands for one series: expected [agreement.SERIES], as [agreement.loss]";
    return fmt::format("unknown section [{}]; {}",
                       name,
                       near.empty()
                           ? fmt::format("expected one of [{}]", fmt::join(sections, "], ["))
                           : fmt::format("did you mean [{}]?", near));
  }

  /// What a key, or the scalar that [sweep] takes over by it, is called now; empty if it was never
  /// renamed.
  std::string new_name(const Entry& entry) const {
    for (const auto& [old, now] : target_.study->renamed) {
      if (old == entry.key()) return now;
      const Parameter* scalar = find(now);
      if (entry.section == "sweep" && old.substr(old.find('.') + 1) == entry.name &&
          scalar != nullptr && scalar == swept_scalar(scalar->name())) {
        return "sweep." + scalar->name();
      }
    }
    return {};
  }

  std::string unknown_key(const Entry& entry) const {
    if (const std::string now = new_name(entry); !now.empty()) {
      return fmt::format(
          "unknown key '{}' in [{}]; it is called '{}' now", entry.name, entry.section, now);
    }
    // Of [[bound]], [agreement.SERIES] and their like the name is "1.series": the table is a
    // section.
    const std::size_t dot = entry.name.find('.') + 1;
    const std::string table = entry.name.substr(0, dot);
    const std::string section =
        dot == 0 ? entry.section : entry.section + "." + entry.name.substr(0, dot - 1);
    std::vector<std::string> names;
    for (const Parameter& p : parameters_) {
      if (p.section() == entry.section && p.name().starts_with(table))
        names.push_back(p.name().substr(dot));
      if (p.name() == entry.name) {
        return fmt::format(
            "unknown key '{}' in [{}]; it belongs in [{}]", entry.name, entry.section, p.section());
      }
    }
    const std::string name = entry.name.substr(dot);
    const std::string near = nearest(name, names);
    const std::string hint = names.empty() ? "the study has no parameters there"
                             : near.empty()
                                 ? fmt::format("expected one of {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", near);
    return fmt::format("unknown key '{}' in [{}]; {}", name, section, hint);
  }

  CheckedConfiguration& target_;
  std::vector<Parameter> parameters_;
  std::set<std::string> sections_{"model", "theory", "sim", "sweep", "check", "plot"};
  std::map<std::string, Entry> swept_at_;  ///< where [sweep] takes over a scalar, by its name
  std::vector<Mistake> errors_;
};

/// Enters what a document says of the figure, key by key. A study that declares them reads its
/// caption and its series itself.
void read_figure(const toml::table& document,
                 const std::string& source,
                 bool file,
                 CheckedConfiguration& target) {
  const toml::table* table = document["figure"].as_table();
  if (table == nullptr) return;
  std::vector<std::pair<toml::source_position, Override>> entries;
  flatten("figure",
          "",
          *table,
          [&](const std::string&,
              const std::string& name,
              const toml::key& key,
              const toml::node& node) {
            // What the study declares is a value of the configuration; what it draws by default
            // from such a value may be changed all the same.
            const std::string full = "figure." + name;
            if (target.values.declares(full) && (name == "caption" || name == "series")) return;
            std::ostringstream value;
            node.visit([&](const auto& v) { value << v; });
            const auto at = key.source().begin;
            entries.emplace_back(at,
                                 Override{file ? position(source, at) : source,
                                          fmt::format("figure.{}={}", name, value.str())});
          });
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return before(a.first, b.first);
  });
  for (auto& [at, entry] : entries) target.figure.push_back(std::move(entry));
}

std::string read_file(const std::filesystem::path& path) {
  std::optional<std::string> bytes = read_bytes(path);
  if (!bytes) {
    throw Error(ErrorKind::input,
                fmt::format("cannot read configuration file '{}'", path.string()));
  }
  return *std::move(bytes);
}

/// "key=value" as it was read is one key.
void require_one_key(const toml::table& document, const std::string& shown) {
  const toml::table* table = &document;
  while (table != nullptr && !table->is_inline()) {
    if (table->size() != 1) {
      throw Error(ErrorKind::input,
                  fmt::format("{}: error: {} keys; expected one", printable(shown), table->size()));
    }
    table = table->begin()->second.as_table();
  }
}

/// A line of a text, from 1.
std::string line_in(const std::string& text, std::size_t number) {
  std::istringstream lines(text);
  std::string line;
  for (std::size_t k = 0; k < number && std::getline(lines, line); ++k) {
  }
  return line;
}

toml::table parse(const std::string& text, const std::string& source, bool file) {
  if (!file) require_one_value(text, source);
  require_shallow_keys(text, source);
  try {
    toml::table document = toml::parse(text);
    if (!file) require_one_key(document, source);
    require_held_numbers(document, text, source, file);
    require_distinct_names(document, source, file);
    return document;
  } catch (const toml::parse_error& e) {
    const std::string where = file ? position(source, e.source().begin) : source;
    std::string hint = assignment_hint(file ? line_in(text, e.source().begin.line) : text);
    if (hint.empty() && !file)
      hint = "; a value is written as in TOML, text in quotes: --set 'model.kind=\"word\"'";
    throw Error(ErrorKind::input, fmt::format("{}: error: {}{}", where, e.description(), hint));
  }
}

/// A value in the parameter's own type. @throws Error of kind input naming it
Value checked_value(const Parameter& parameter, const Value& value) {
  if (parameter.list) return checked_list(parameter, value, parameter.key, false);
  return parameter.checked(value, parameter.key);
}

/// @throws Error of kind input for a value that its parameter does not allow
void apply_preset(const Study& study,
                  const std::vector<Parameter>& parameters,
                  const std::string& name,
                  Configuration& values) {
  if (name.empty()) return;
  for (const auto& [key, value] : find_preset(study, name).values) {
    const auto parameter = std::ranges::find(parameters, key, &Parameter::key);
    if (parameter == parameters.end())
      throw invalid_parameter("preset " + name, key, "a key that can be configured");
    values.set(key, checked_value(*parameter, value), false);
  }
}

/// @throws Error of kind input for a preset with a value of what the file sweeps
void require_not_swept(const CheckedConfiguration& c, const std::string& preset) {
  if (preset.empty()) return;
  for (const auto& [key, value] : find_preset(*c.study, preset).values) {
    if (c.is_swept(key))
      throw invalid_parameter(
          "preset " + preset, key, fmt::format("a key that [sweep] does not vary"));
  }
}

/// Whether two configurations sweep the same values.
bool same_sweep(const std::vector<SweptScalar>& a, const std::vector<SweptScalar>& b) {
  return std::ranges::equal(a, b, [](const SweptScalar& x, const SweptScalar& y) {
    return x.key == y.key && x.values == y.values;
  });
}

/// What the preset expects to compare whose settings these are; the seed, the number of replicates
/// and what acts on recorded numbers alone may be others.
/// @param defaults what a preset changes
ExpectedPoints expected_points_of(const CheckedConfiguration& c,
                                  const std::vector<Parameter>& parameters,
                                  const CheckedConfiguration& defaults,
                                  const std::map<std::string, ExpectedPoints>& presets) {
  if (!same_sweep(c.swept, defaults.swept)) return {};
  for (const auto& [name, expected] : presets) {
    if (expected.empty()) continue;
    Configuration of_preset = defaults.values;
    apply_preset(*c.study, parameters, name, of_preset);
    const bool same = std::ranges::all_of(c.study->parameters, [&](const Parameter& p) {
      if (p.key == "sim.seed" || p.key == "sim.replicates") return true;
      const bool has = c.values.has(p.key);
      return has == of_preset.has(p.key) && (!has || c.values.at(p.key) == of_preset.at(p.key));
    });
    if (same) return expected;
  }
  return {};
}

/// What a document says, for a study to make its parameters of. Mistakes are left to the
/// Reader.
Table flat_entries(const toml::table& document) {
  Table all;
  flatten(document,
          [&](const std::string& section,
              const std::string& name,
              const toml::key&,
              const toml::node& node) {
            const std::string key = section.empty() ? name : section + "." + name;
            if (const toml::table* range = node.as_table()) {
              const toml::node* ends = range->get(range->contains("log") ? "log" : "linear");
              all.emplace_back(key, to_value(*ends).value_or(List{}));
            } else if (auto value = to_value(node)) {
              all.emplace_back(key, std::move(*value));
            }
          });
  return all;
}

/// A study with the parameters that the configuration declares. On the command line only
/// what has a fixed name may be declared: a mistyped key of [model] is none.
std::shared_ptr<const Study> study_of_entries(const Study& study,
                                              const Table& written,
                                              const std::vector<Override>& overrides) {
  Table entries;
  for (const Override& o : overrides) {
    if (o.assignment.find('=') == std::string::npos) continue;
    for (auto& [key, value] : flat_entries(parse(o.assignment, o.shown, false))) {
      const std::string section = key.substr(0, key.find('.'));
      if (section == "x" || section == "agreement" || section == "theory" ||
          section == "simulation" || section == "bound" || section == "claim") {
        entries.emplace_back(key, std::move(value));
      }
    }
  }
  std::reverse(entries.begin(), entries.end());
  // The first of equal keys counts: overrides do, the last of them first.
  for (const auto& entry : written) {
    if (std::none_of(entries.begin(), entries.end(), [&](const auto& e) {
          return e.first == entry.first;
        })) {
      entries.push_back(entry);
    }
  }
  return study.defined_by(entries);
}

/// A built-in study with the parameters of the bounds that a configuration states; null without
/// any.
std::shared_ptr<const Study> study_with_bounds(const Study& study,
                                               const toml::table& document,
                                               const std::vector<Override>& overrides) {
  std::set<std::string> names;
  const auto look = [&](const toml::table& one) {
    if (!one.contains("bound")) return;
    flatten(only(one, "bound"),
            [&](const std::string& section,
                const std::string& name,
                const toml::key&,
                const toml::node&) {
              const auto dot = name.find('.');
              if (section == "bound" && dot != std::string::npos) names.insert(name.substr(0, dot));
            });
  };
  look(document);
  for (const Override& o : overrides) {
    if (o.assignment.starts_with("bound.") && o.assignment.find('=') != std::string::npos)
      look(parse(o.assignment, o.shown, false));
  }
  if (names.empty()) return nullptr;
  Study bounded = study;
  for (const std::string& name : names) {
    for (const Parameter& p : sources::bound_parameters(name)) bounded.parameters.push_back(p);
  }
  return std::make_shared<const Study>(std::move(bounded));
}

/// Refuses a bound on a series that the study does not have, or with a formula that is none.
void require_bounds(const CheckedConfiguration& c) {
  for (const std::string& name : sources::names_in(c.values, "bound")) {
    const std::string key = "bound." + name + ".";
    const std::string& series = c.values.text(key + "series");
    std::vector<std::string> known;
    for (const SeriesInfo& s : c.study->series) known.push_back(s.name);
    if (std::find(known.begin(), known.end(), series) == known.end()) {
      throw invalid_parameter(
          key + "series", series, fmt::format("one of {}", fmt::join(known, ", ")));
    }
    sources::Expression(key + "expression", c.values.text(key + "expression"));
  }
}

/// Enters what the command line says after the document.
void read_overrides(const std::vector<Override>& overrides,
                    Reader& reader,
                    CheckedConfiguration& target) {
  for (const auto& [shown, assignment] : overrides) {
    if (assignment.find('=') == std::string::npos) {
      reader.report(shown, "expected key=value");
    } else {
      const toml::table one = parse(assignment, shown, false);
      reader.read(one, shown, false);
      read_figure(one, shown, false, target);
    }
  }
}

bool looks_like_file(const std::string& target) {
  return target.ends_with(".toml") || target.find('/') != std::string::npos;
}

}  // namespace

bool CheckedConfiguration::is_swept(const std::string& key) const {
  return std::any_of(
      swept.begin(), swept.end(), [&](const SweptScalar& s) { return s.key == key; });
}

std::vector<Parameter> all_parameters(const Study& study) {
  std::vector<Parameter> parameters = study.parameters;
  const auto declared = [&](const std::string& key) {
    return std::any_of(
        parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.key == key; });
  };
  const std::vector<Parameter> common = {
      {.key = "sim.replicates",
       .type = ParameterType::integer,
       .fallback = Value(std::int64_t{100}),
       .meaning = "independent replicates (seeds) at every point",
       .range = {.low = 1, .high = 1e9}},
      {.key = "sim.seed",
       .type = ParameterType::integer,
       .fallback = Value(std::int64_t{1}),
       .meaning = "master seed of all random streams",
       .range = {.low = 0}},
      {.key = "check.margin",
       .type = ParameterType::real,
       .fallback = std::nullopt,
       .meaning = "relative margin of every comparison; unset: the study's own",
       .range = {.low = 0}},
      {.key = "check.family",
       .type = ParameterType::text,
       .fallback = Value("holm"),
       .meaning = "correction for many points: holm (any dependence) or maxt (sign flips of whole "
                  "replicates)",
       .choices = {"holm", "maxt"}},
      {.key = "plot.style",
       .type = ParameterType::text,
       .fallback = Value("aps"),
       .meaning = "figure style, after the journal whose column width it has",
       .choices = style_names()},
      {.key = "plot.width",
       .type = ParameterType::text,
       .fallback = std::nullopt,
       .meaning = "half: one column; full: the page's text width; unset: full for several columns "
                  "of panels",
       .choices = {"half", "full"}},
      {.key = "plot.formats",
       .type = ParameterType::text,
       .fallback = Value(List{"svg", "pdf", "png"}),
       .meaning = "figure formats",
       .list = true,
       .choices = {"svg", "pdf", "png"}},
  };
  for (const Parameter& p : common) {
    if (!declared(p.key)) parameters.push_back(p);
  }
  return parameters;
}

const Preset& find_preset(const Study& study, const std::string& name) {
  std::vector<std::string> names;
  for (const Preset& preset : study.presets) {
    if (preset.name == name) return preset;
    names.push_back(preset.name);
  }
  throw invalid_parameter("--preset",
                          name,
                          names.empty() ? fmt::format("none: '{}' has no presets", study.name)
                                        : fmt::format("one of {}", fmt::join(names, ", ")));
}

std::string left_out() {
  return fmt::format(
      "This attica was built without the families {}; `./dev build` (CMake: ATTICA_FAMILIES=all) "
      "builds them.",
      fmt::join(absent_families(), ", "));
}

const Study& find_study(const std::string& name, const Registry& registry) {
  if (name == study_of_sides().name) return study_of_sides();
  if (const Study* study = registry.find(name)) return *study;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < registry.size(); ++k) names.emplace_back(registry.name(k));
  const std::string near = nearest(name, names);
  throw Error(ErrorKind::input,
              fmt::format("unknown study '{}'; {}{}",
                          name,
                          near.empty() ? "`attica list` names them all"
                                       : fmt::format("did you mean '{}'?", near),
                          absent_families().empty() ? "" : ". " + left_out()));
}

CheckedConfiguration read_configuration(const ConfigurationRequest& request,
                                        const Registry& registry) {
  CheckedConfiguration result;
  toml::table document;
  std::string source;
  if (looks_like_file(request.target)) {
    source = request.target;
    result.text = request.text.empty() ? read_file(request.target) : request.text;
    result.directory = std::filesystem::absolute(request.target).parent_path();
    document = parse(result.text, source, true);
    const toml::node* named = document.get("study");
    if (named == nullptr) named = document.get("experiment");
    const auto* study = named == nullptr ? nullptr : named->as_string();
    // A card of one's own names no study: its sides say where they come from.
    const bool sides = document.contains("theory") || document.contains("simulation");
    if (study == nullptr && (named != nullptr || !sides)) {
      throw Error(
          ErrorKind::input,
          named == nullptr
              ? fmt::format("{}:1:1: error: missing key 'study'; expected the name of a study, or "
                            "[theory] and [simulation]",
                            source)
              : fmt::format("{}: error: 'study' is not a text; expected the name of a study",
                            position(source, named->source().begin)));
    }
    try {
      const Study& known = study == nullptr ? study_of_sides() : find_study(study->get(), registry);
      if (known.defined_by) {
        result.defined = study_of_entries(known, flat_entries(document), request.overrides);
        if (std::ranges::any_of(description_keys(),
                                [&](const std::string& key) { return document.contains(key); })) {
          result.defined =
              std::make_shared<const Study>(with_description(*result.defined, result.text, source));
        }
        result.study = result.defined.get();
      } else {
        result.study = &known;
      }
    } catch (const Error& error) {
      if (std::string_view(error.what()).find(": error: ") != std::string_view::npos) throw;
      toml::source_position at =
          study == nullptr ? toml::source_position{1, 1} : study->source().begin;
      // Of an error that names its key, where that stands.
      const toml::table* inside = &document;
      std::istringstream keys(error.parameter());
      for (std::string key; inside != nullptr && std::getline(keys, key, '.');) {
        const toml::node* const node = inside->get(key);
        if (node == nullptr) break;
        at = node->source().begin;
        inside = node->as_table();
      }
      throw Error(ErrorKind::input,
                  fmt::format("{}: error: {}", position(source, at), error.what()));
    }
  } else {
    result.study = &find_study(request.target, registry);
    if (result.study->defined_by) {
      throw Error(ErrorKind::input,
                  fmt::format("study '{0}' is what a configuration says: name its file; `attica "
                              "init {0}` prints one to start from",
                              result.study->name));
    }
  }
  if (!result.defined) {
    result.defined = study_with_bounds(*result.study, document, request.overrides);
    if (result.defined) result.study = result.defined.get();
  }
  const std::vector<Parameter> parameters = all_parameters(*result.study);
  result.values = Configuration(result.study->name, parameters);
  // A file that defines its study holds the defaults, which a preset changes.
  const bool own = result.study->defined_by != nullptr;
  CheckedConfiguration defaults = result;
  if (!own) apply_preset(*result.study, parameters, request.preset, result.values);
  Reader reader(result, parameters);
  reader.read(document, source, true);
  if (own) {
    defaults = result;
    require_not_swept(result, request.preset);
    apply_preset(*result.study, parameters, request.preset, result.values);
  }
  read_figure(document, source, true, result);
  read_overrides(request.overrides, reader, result);
  std::string mistakes;
  try {
    static_cast<void>(read_figure_changes(result.figure));
  } catch (const Error& error) {
    mistakes = error.what();
  }
  try {
    reader.finish();
  } catch (const Error& error) {
    throw Error(ErrorKind::input, error.what() + (mistakes.empty() ? "" : "\n" + mistakes));
  }
  if (!mistakes.empty()) throw Error(ErrorKind::input, mistakes);
  result.expected = expected_points_of(
      result,
      parameters,
      defaults,
      own ? described_points(result.text, source) : expected_points(result.study->name));
  if (own) return result;  // its series are known once it is built
  require_bounds(result);
  if (!result.figure.empty()) {
    // A panel that is not there is a mistake now, not after the run.
    Figure figure = result.study->figure(result.values);
    DrawOptions ignored;
    apply(read_figure_changes(result.figure), figure, ignored);
  }
  return result;
}

CheckedConfiguration configuration_of(const Study& study,
                                      const Table& entries,
                                      const std::vector<Override>& overrides) {
  CheckedConfiguration result;
  result.defined = study_of_entries(study, entries, overrides);
  result.study = result.defined.get();
  const std::vector<Parameter> parameters = all_parameters(*result.study);
  result.values = Configuration(result.study->name, parameters);
  result.directory = std::filesystem::current_path();
  for (const auto& [key, value] : entries) {
    const auto parameter = std::ranges::find(parameters, key, &Parameter::key);
    if (parameter == parameters.end())
      throw std::logic_error("configuration_of: no parameter '" + key + "'");
    result.values.set(key, checked_value(*parameter, value), true);
  }
  Reader reader(result, parameters);
  read_overrides(overrides, reader, result);
  reader.finish();
  return result;
}

std::vector<Table> combinations(const std::vector<SweptScalar>& swept) {
  std::vector<Table> result{{}};
  for (const SweptScalar& s : swept) {
    std::vector<Table> extended;
    for (const Table& point : result) {
      for (const Value& value : s.values) {
        extended.push_back(point);
        extended.back().emplace_back(s.key, value);
      }
    }
    result = std::move(extended);
  }
  return result;
}

namespace {

/// A key of several parts as TOML has it: a part such as a[k] stands in quotes.
std::string dotted_key(const std::string& key) {
  std::string all;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    const std::string part = key.substr(begin, end - begin);
    const bool bare = !part.empty() && part.find_first_not_of(kNameCharacters) == std::string::npos;
    all += (all.empty() ? "" : ".") + (bare ? part : to_toml(Value(part)));
    begin = end + 1;
  }
  return all;
}

}  // namespace

std::string to_toml(const CheckedConfiguration& configuration) {
  std::string text = fmt::format("study = {}\n", to_toml(Value(configuration.study->name)));
  std::vector<std::string> order;
  std::map<std::string, std::string> bodies;
  const auto add = [&](const std::string& section, const std::string& line) {
    if (bodies.count(section) == 0) order.push_back(section);
    bodies[section] += line + "\n";
  };
  for (const auto& [key, value] : configuration.values.entries()) {
    if (configuration.is_swept(key) || configuration.filled_in.count(key) != 0) continue;
    const auto dot = key.find('.');
    if (dot == std::string::npos) {
      text += fmt::format("{} = {}\n", key, to_toml(value));
      continue;
    }
    add(key.substr(0, dot),
        fmt::format("{} = {}", dotted_key(key.substr(dot + 1)), to_toml(value)));
  }
  for (const Override& o : configuration.figure) {
    const auto equals = o.assignment.find('=');
    const std::string key = o.assignment.substr(0, equals);
    if (configuration.values.declares(key)) continue;
    // Of a key that was given twice the last one counts.
    const bool again =
        std::any_of(&o + 1,
                    configuration.figure.data() + configuration.figure.size(),
                    [&](const Override& later) {
                      return later.assignment.substr(0, later.assignment.find('=')) == key;
                    });
    if (!again)
      add("figure",
          fmt::format("{} = {}", key.substr(key.find('.') + 1), o.assignment.substr(equals + 1)));
  }
  for (const SweptScalar& s : configuration.swept) {
    add("sweep", fmt::format("{} = {}", s.name, to_toml(Value(s.values))));
  }
  for (const std::string& section : order)
    text += fmt::format("\n[{}]\n{}", section, bodies[section]);
  return text;
}

std::string configuration_template(const Study& study, const std::string& preset) {
  if (!study.starting_text.empty()) return study.starting_text;
  const std::vector<Parameter> parameters = all_parameters(study);
  Configuration values(study.name, parameters);
  apply_preset(study, parameters, preset, values);
  std::string text = fmt::format(
      "# {}\n# Run it: attica run THIS_FILE\nstudy = \"{}\"\n", study.question, study.name);
  std::vector<std::string> sections;
  for (const Parameter& p : parameters) {
    if (std::find(sections.begin(), sections.end(), p.section()) == sections.end()) {
      sections.push_back(p.section());
    }
  }
  for (const std::string& section : sections) {
    text += fmt::format("\n[{}]\n", section);
    for (const Parameter& p : parameters) {
      if (p.section() != section) continue;
      text += fmt::format("# {}", p.meaning);
      if (!p.choices.empty())
        text += fmt::format("; one of \"{}\"", fmt::join(p.choices, "\", \""));
      if (std::isfinite(p.range.low) || std::isfinite(p.range.high)) {
        text += "; " + p.range.describe(p.name());
      }
      text += values.has(p.key) ? fmt::format("\n{} = {}\n", p.name(), to_toml(values.at(p.key)))
                                : fmt::format("\n# {} =\n", p.name());
    }
  }
  return text;
}

}  // namespace attica::app
