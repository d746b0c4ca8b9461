/// @file
/// @brief The problem of a configuration whose sides are brought: theory and simulation, each from
/// its source.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <optional>

#include "attica/core/error.hpp"
#include "attica/core/words.hpp"
#include "attica/sources/expression.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/side.hpp"
#include "attica/sources/study.hpp"
#include "attica/sources/theory_text.hpp"

namespace attica::sources {
namespace {

/// Whether a text has a name as a whole word.
bool has_word(std::string_view text, const std::string& name) {
  const auto part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) return true;
  }
  return false;
}

/// Whether a value is a text, or a list with one, that names something.
bool names(const Value& value, const std::string& name) {
  if (const auto* text = std::get_if<std::string>(&value)) return has_word(*text, name);
  const auto* list = std::get_if<List>(&value);
  return list != nullptr &&
         std::ranges::any_of(*list, [&](const Value& one) { return names(one, name); });
}

/// The built-in studies that are sides.
std::vector<const Study*> studies_of(const Configuration& c) {
  std::vector<const Study*> all;
  for (const char* key :
       {"theory.study", "theory.experiment", "simulation.study", "simulation.experiment"}) {
    if (c.has(key)) all.push_back(named_study(key, c.text(key)));
  }
  return all;
}

/// A key of [model] or [sweep] that is no parameter of the studies that are sides, and that no
/// formula and no command names: the studies go on with their defaults.
std::optional<Error> unused_key(const Configuration& c) {
  const std::vector<const Study*> studies = studies_of(c);
  if (studies.empty()) return std::nullopt;
  const Table entries = c.entries();
  std::vector<std::string> known;
  for (const Study* study : studies) {
    for (const Parameter& p : study->parameters) {
      if (p.key.starts_with("model.") || p.key.starts_with("sweep.")) known.push_back(p.name());
    }
  }
  for (const auto& [key, value] : entries) {
    if (!key.starts_with("model.")) continue;
    const std::string name = key.substr(key.find('.') + 1);
    if (std::ranges::count(known, name) > 0 || name == c.text("x")) continue;
    const bool named = std::ranges::any_of(entries, [&, &own = key](const auto& entry) {
      return entry.first != own && names(entry.second, name);
    });
    if (named) continue;
    const std::string near = nearest(name, known);
    return Error(ErrorKind::input,
                 fmt::format("'{}' of [model] or [sweep] is no parameter of {}, and no formula and "
                             "no command names it{}",
                             name,
                             studies.front()->name,
                             near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                 key);
  }
  return std::nullopt;
}

class Sides : public Experiment {
 public:
  explicit Sides(Configuration& c) {
    require_text_read(c);
    theory_ = side(c, "theory");
    simulation_ = side(c, "simulation");
    if (const auto unused = unused_key(c)) {
      // Columns of a table may have that name: it selects their rows.
      const auto has_table = [&](const std::string& side) {
        return is_of_kind(c, side, "file") || is_of_kind(c, side, "command");
      };
      if (!has_table("theory") && !has_table("simulation")) throw *unused;
      unused_ = unused->what();
    }
    if (theory_ == nullptr && simulation_ == nullptr) {
      throw Error(ErrorKind::input,
                  "a study of one's own needs [theory], [simulation] or both, each with one of "
                  "file, command, "
                  "study, expression; [theory] may have flow, map, solve or training");
    }
    if (c.has("theory.covariance") && !is_of_kind(c, "theory", "file")) {
      throw invalid_parameter("theory.covariance",
                              c.text("theory.covariance"),
                              "theory.file with it, whose rows it has a row and a column for");
    }
    compared_ = names_in(c, "agreement");
    for (const std::string& series : compared_) {
      const std::string key = "agreement." + series + ".";
      if (c.real(key + "relative") != 0 || c.real(key + "absolute") != 0)
        with_margin_.push_back(series);
    }
    if (const auto theory = table_of(theory_); theory && table_of(simulation_))
      require_same_columns(*theory, *table_of(simulation_));
    if (theory_ && simulation_) {
      theory_->compare_units_with(table_of(simulation_));
      simulation_->compare_units_with(table_of(theory_));
    }
    for (const auto* one : {&theory_, &simulation_}) {
      if (*one) (*one)->require_names(simulation_.get());
    }
    for (const std::string section : {"claim", "bound"}) {
      for (const std::string& name : names_in(c, section)) {
        const std::string key = section + "." + name + ".";
        static_cast<void>(Expression(key + "expression", c.text(key + "expression")));
        if (section == "bound") static_cast<void>(c.text(key + "series"));
      }
    }
    require_series();
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    if (theory_ == nullptr) return result;
    result = theory_->theory(grid, simulation_.get());
    for (Prediction& p : result.predictions) sort_by_x(p);
    if (simulation_ && theory_->printed()) simulation_->compare_units_with(theory_->printed());
    const std::scoped_lock lock(guard_);
    predicted_ = std::make_shared<const std::vector<Prediction>>(result.predictions);
    return result;
  }

  std::size_t points() const override { return simulation_ == nullptr ? 0 : simulation_->points(); }

  std::uint64_t replicates_per_piece(std::size_t point) const override {
    return simulation_->replicates_per_piece(point);
  }

  void require_simulable() const override {
    if (simulation_ == nullptr) {
      throw Error(ErrorKind::input,
                  "there is no [simulation] to run; `attica theory` prints the theory");
    }
    if (theory_ == nullptr && !with_margin_.empty()) {
      throw Error(
          ErrorKind::input,
          fmt::format("[agreement.{}] compares, but there is no [theory]", with_margin_.front()),
          "agreement." + with_margin_.front() + ".relative");
    }
    simulation_->require_usable();
    if (theory_) theory_->require_usable();
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    std::shared_ptr<const std::vector<Prediction>> predicted;
    {
      const std::scoped_lock lock(guard_);
      predicted = predicted_;
    }
    return simulation_->simulate(piece, *predicted);
  }

  Table diagnostics() const override {
    Table facts;
    for (const auto* one : {&theory_, &simulation_}) {
      if (!*one) continue;
      for (auto& fact : (*one)->diagnostics()) facts.push_back(std::move(fact));
    }
    return facts;
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> all;
    if (!unused_.empty()) all.push_back(unused_);
    for (const auto* one : {&theory_, &simulation_}) {
      if (!*one) continue;
      for (std::string& warning : (*one)->warnings()) all.push_back(std::move(warning));
    }
    return all;
  }

 private:
  static std::unique_ptr<Side> side(Configuration& c, const std::string& name) {
    const SourceKind* kind = kind_of(c, name);
    const SourceKind command = command_kind();
    for (const Parameter& p : command.parameters(name)) {
      if (!c.has(p.key) || (kind != nullptr && kind->key == command.key)) continue;
      throw Error(ErrorKind::input,
                  fmt::format("[{}] has '{}' without '{}', to which it belongs",
                              name,
                              p.key.substr(name.size() + 1),
                              command.key),
                  p.key);
    }
    if (kind == nullptr) return nullptr;
    return kind->make(c, {.name = name, .x_name = c.text("x"), .x_given = c.given("x")});
  }

  static std::shared_ptr<const OutsideTable> table_of(const std::unique_ptr<Side>& side) {
    return side == nullptr ? nullptr : side->table();
  }

  /// Series that are to be compared must be in the files that were brought.
  void require_series() const {
    for (const std::string& series : compared_) {
      for (const auto* one : {&theory_, &simulation_}) {
        const auto table = table_of(*one);
        if (table == nullptr || std::ranges::any_of(table->rows, [&](const TableRow& r) {
              return r.series == series;
            })) {
          continue;
        }
        throw Error(ErrorKind::input,
                    fmt::format("'{}' has no series '{}', which [agreement.{}] compares",
                                table->source,
                                series,
                                series),
                    "agreement." + series + ".relative");
      }
    }
  }

  std::unique_ptr<Side> theory_;
  std::unique_ptr<Side> simulation_;
  std::string unused_;  ///< of a key that is perhaps used nowhere
  std::vector<std::string> compared_;
  std::vector<std::string> with_margin_;  ///< of them
  mutable std::mutex guard_;
  /// What `theory` computed last.
  mutable std::shared_ptr<const std::vector<Prediction>> predicted_ =
      std::make_shared<const std::vector<Prediction>>();
};

}  // namespace

std::unique_ptr<Experiment> sides_experiment(Configuration& c) {
  return std::make_unique<Sides>(c);
}

}  // namespace attica::sources
