#include "attica/studies/card_figure.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/label.hpp"
#include "attica/studies/toml_reader.hpp"

namespace attica {

using namespace toml_io;

namespace {

std::string as_text(const Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  std::vector<std::string> all;
  for (const Value& element : std::get<List>(value)) all.push_back(as_text(element));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::optional<double> as_number(const Value& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  return std::nullopt;
}

bool equal(const Value& a, const Value& b) {
  const auto x = as_number(a);
  const auto y = as_number(b);
  return x && y ? *x == *y : as_text(a) == as_text(b);
}

/// What a text or a table may depend on: the configuration, the card's words, and the values that
/// `each` goes through.
class Context {
 public:
  using Bound = std::vector<std::pair<std::string, Value>>;

  Context(const CardTables& tables, const Configuration& c) : c_(c) {
    for (const auto& one : tables) {
      if (const toml::table* words = one->table["words"].as_table()) words_.push_back(words);
    }
  }

  /// @brief Whether all conditions of a table {"model.kind" = "word"} hold. A list names
  /// alternatives; true and false ask of a parameter that is no flag whether it has a value.
  bool holds(const toml::table& when) const {
    for (auto&& [key, node] : when) {
      if (!holds(std::string(key.str()), node)) return false;
    }
    return true;
  }

  /// @brief The values that each = {name = "sweep.key"} goes through, in all combinations.
  std::vector<Bound> each(const toml::table& table) const {
    std::vector<Bound> all(1);
    for (auto&& [name, node] : table) {
      const auto key = text_of(node);
      if (!key || !c_.declares(*key))
        throw invalid_parameter("each", key.value_or(shown(node)), "the key of a parameter");
      const Value& value = c_.at(*key);
      const auto* list = std::get_if<List>(&value);
      std::vector<Bound> extended;
      for (const Bound& bound : all) {
        for (const Value& element : list != nullptr ? *list : List{value}) {
          extended.push_back(bound);
          extended.back().emplace_back(std::string(name.str()), element);
        }
      }
      all = std::move(extended);
    }
    return all;
  }

  /// @brief The text with its words in braces: of the card, of `each`, and keys of parameters.
  /// Others stay; "{name:.3g}" says how a number is written.
  std::string filled(const std::string& text, const Bound& bound) const {
    std::string all;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text[at] == '{' ? text.find('}', at) : std::string::npos;
      if (end == std::string::npos) {
        all += text[at++];
        continue;
      }
      const std::string inner = text.substr(at + 1, end - at - 1);
      const std::size_t colon = inner.find(':');
      const auto found = word(inner.substr(0, colon), bound);
      if (!found) {
        all += text[at++];
        continue;
      }
      const auto number = as_number(*found);
      all += colon != std::string::npos && number
                 ? fmt::format(fmt::runtime("{:" + inner.substr(colon + 1) + "}"), *number)
                 : as_text(*found);
      at = end + 1;
    }
    return all;
  }

  /// @brief The value of a bound name if the text is that name in braces; else the filled text.
  CoordinateValue coordinate(const std::string& text, const Bound& bound) const {
    if (text.size() > 2 && text.front() == '{' && text.back() == '}') {
      if (const auto found = word(text.substr(1, text.size() - 2), bound)) {
        if (const auto number = as_number(*found)) return *number;
        return as_text(*found);
      }
    }
    return filled(text, bound);
  }

 private:
  bool holds(const std::string& key, const toml::node& node) const {
    if (!c_.declares(key)) throw invalid_parameter("when", key, "the key of a parameter");
    if (const auto* alternatives = node.as_array()) {
      return std::any_of(alternatives->begin(), alternatives->end(), [&](const toml::node& one) {
        return holds(key, one);
      });
    }
    if (const auto* flag = node.as_boolean();
        flag != nullptr && !(c_.has(key) && std::holds_alternative<bool>(c_.at(key))))
      return c_.has(key) == flag->get();
    const auto wanted = to_value(node);
    if (!wanted) throw invalid_parameter("when." + key, shown(node), "a plain value");
    if (!c_.has(key)) return false;
    const Value& value = c_.at(key);
    const auto* list = std::get_if<List>(&value);
    if (list == nullptr) return equal(value, *wanted);
    return std::any_of(
        list->begin(), list->end(), [&](const Value& one) { return equal(one, *wanted); });
  }

  std::optional<Value> word(const std::string& name, const Bound& bound) const {
    for (const auto& [key, value] : bound) {
      if (key == name) return value;
    }
    for (const toml::table* words : words_) {
      const toml::table* table = (*words)[name].as_table();
      if (table == nullptr) continue;
      const std::string key = (*table)["key"].value_or(std::string());
      if (!c_.declares(key))
        throw invalid_parameter("words." + name, key, "the key of a parameter");
      const toml::node* node = c_.has(key) ? table->get(as_text(c_.at(key))) : nullptr;
      if (node == nullptr) node = table->get("otherwise");
      return Value(node == nullptr ? std::string() : node->value_or(std::string()));
    }
    if (name.find('.') != std::string::npos && c_.declares(name) && c_.has(name))
      return c_.at(name);
    return std::nullopt;
  }

  const Configuration& c_;
  std::vector<const toml::table*> words_ = {};
};

/// Reads panels and layers for a configuration.
class FigureBuilder {
 public:
  FigureBuilder(const CardTable& card, const Context& context)
      : reader_(card.source, true), context_(context) {}

  Figure read(const toml::table& table, const std::string& name) {
    Figure figure{.name = name, .panels = {}, .columns = 1, .caption = {}};
    std::string caption;
    reader_.read(
        table,
        "figure",
        {text("caption", figure.caption, {}),
         {"columns",
          "1 to 6",
          [&](const toml::node& node) {
            const auto* columns = node.as_integer();
            if (columns != nullptr) figure.columns = static_cast<std::size_t>(columns->get());
            return columns != nullptr && columns->get() >= 1 && columns->get() <= 6;
          }},
         axis("x", shared_.x, {}),
         axis("y", shared_.y, {}),
         text("x_name", shared_.x_name, {}),
         repeated("panels",
                  {},
                  [&](const toml::table& one, const std::string& place, const Bound& bound) {
                    figure.panels.push_back(panel(one, place, bound));
                  })});
    reader_.finish();
    return figure;
  }

 private:
  using Bound = Context::Bound;

  TomlKey text(const std::string& name, std::string& target, const Bound& bound) {
    return {name, "a text", [this, &target, bound](const toml::node& node) {
              const auto text = text_of(node);
              if (text) target = context_.filled(*text, bound);
              return text.has_value();
            }};
  }

  /// Mathematics between dollar signs; a label without any is enhanced text.
  TomlKey label(const std::string& name, std::string& target, const Bound& bound) {
    return {name, "a text", [this, &target, bound](const toml::node& node) {
              const auto text = text_of(node);
              if (!text) return false;
              const std::string filled = context_.filled(*text, bound);
              target = filled.find('$') == std::string::npos ? filled
                                                             : from_latex(filled, reader_.place());
              return true;
            }};
  }

  /// Enters a table of a list, by what it is called in messages.
  using Enter = std::function<void(const toml::table&, const std::string&, const Bound&)>;

  /// A list of tables, each entered where its `when` holds, for each value of its `each`.
  TomlKey repeated(const std::string& name, const Bound& bound, const Enter& enter) {
    return {name, "a list of tables", [this, bound, enter](const toml::node& node) {
              const auto* array = node.as_array();
              if (array == nullptr) return false;
              const std::string place = reader_.place();
              std::size_t number = 0;
              for (const toml::node& element : *array) {
                const std::string where = fmt::format("{}[{}]", place, number++);
                const auto* table = element.as_table();
                if (table == nullptr) return false;
                const toml::table* when = (*table)["when"].as_table();
                if (when != nullptr && !context_.holds(*when)) continue;
                const toml::table* each = (*table)["each"].as_table();
                for (const Bound& more :
                     each == nullptr ? std::vector<Bound>(1) : context_.each(*each)) {
                  Bound all = bound;
                  all.insert(all.end(), more.begin(), more.end());
                  enter(*table, where, all);
                }
              }
              return true;
            }};
  }

  static TomlKey table_only(const std::string& name) {
    return {name, "a table", [](const toml::node& node) { return node.is_table(); }};
  }

  TomlKey axis(const std::string& name, Axis& axis, const Bound& bound) {
    return {name,
            "a table such as {label = \"time\", scale = \"log\", low = 1, high = 100}",
            [this, &axis, bound](const toml::node& node) {
              if (!node.is_table()) return false;
              const std::string place = reader_.place();
              axis = {};
              reader_.read(
                  *node.as_table(),
                  place,
                  {label("label", axis.label, bound),
                   word_key<AxisScale>("scale",
                                       {{"linear", AxisScale::linear}, {"log", AxisScale::log}},
                                       [&](AxisScale scale) { axis.scale = scale; }),
                   number_key("low", axis.low),
                   number_key("high", axis.high)});
              return true;
            }};
  }

  Panel panel(const toml::table& table, const std::string& place, const Bound& bound) {
    Panel made = shared_;
    reader_.read(
        table,
        place,
        {word_key<PanelKind>("kind",
                             {{"curves", PanelKind::curves},
                              {"scatter", PanelKind::scatter},
                              {"heat-map", PanelKind::heat_map},
                              {"contours", PanelKind::contours}},
                             [&](PanelKind kind) { made.kind = kind; }),
         label("title", made.title, bound),
         axis("x", made.x, bound),
         axis("y", made.y, bound),
         axis("value", made.value, bound),
         text("x_name", made.x_name, bound),
         text("y_coordinate", made.y_coordinate, bound),
         flag_key("residuals", [&](bool on) { made.residuals = on; }),
         flag_key("diagonal", [&](bool on) { made.diagonal = on; }),
         {"vertical",
          "a list of finite numbers",
          [&](const toml::node& node) {
            std::optional<std::vector<double>> marks;
            const bool read = numbers_key("vertical", marks).set(node);
            if (read) made.vertical_marks = *marks;
            return read;
          }},
         {"marks",
          "a list of series",
          [&](const toml::node& node) {
            const auto* array = node.as_array();
            if (array == nullptr) return false;
            for (const toml::node& element : *array)
              made.recorded_marks.push_back(text_of(element).value_or(""));
            return true;
          }},
         repeated("layers",
                  bound,
                  [&](const toml::table& one, const std::string& where, const Bound& inner) {
                    made.layers.push_back(layer(one, where, inner));
                  }),
         table_only("when"),
         table_only("each")});
    return made;
  }

  Layer layer(const toml::table& table, const std::string& place, const Bound& bound) {
    using Show = std::pair<bool, bool>;
    Layer made;
    reader_.read(
        table,
        place,
        {text("series", made.series, bound),
         label("label", made.label, bound),
         word_key<Show>(
             "show",
             {{"both", {true, true}}, {"theory", {true, false}}, {"simulation", {false, true}}},
             [&](Show show) { std::tie(made.theory, made.simulation) = show; }),
         flag_key("reference", [&](bool on) { made.reference = on; }),
         flag_key("trajectories", [&](bool on) { made.trajectories = on; }),
         flag_key("hollow", [&](bool on) { made.hollow = on; }),
         {"only",
          "a table such as {lambda = 0.1, model = \"factored\"}",
          [&](const toml::node& node) {
            if (!node.is_table()) return false;
            std::vector<std::pair<toml::source_position, std::pair<std::string, CoordinateValue>>>
                found;
            for (auto&& [key, inner] : *node.as_table()) {
              CoordinateValue value;
              if (const auto text = text_of(inner)) {
                value = context_.coordinate(*text, bound);
              } else if (const auto number = number_of(inner)) {
                value = *number;
              } else {
                return false;
              }
              found.push_back({key.source().begin, {std::string(key.str()), value}});
            }
            std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
              return before(a.first, b.first);
            });
            for (auto& [at, coordinate] : found) made.only.push_back(std::move(coordinate));
            return true;
          }},
         table_only("when"),
         table_only("each")});
    return made;
  }

  TomlReader reader_;
  const Context& context_;
  Panel shared_ = {};  ///< what panels take over that do not say it
};

}  // namespace

Figure figure_of_card(const CardTables& tables, const std::string& name, const Configuration& c) {
  const Context context(tables, c);
  for (auto card = tables.rbegin(); card != tables.rend(); ++card) {
    if (const toml::table* figure = (*card)->table["figure"].as_table())
      return FigureBuilder(**card, context).read(*figure, name);
  }
  return {.name = name, .panels = {}, .columns = 1, .caption = {}};
}

std::vector<AgreementRule> margins_of_card(const CardTables& tables, const Configuration& c) {
  const Context context(tables, c);
  std::vector<AgreementRule> rules;
  for (const auto& card : tables) {
    const toml::array* margins = card->table["margin"].as_array();
    if (margins == nullptr) continue;
    TomlReader reader(card->source, true);
    for (const toml::node& element : *margins) {
      const toml::table* table = element.as_table();
      if (table == nullptr) continue;
      const toml::table* when = (*table)["when"].as_table();
      if (when != nullptr && !context.holds(*when)) continue;
      std::vector<std::string> series;
      std::optional<double> relative;
      std::optional<double> absolute;
      std::optional<Tails> tails;
      std::optional<bool> deterministic;
      reader.read(*table,
                  "margin",
                  {{"series",
                    "a series, or a list of some",
                    [&](const toml::node& node) {
                      if (const auto one = text_of(node)) series = {*one};
                      if (const auto* array = node.as_array()) {
                        for (const toml::node& one : *array)
                          series.push_back(text_of(one).value_or(""));
                      }
                      return !series.empty();
                    }},
                   number_key("relative", relative, "a number that is not negative", 0),
                   number_key("absolute", absolute, "a number that is not negative", 0),
                   word_key<Tails>("tails",
                                   {{"guarded", Tails::guarded}, {"normal", Tails::normal}},
                                   [&](Tails t) { tails = t; }),
                   flag_key("deterministic", [&](bool on) { deterministic = on; }),
                   {"when", "a table", [](const toml::node& node) { return node.is_table(); }}});
      for (const std::string& name : series) {
        auto rule = std::find_if(
            rules.begin(), rules.end(), [&](const AgreementRule& r) { return r.series == name; });
        if (rule == rules.end())
          rule = rules.insert(rules.end(), {.series = name, .relative = 0, .absolute = 0});
        if (relative) rule->relative = *relative;
        if (absolute) rule->absolute = *absolute;
        if (tails) rule->tails = *tails;
        if (deterministic) rule->deterministic = *deterministic;
      }
    }
    reader.finish();
  }
  return rules;
}

}  // namespace attica
