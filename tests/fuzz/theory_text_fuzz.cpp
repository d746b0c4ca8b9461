// Any bytes are the lines of a theory in text: kind, then "key name = formula" a line. It is
// refused by an Error of kind input, or has values that are finite or have a reason, within bounds
// of work; some of them are evaluated twice, to the same values.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "attica/core/error.hpp"
#include "attica/solvers/formula/theory_text.hpp"

namespace {

using namespace attica;
using namespace attica::formula;

TheoryText read(const std::string& bytes) {
  TheoryText text;
  text.time = "t";
  std::istringstream lines(bytes);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string key, name, formula;
    words >> key >> name;
    std::getline(words, formula);
    const auto equals = formula.find('=');
    formula = equals == std::string::npos ? formula : formula.substr(equals + 1);
    if (key == "flow") text.kind = TheoryText::Kind::flow;
    if (key == "map") text.kind = TheoryText::Kind::map;
    if (key == "solve") text.kind = TheoryText::Kind::solve;
    if (key == "let") text.let.emplace_back(name, formula);
    if (key == "list") {
      text.lists.push_back(
          {.where = "lists." + name, .name = name, .index = "i", .to = "7", .value = formula});
    }
    if (key == "series") text.series.emplace_back(name, formula);
    if (key == "start") text.start.emplace_back(name, formula);
    if (key == "rate") text.rate.emplace_back(name, formula);
    if (key == "each") {
      text.index = name;
      text.count = 3;
    }
    if (key == "stiff") text.stiff = true;
    if (key == "event") text.event = formula;
    if (key == "unknown") text.unknowns.emplace_back(name, formula);
    if (key == "fixed") text.fixed.emplace_back(name, formula);
    if (key == "zero") text.zero.emplace_back(name, formula);
    if (key == "domain") text.domain.emplace_back(name, formula);
    if (key == "other") text.starts.emplace_back(name, Texts{{name, formula}});
    if (key == "choose") text.choose = "lowest " + formula;
    if (key == "branches") text.branches = true;
    if (key == "follow") text.follow = name;
  }
  return text;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const TheoryText text = read({reinterpret_cast<const char*>(data), size});
    if (size % 4 == 1) {
      for (const std::string& name : needed_names(text)) {
        if (name.empty()) std::abort();
      }
    }
    // Little work for most of them, so that there are many; some may do more.
    const bool much = size % 64 == 0, more = size % 8 == 0;
    const Effort little{.evaluations = much   ? 4'000U
                                       : more ? 400U
                                              : 60U,
                        .steps = much   ? 10'000
                                 : more ? 400
                                        : 60};
    const TextTheory theory(text, {"t", "x"}, little);
    std::vector<std::vector<double>> places = {{2, 0.5}};
    if (size % 4 != 3) places.push_back({3, -1});
    if (size % 8 < 2) places.push_back({0, 0.5});
    const TextResult first = theory.evaluate(places, places.size() - (size % 4 == 2 ? 1 : 0));
    const TextResult second = size % 8 == 4 ? theory.evaluate(places, places.size()) : first;
    if (first.points.size() != places.size()) std::abort();
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (first.points[k].empty() || first.points[k].size() != second.points[k].size())
        std::abort();
      for (std::size_t b = 0; b < first.points[k].size(); ++b) {
        const auto& values = first.points[k][b].values;
        if (values.size() != theory.series().size()) std::abort();
        for (std::size_t s = 0; s < values.size(); ++s) {
          const TextValue& v = values[s];
          if (v.reason.empty() && (!std::isfinite(v.value) || !std::isfinite(v.numerical_error)))
            std::abort();
          if (!same(v.value, second.points[k][b].values[s].value)) std::abort();
        }
      }
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}
