#include "attica/studies/card.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "attica/core/error.hpp"
#include "attica/core/words.hpp"
#include "attica/studies/card_figure.hpp"
#include "attica/studies/description.hpp"
#include "attica/studies/expected_points.hpp"
#include "attica/studies/measured.hpp"
#include "attica/studies/sources.hpp"
#include "attica/studies/toml_reader.hpp"
#include "attica/studies/used_with.hpp"

namespace attica {

using namespace toml_io;

namespace {

/// The text of a list entry that names a definition of a base; null: the entry is a table of its
/// own.
const std::string* name_of(const toml::node& node) {
  const auto* text = node.as_string();
  return text == nullptr ? nullptr : &text->get();
}

TomlKey any_key(const std::string& name, const std::function<bool(const toml::node&)>& set) {
  return {name, "a value of another type", set};
}

/// A key that takes a text, which may be empty.
TomlKey plain_key(const std::string& name, std::string& target) {
  return {name, "a text", [&target](const toml::node& node) {
            const auto text = text_of(node);
            if (text) target = *text;
            return text.has_value();
          }};
}

TomlKey real_key(const std::string& name, double& target) {
  return {name, "a finite number", [&target](const toml::node& node) {
            const auto value = number_of(node);
            if (value) target = *value;
            return value.has_value();
          }};
}

/// A value, or the list that a table {log = [lo, hi], n = N} stands for.
std::optional<Value> value_of(const toml::node& node, const std::string& name) {
  const auto* table = node.as_table();
  if (table == nullptr) return to_value(node);
  if (!is_range(*table)) return std::nullopt;
  return Value(expand_range(*table, name));
}

/// The name in a range: "rho" of "rho > 0" and of "-1 < rho < 1".
std::string range_name(const std::string& text) {
  const std::size_t first = text.find(' ');
  const std::size_t second = text.find(' ', text.find(' ', first + 1) + 1);
  if (second == std::string::npos) return text.substr(0, first);
  const std::size_t name = text.find(' ', first + 1) + 1;
  return text.substr(name, second - name);
}

/// "sites >= 2", "-1 < rho < 1".
std::optional<Range> range_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  constexpr std::size_t kOneSided = 3;
  constexpr std::size_t kTwoSided = 5;
  const auto number = [](const std::string& word) -> std::optional<double> {
    try {
      std::size_t read = 0;
      const double value = std::stod(word, &read);
      return read == word.size() ? std::optional(value) : std::nullopt;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  };
  Range range;
  const auto above = [&](const std::optional<double>& low, bool open) {
    if (low) range.low = *low;
    range.low_open = open;
    return low.has_value();
  };
  const auto below = [&](const std::optional<double>& high, bool open) {
    if (high) range.high = *high;
    range.high_open = open;
    return high.has_value();
  };
  const auto less = [](const std::string& sign) { return sign == "<" || sign == "<="; };
  if (words.size() == kTwoSided && less(words[1]) && less(words[3])) {
    if (above(number(words[0]), words[1] == "<") && below(number(words[4]), words[3] == "<"))
      return range;
  } else if (words.size() == kOneSided && (words[1] == ">" || words[1] == ">=")) {
    if (above(number(words[2]), words[1] == ">")) return range;
  } else if (words.size() == kOneSided && less(words[1])) {
    if (below(number(words[2]), words[1] == "<")) return range;
  }
  return std::nullopt;
}

/// Whether the list of a default holds lists.
bool has_rows(const Value& value) {
  const auto* list = std::get_if<List>(&value);
  return list != nullptr && !list->empty() && std::holds_alternative<List>(list->front());
}

/// The type that a default has.
ParameterType type_of(const Value& value) {
  if (const auto* list = std::get_if<List>(&value); list != nullptr && !list->empty())
    return type_of(list->front());
  if (std::holds_alternative<bool>(value)) return ParameterType::flag;
  if (std::holds_alternative<std::int64_t>(value)) return ParameterType::integer;
  return std::holds_alternative<std::string>(value) ? ParameterType::text : ParameterType::real;
}

std::vector<TomlKey> parameter_keys(Parameter& p, bool& typed) {
  return {plain_key("key", p.key),
          plain_key("meaning", p.meaning),
          any_key("default",
                  [&p](const toml::node& node) {
                    p.fallback = value_of(node, p.key);
                    if (!p.fallback) return false;
                    if (std::holds_alternative<List>(*p.fallback)) p.list = true;
                    if (has_rows(*p.fallback)) p.rows = true;
                    return true;
                  }),
          flag_key("list", [&p](bool on) { p.list = on; }),
          flag_key("rows", [&p](bool on) { p.rows = on; }),
          texts_key("choices", p.choices),
          {"range",
           "a range such as \"rho > 0\" or \"0 <= rho < 1\"",
           [&p](const toml::node& node) {
             const auto text = text_of(node);
             const auto range = text ? range_of(*text) : std::nullopt;
             if (range) p.range = *range;
             if (range && range_name(*text) != p.name())
               throw invalid_parameter(
                   p.key + ".range", *text, fmt::format("a range of {}", p.name()));
             return range.has_value();
           }},
          word_key<ParameterType>("type",
                                  {{"real", ParameterType::real},
                                   {"integer", ParameterType::integer},
                                   {"flag", ParameterType::flag},
                                   {"text", ParameterType::text},
                                   {"file", ParameterType::file}},
                                  [&](ParameterType type) {
                                    p.type = type;
                                    typed = true;
                                  })};
}

/// The keys of a table in the order of the document; TOML's own is alphabetical.
std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> found;
  for (auto&& [key, node] : table) found.emplace_back(&key, &node);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return before(a.first->source().begin, b.first->source().begin);
  });
  std::vector<std::pair<std::string, const toml::node*>> all;
  for (const auto& [key, node] : found) all.emplace_back(key->str(), node);
  return all;
}

/// Values by flat dotted key: model.sites = 400, or sim = {data_sets = 2}; without some keys.
void flatten(const toml::table& table,
             const std::string& front,
             const std::vector<std::string>& without,
             Table& values) {
  for (const auto& [name, node] : in_order(table)) {
    if (std::find(without.begin(), without.end(), name) != without.end()) continue;
    const auto* inner = node->as_table();
    if (inner != nullptr && !is_range(*inner)) {
      flatten(*inner, front + name + ".", {}, values);
    } else if (auto value = value_of(*node, front + name)) {
      values.emplace_back(front + name, std::move(*value));
    } else {
      throw invalid_parameter(front + name, shown(*node), "a value, or a range");
    }
  }
}

/// What a table says of parameters: everything but the keys that it has besides.
Table values_of(const toml::table& table, const std::vector<std::string>& besides) {
  Table values;
  flatten(table, "", besides, values);
  return values;
}

/// The key `expected` of a preset.
ExpectedPoints expected_of(const toml::table& preset) {
  ExpectedPoints expected;
  const toml::node* node = preset.get("expected");
  if (node == nullptr) return expected;
  constexpr const char* kExpected = "numbers of points by series";
  if (!node->is_table()) throw invalid_parameter("preset.expected", shown(*node), kExpected);
  for (auto&& [series, points] : *node->as_table()) {
    const auto count = points.value_exact<std::int64_t>();
    const std::string name(series.str());
    if (!count || *count < 0)
      throw invalid_parameter("preset.expected." + name, shown(points), kExpected);
    expected.emplace(name, static_cast<std::size_t>(*count));
  }
  return expected;
}

/// An entry of [[measured]]: series, and ranges by key.
MeasuredRange measured_of(const toml::table& table) {
  MeasuredRange measured;
  const auto* series = table["series"].as_array();
  if (const auto one = table["series"].value_exact<std::string>()) measured.series.push_back(*one);
  for (std::size_t k = 0; series != nullptr && k < series->size(); ++k) {
    if (const auto name = (*series)[k].value_exact<std::string>()) measured.series.push_back(*name);
  }
  if (measured.series.empty())
    throw invalid_parameter("measured.series", "", "the names of one or more series");
  for (const auto& [key, value] : values_of(table, {"series"})) {
    const auto* text = std::get_if<std::string>(&value);
    const auto range = text == nullptr ? std::nullopt : range_of(*text);
    if (!range) throw invalid_parameter("measured." + key, "", "a range such as \"0 <= rho < 1\"");
    measured.parameters.emplace_back(key, *range);
  }
  return measured;
}

using Document = std::shared_ptr<const CardTable>;
/// The base at a path; null if there is none.
using BaseAt = std::function<Document(const std::string& path)>;

Document document(const std::string& text, const std::string& source) {
  return std::make_shared<const CardTable>(CardTable{source, parsed(text, source, true)});
}

/// Reads a card and its bases.
class CardReader {
 public:
  CardReader(const std::string& text, const std::string& source, const BaseAt& base)
      : card_(document(text, source)), reader_(source, true) {
    std::vector<std::string> names;
    if (const toml::node* node = card_->table.get("base")) {
      if (const std::string* one = name_of(*node)) {
        names.push_back(*one);
      } else if (!texts_key("base", names).set(*node)) {
        reader_.report(node->source().begin, "base is no name of a file of its folder");
      }
    }
    const std::string folder = source.substr(0, source.rfind('/') + 1);
    for (const std::string& name : names) {
      const std::string path = folder + name + ".toml";
      Document found = base ? base(path) : nullptr;
      if (found == nullptr) {
        reader_.report(card_->table.get("base")->source().begin,
                       fmt::format("there is no {}", path));
        continue;
      }
      bases_.push_back(std::move(found));
    }
  }

  Study read(Study study) {
    for (const Document& base : bases_) {
      TomlReader of_base(base->source, true);
      read_whole(base->table, study, of_base, true);
      of_base.finish();
    }
    std::vector<SeriesInfo> defined = std::move(study.series);
    std::vector<std::string> diagnostic = std::move(study.diagnostic);
    study.series.clear();
    study.diagnostic.clear();
    defined_series_ = std::move(defined);
    defined_diagnostic_ = std::move(diagnostic);
    study.parameters.clear();
    read_whole(card_->table, study, reader_, false);
    if (!card_->table.contains("parameter")) {
      for (const auto& [key, p] : defined_) study.parameters.push_back(p);
    }
    if (!card_->table.contains("series")) {
      study.series = defined_series_;
      study.diagnostic = defined_diagnostic_;
    }
    reader_.finish();
    return study;
  }

  /// @brief A study with what the card says of it by `description_keys`.
  Study describe(Study study) {
    for (const Parameter& p : study.parameters) defined_.emplace_back(p.key, p);
    const std::vector<Parameter> before = std::move(study.parameters);
    study.parameters.clear();
    describing_ = true;
    read_whole(card_->table, study, reader_, false);
    require_said_once();
    require_no_margin(before);
    reader_.finish();
    // A parameter that is described keeps its place.
    std::vector<Parameter> all = before;
    for (Parameter& p : study.parameters) {
      const auto place = std::ranges::find(all, p.key, &Parameter::key);
      if (place == all.end()) {
        all.push_back(std::move(p));
      } else {
        *place = std::move(p);
      }
    }
    study.parameters = std::move(all);
    require_known(study);
    return study;
  }

  /// @brief The margins of the limit of large size.
  std::vector<LimitRule> limits() {
    Study study;
    const toml::array* tables = card_->table["limit"].as_array();
    for (std::size_t k = 0; tables != nullptr && k < tables->size(); ++k)
      static_cast<void>(read_limit((*tables)[k], study, reader_));
    reader_.finish();
    return std::move(study.limits);
  }

  /// @brief Series that are controls (AgreementRule::control).
  const std::vector<std::string>& controls() const { return controls_; }

  /// @brief The bases' tables and the card's own, those that come later count.
  CardTables tables() const {
    CardTables all = bases_;
    all.push_back(card_);
    return all;
  }

 private:
  /// Calls a function for every table of a list.
  static TomlKey list_key(const std::string& name,
                          const std::function<bool(const toml::node&)>& each) {
    return {name, "a list of tables", [each](const toml::node& node) {
              const auto* array = node.as_array();
              if (array == nullptr) return false;
              for (const toml::node& element : *array) {
                if (!each(element)) return false;
              }
              return true;
            }};
  }

  void read_whole(const toml::table& table, Study& study, TomlReader& reader, bool base) {
    std::vector<std::string> later;
    std::vector<TomlKey> keys = {
        plain_key("name", study.name),
        plain_key("question", study.question),
        plain_key("approximation", study.approximation),
        plain_key("not_compared", study.not_compared),
        plain_key("size_coordinate", study.size_coordinate),
        real_key("size_power", study.size_power),
        texts_key("shown", study.shown),
        list_key("parameter",
                 [&, base](const toml::node& node) {
                   return base ? define(node, reader) : choose(node, study, reader);
                 }),
        list_key("series",
                 [&](const toml::node& node) { return read_series(node, study, reader); }),
        list_key("preset",
                 [&](const toml::node& node) { return read_preset(node, study, reader); }),
        {"sources",
         "a list of tables such as {cite = \"key\", used = \"equations\"}",
         [&](const toml::node& node) {
           study.sources.clear();
           return list_key("sources",
                           [&](const toml::node& one) { return read_source(one, study, reader); })
               .set(node);
         }},
        list_key("reference_run",
                 [&](const toml::node& node) { return read_reference(node, study, reader); }),
        list_key("perturbed",
                 [&](const toml::node& node) { return read_perturbed(node, study, reader); }),
        list_key("limit", [&](const toml::node& node) { return read_limit(node, study, reader); }),
        {"renamed",
         "a table of old keys with their new ones",
         [&](const toml::node& node) {
           if (!node.is_table()) return false;
           for (const auto& [old, now] : in_order(*node.as_table())) {
             const auto text = text_of(*now);
             if (!text) return false;
             study.renamed.emplace_back(old, *text);
           }
           return true;
         }},
        // Read where a theory is computed.
        list_key("measured",
                 [](const toml::node& node) {
                   if (!node.is_table()) return false;
                   static_cast<void>(measured_of(*node.as_table()));
                   return true;
                 }),
        // Read when a configuration is there.
        {"margin", "a list of tables", [](const toml::node& node) { return node.is_array(); }},
        {"figure", "a table", [](const toml::node& node) { return node.is_table(); }},
        {"words", "a table of tables", [](const toml::node& node) { return node.is_table(); }},
        // Read by answers().
        {"answers", "a list of tables", [](const toml::node& node) { return node.is_array(); }}};
    if (!base) {
      keys.push_back({"base", "the name of a file of its folder", [](const toml::node& node) {
                        return node.is_string() || node.is_array();
                      }});
    }
    if (describing_) {  // the rest of a user's file configures
      std::erase_if(keys, [](const TomlKey& key) {
        return std::ranges::count(description_keys(), key.name) == 0;
      });
      for (auto&& [key, node] : table) {
        if (std::ranges::count(description_keys(), key.str()) == 0)
          keys.push_back(any_key(std::string(key.str()), [](const toml::node&) { return true; }));
      }
    }
    reader.read(table, "", keys);
  }

  /// Refuses a second table for the same parameter, series, preset, ...: one of them would count.
  void require_said_once() {
    for (const std::string& list : description_keys()) {
      const toml::array* tables = card_->table[list].as_array();
      if (tables == nullptr) continue;
      const std::string key = list == "parameter" ? "key" : (list == "limit" ? "series" : "name");
      std::map<std::string, std::size_t> numbers;
      for (std::size_t k = 0; k < tables->size(); ++k) {
        const auto* table = (*tables)[k].as_table();
        const auto name = table == nullptr ? std::nullopt : (*table)[key].value<std::string>();
        if (!name && table != nullptr) {
          reader_.report(table->source().begin,
                         fmt::format("[[{}]] {}: missing key '{}'", list, k + 1, key));
        }
        if (!name) continue;
        const auto [first, fresh] = numbers.emplace(*name, k + 1);
        if (!fresh) {
          reader_.report(
              table->get(key)->source().begin,
              fmt::format("{} '{}' stands at [[{}]] {} already", key, *name, list, first->second));
        }
      }
    }
  }

  /// Refuses a margin for a series that is not to be judged.
  void require_no_margin(const std::vector<Parameter>& parameters) {
    const toml::array* tables = card_->table["series"].as_array();
    for (std::size_t k = 0; tables != nullptr && k < tables->size(); ++k) {
      const auto* table = (*tables)[k].as_table();
      if (table == nullptr || !(*table)["diagnostic"].value_or(false)) continue;
      const std::string name = (*table)["name"].value_or(std::string());
      if (std::ranges::count(
              parameters, fmt::format("agreement.{}.relative", name), &Parameter::key) > 0) {
        reader_.report(table->get("diagnostic")->source().begin,
                       fmt::format("series '{0}' has a margin, [agreement.{0}], and is not judged, "
                                   "diagnostic = true; expected one of the two",
                                   name));
      }
    }
  }

  /// Refuses values of presets, reference runs and perturbed theories for what is no parameter.
  void require_known(const Study& study) const {
    const auto check = [&](const std::string& list, const std::string& name, const Table& values) {
      for (const auto& [key, value] : values) {
        if (key.starts_with("sim.") || key.starts_with("check.") || key.starts_with("plot."))
          continue;  // every study has them
        if (std::ranges::find(study.parameters, key, &Parameter::key) != study.parameters.end())
          continue;
        const toml::node* node = card_->table.get(list);
        throw Error(ErrorKind::input,
                    fmt::format("{}: error: [[{}]] {}: there is no parameter '{}'",
                                position(card_->source, node->source().begin),
                                list,
                                name,
                                key));
      }
    };
    for (const Preset& p : study.presets) check("preset", p.name, p.values);
    for (const ReferenceRun& r : study.reference_runs) check("reference_run", r.name, r.values);
    for (const PerturbedTheory& p : study.perturbed) check("perturbed", p.name, p.values);
  }

  bool define(const toml::node& node, TomlReader& reader) {
    const auto* table = node.as_table();
    if (table == nullptr) return false;
    Parameter p;
    bool typed = false;
    reader.read(*table, reader.place(), parameter_keys(p, typed));
    if (!typed && p.fallback) p.type = type_of(*p.fallback);
    defined_.emplace_back(p.key, p);
    return true;
  }

  const Parameter* find_defined(const std::string& key) const {
    // The last one: a base may take another's definition over.
    const Parameter* found = nullptr;
    for (const auto& [name, p] : defined_) {
      if (name == key) found = &p;
    }
    return found;
  }

  bool choose(const toml::node& node, Study& study, TomlReader& reader) {
    if (const std::string* name = name_of(node)) {
      if (name->ends_with(".*")) {
        const std::string front = name->substr(0, name->size() - 1);
        for (const auto& [key, p] : defined_) {
          if (key.starts_with(front)) study.parameters.push_back(p);
        }
        return true;
      }
      const Parameter* p = find_defined(*name);
      if (p == nullptr) throw invalid_parameter("parameter", *name, "one that a base defines");
      study.parameters.push_back(*p);
      return true;
    }
    const auto* table = node.as_table();
    if (table == nullptr) return false;
    const auto key = (*table)["key"].value<std::string>();
    Parameter p;
    const Parameter* known = key ? find_defined(*key) : nullptr;
    if (known != nullptr) p = *known;
    bool typed = known != nullptr;
    const std::string place = reader.place();
    reader.read(*table, place, parameter_keys(p, typed));
    if (!typed && p.fallback) p.type = type_of(*p.fallback);
    if (p.key.empty() || p.meaning.empty())
      reader.report(table->source().begin, fmt::format("{}: expected key and meaning", place));
    if (describing_ && known != nullptr && table->contains("default")) {
      reader.report(table->get("default")->source().begin,
                    fmt::format("the default of '{}' is its value in the file, not this one: "
                                "leave `default` out",
                                p.key));
    }
    if (p.type == ParameterType::text && table->contains("range")) {
      reader.report(table->get("range")->source().begin,
                    fmt::format("'{}' is a text, which has no range; expected choices", p.key));
    }
    if (!typed && !p.fallback)
      reader.report(table->source().begin, fmt::format("{}: expected default or type", p.key));
    study.parameters.push_back(std::move(p));
    return true;
  }

  bool read_series(const toml::node& node, Study& study, TomlReader& reader) {
    const auto add = [&](const SeriesInfo& info) {
      study.series.push_back(info);
      const auto& list = defined_diagnostic_;
      return std::find(list.begin(), list.end(), info.name) != list.end();
    };
    const auto known = [&](const std::string& name) {
      return std::find_if(defined_series_.begin(), defined_series_.end(), [&](const SeriesInfo& s) {
        return s.name == name;
      });
    };
    if (const std::string* name = name_of(node)) {
      const auto found = known(*name);
      if (found == defined_series_.end())
        throw invalid_parameter("series", *name, "one that a base defines");
      if (add(*found)) study.diagnostic.push_back(*name);
      return true;
    }
    const auto* table = node.as_table();
    if (table == nullptr) return false;
    SeriesInfo info;
    bool diagnostic = false;
    bool control = false;
    if (const auto found = known((*table)["name"].value_or(std::string()));
        found != defined_series_.end())
      info = *found;
    reader.read(*table,
                reader.place(),
                {plain_key("name", info.name),
                 plain_key("symbol", info.symbol),
                 plain_key("meaning", info.meaning),
                 flag_key("diagnostic", [&](bool on) { diagnostic = on; }),
                 flag_key("control", [&](bool on) { control = on; })});
    add(info);
    if (diagnostic) study.diagnostic.push_back(info.name);
    if (control) controls_.push_back(info.name);
    return true;
  }

  bool read_preset(const toml::node& node, Study& study, TomlReader& reader) {
    const auto* table = node.as_table();
    if (table == nullptr) return false;
    Preset preset;
    preset.name = (*table)["name"].value_or(std::string());
    preset.meaning = (*table)["meaning"].value_or(std::string());
    if (preset.name.empty() && !describing_)
      reader.report(table->source().begin, "preset: missing key 'name'");
    static_cast<void>(expected_of(*table));
    preset.values = values_of(*table, {"name", "meaning", "expected"});
    study.presets.push_back(std::move(preset));
    return true;
  }

  static bool read_source(const toml::node& node, Study& study, TomlReader& reader) {
    const auto* table = node.as_table();
    if (table == nullptr) return false;
    std::string cite;
    std::string used;
    reader.read(*table, reader.place(), {plain_key("cite", cite), plain_key("used", used)});
    try {
      study.sources.push_back(cited(cite, used));
    } catch (const std::logic_error&) {
      throw invalid_parameter("sources.cite", cite, "a paper of studies/sources.cpp");
    }
    return true;
  }

  static bool read_reference(const toml::node& node, Study& study, TomlReader& reader) {
    const auto* table = node.as_table();
    if (table == nullptr) return false;
    ReferenceRun run;
    std::vector<TomlKey> keys = {
        plain_key("name", run.name),
        plain_key("meaning", run.meaning),
        plain_key("preset", run.preset),
        flag_key("fetched", [&](bool on) { run.fetched = on; }),
        word_key<Verdict>("expected",
                          {{"AGREE", Verdict::agree},
                           {"DISAGREE", Verdict::disagree},
                           {"INCONCLUSIVE", Verdict::inconclusive},
                           {"CLAIMS HOLD", Verdict::claims_hold}},
                          [&](Verdict verdict) { run.expected = verdict; })};
    std::vector<std::string> names;
    for (const TomlKey& key : keys) names.push_back(key.name);
    for (auto&& [key, value] : *table) {  // the rest is for parameters
      if (std::find(names.begin(), names.end(), key.str()) == names.end())
        keys.push_back(any_key(std::string(key.str()), [](const toml::node&) { return true; }));
    }
    reader.read(*table, reader.place(), keys);
    run.values = values_of(*table, names);
    study.reference_runs.push_back(std::move(run));
    return true;
  }

  static bool read_perturbed(const toml::node& node, Study& study, TomlReader& reader) {
    const auto* table = node.as_table();
    if (table == nullptr) return false;
    PerturbedTheory wrong;
    wrong.name = (*table)["name"].value_or(std::string());
    wrong.meaning = (*table)["meaning"].value_or(std::string());
    if (const toml::table* scale = (*table)["scale"].as_table()) {
      reader.read(*scale,
                  reader.place(),
                  {plain_key("series", wrong.series), real_key("by", wrong.factor)});
    }
    wrong.values = values_of(*table, {"name", "meaning", "scale"});
    if (wrong.name.empty() || (wrong.values.empty() && wrong.series.empty()))
      reader.report(table->source().begin, "perturbed: expected name, and scale or a parameter");
    study.perturbed.push_back(std::move(wrong));
    return true;
  }

  static bool read_limit(const toml::node& node, Study& study, TomlReader& reader) {
    const auto* table = node.as_table();
    if (table == nullptr) return false;
    LimitRule rule;
    reader.read(*table,
                reader.place(),
                {plain_key("series", rule.series),
                 real_key("relative", rule.relative),
                 real_key("absolute", rule.absolute),
                 real_key("power", rule.power)});
    study.limits.push_back(rule);
    return true;
  }

  Document card_;
  std::vector<Document> bases_ = {};
  TomlReader reader_;
  bool describing_ = false;  ///< a user's file, which configures besides
  std::vector<std::pair<std::string, Parameter>> defined_ = {};  ///< by the bases
  std::vector<SeriesInfo> defined_series_ = {};
  std::vector<std::string> defined_diagnostic_ = {};
  std::vector<std::string> controls_ = {};
};

/// The name that a card has if it says none: "studies/gauss/sgd_data.toml" is gauss-sgd-data.
std::string name_from(const std::string& path) {
  const std::size_t file = path.rfind('/') + 1;
  const std::size_t folder = file < 2 ? 0 : path.rfind('/', file - 2) + 1;
  std::string name =
      path.substr(folder, file - 1 - folder) + "-" + path.substr(file, path.rfind('.') - file);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// Marks the rules of a study's controls.
void set_controls(Study& study, const std::vector<std::string>& controls) {
  if (controls.empty() || !study.agreement) return;
  study.agreement = [rules_of = std::move(study.agreement), controls](const Configuration& c) {
    std::vector<AgreementRule> rules = rules_of(c);
    for (AgreementRule& rule : rules)
      rule.control = std::ranges::find(controls, rule.series) != controls.end();
    return rules;
  };
}

Study read(const std::string& text, const std::string& source, const BaseAt& base, Study code) {
  CardReader reader(text, source, base);
  Study study = reader.read({});
  if (study.name.empty()) study.name = name_from(source);
  study.figure = [tables = reader.tables(), name = study.name](const Configuration& c) {
    return figure_of_card(tables, name, c);
  };
  study.agreement = [tables = reader.tables()](const Configuration& c) {
    return margins_of_card(tables, c);
  };
  if (code.make)
    study.make = [make = code.make, parameters = study.parameters](Configuration& c) {
      refuse_unused(c, parameters);
      return make(c);
    };
  if (code.figure) study.figure = std::move(code.figure);
  if (code.agreement) study.agreement = std::move(code.agreement);
  set_controls(study, reader.controls());
  study.claims = std::move(code.claims);
  study.exponents = std::move(code.exponents);
  study.files = std::move(code.files);
  return study;
}

}  // namespace

Study read_card(const std::string& text,
                const std::string& source,
                const std::function<std::string_view(const std::string& path)>& base,
                Study code) {
  const auto parse = [&](const std::string& path) -> Document {
    const std::string_view found = base(path);
    return found.empty() ? nullptr : document(std::string(found), path);
  };
  return read(text, source, parse, std::move(code));
}

const std::vector<std::string>& description_keys() {
  static const std::vector<std::string> keys = {
      "parameter", "series", "preset", "reference_run", "perturbed", "limit"};
  return keys;
}

Study with_description(Study study, const std::string& text, const std::string& source) {
  CardReader reader(text, source, {});
  Study described = reader.describe(std::move(study));
  set_controls(described, reader.controls());
  return described;
}

std::vector<LimitRule> described_limits(const std::string& text, const std::string& source) {
  return CardReader(text, source, {}).limits();
}

namespace {

/// A text of one line that a card has above its tables; empty: none, or one with an escape.
/// @param key with what follows it, as `name = "`
std::string_view line_of(std::string_view text, std::string_view key) {
  while (!text.empty() && text.front() != '[') {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(key)) {
      const std::string_view value = line.substr(key.size(), line.rfind('"') - key.size());
      return value.find_first_of("\"\\") == std::string_view::npos ? value : std::string_view();
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

/// The embedded card of a study; null if there is none.
const EmbeddedCard* card_of(std::string_view study) {
  static const std::map<std::string, const EmbeddedCard*, std::less<>> all = [] {
    std::map<std::string, const EmbeddedCard*, std::less<>> cards;
    for (const EmbeddedCard& card : embedded_cards()) {
      const std::string_view name = line_of(card.text, "name = \"");
      cards.emplace(name.empty() ? name_from(std::string(card.path)) : std::string(name), &card);
    }
    return cards;
  }();
  const auto found = all.find(study);
  return found == all.end() ? nullptr : found->second;
}

/// The embedded base at a path, parsed once; null if there is none.
Document embedded_base(const std::string& path) {
  static const std::map<std::string_view, std::string_view> texts = [] {
    std::map<std::string_view, std::string_view> all;
    for (const EmbeddedCard& one : embedded_cards()) all.emplace(one.path, one.text);
    return all;
  }();
  static std::mutex mutex;
  static std::map<std::string, Document> parsed_bases;
  const std::scoped_lock lock(mutex);
  const auto text = texts.find(path);
  if (text == texts.end()) return nullptr;
  Document& base = parsed_bases[path];
  if (base == nullptr) base = document(std::string(text->second), path);
  return base;
}

}  // namespace

Study described(Study code) {
  const EmbeddedCard* card = card_of(code.name);
  if (card == nullptr) throw std::logic_error(fmt::format("study '{}' has no card", code.name));
  try {
    return read(std::string(card->text), std::string(card->path), embedded_base, std::move(code));
  } catch (const Error& error) {
    throw std::logic_error(error.what());
  }
}

std::string_view embedded_question(std::string_view study) {
  const EmbeddedCard* card = card_of(study);
  return card == nullptr ? std::string_view() : line_of(card->text, "question = \"");
}

std::vector<MeasuredRange> measured_ranges(const std::string& study) {
  std::vector<MeasuredRange> all;
  const EmbeddedCard* card = card_of(study);
  if (card == nullptr) return all;
  const toml::table table = parsed(std::string(card->text), std::string(card->path), true);
  const toml::array* measured = table["measured"].as_array();
  if (measured == nullptr) return all;
  for (const toml::node& one : *measured) all.push_back(measured_of(*one.as_table()));
  return all;
}

std::map<std::string, ExpectedPoints> expected_points(const std::string& study) {
  const EmbeddedCard* card = card_of(study);
  if (card == nullptr) return {};
  return described_points(std::string(card->text), std::string(card->path));
}

std::map<std::string, ExpectedPoints> described_points(const std::string& text,
                                                       const std::string& source) {
  std::map<std::string, ExpectedPoints> all;
  const toml::table table = parsed(text, source, true);
  const toml::array* presets = table["preset"].as_array();
  if (presets == nullptr) return all;
  for (const toml::node& preset : *presets)
    all.emplace((*preset.as_table())["name"].value_or(std::string()),
                expected_of(*preset.as_table()));
  return all;
}

}  // namespace attica
