#include "attica/plots/label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "attica/plots/text.hpp"

namespace attica::plots {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kGreekWords = {
    {{"alpha", "α"},  {"beta", "β"},  {"gamma", "γ"}, {"delta", "δ"}, {"epsilon", "ε"},
     {"zeta", "ζ"},   {"eta", "η"},   {"theta", "θ"}, {"iota", "ι"},  {"kappa", "κ"},
     {"lambda", "λ"}, {"mu", "μ"},    {"nu", "ν"},    {"xi", "ξ"},    {"pi", "π"},
     {"rho", "ρ"},    {"sigma", "σ"}, {"tau", "τ"},   {"phi", "φ"},   {"chi", "χ"},
     {"psi", "ψ"},    {"omega", "ω"}, {"Delta", "Δ"}, {"Sigma", "Σ"}}};

std::string pretty_value(const CoordinateValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return pretty_number(*number);
  return escape(std::get<std::string>(value));
}

}  // namespace

bool differs(const std::pair<std::string, CoordinateValue>& coordinate,
             const std::vector<Point>& points) {
  return std::any_of(points.begin(), points.end(), [&](const Point& point) {
    return std::find(point.begin(), point.end(), coordinate) == point.end();
  });
}

std::string pretty_number(double value) {
  std::string text = fmt::format("{:.4g}", value);
  constexpr double kMostDigits = 1e7;  // 65536, not 6.554×10^4
  if (value == std::round(value) && std::abs(value) < kMostDigits && std::stod(text) != value)
    text = fmt::format("{:.0f}", value);
  if (const auto e = text.find('e'); e != std::string::npos) {
    const int exponent = std::stoi(text.substr(e + 1));
    const std::string mantissa = text.substr(0, e);
    const std::string power =
        fmt::format("10^{{{}{}}}", exponent < 0 ? "−" : "", std::abs(exponent));
    text = mantissa == "1" ? power : mantissa + "×" + power;
  }
  if (text.front() == '-') text.replace(0, 1, "−");
  return text;
}

std::string_view greek_letter(std::string_view name) {
  for (const auto& [word, letter] : kGreekWords) {
    if (name == word) return letter;
  }
  return "";
}

std::vector<std::string_view> greek_names() {
  std::vector<std::string_view> names;
  for (const auto& [word, letter] : kGreekWords) names.push_back(word);
  return names;
}

std::string pretty_name(std::string_view name) {
  if (const std::string_view letter = greek_letter(name); !letter.empty())
    return fmt::format("{{/:Italic {}}}", letter);
  if (name.size() == 1) return fmt::format("{{/:Italic {}}}", name);
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return escape(text);
}

bool mentions_coordinate(std::string_view label, const Point& point) {
  return std::any_of(point.begin(), point.end(), [&](const auto& coordinate) {
    return label.find("{" + coordinate.first + "}") != std::string_view::npos;
  });
}

std::string fill_label(std::string label, const Point& point) {
  for (const auto& [name, value] : point) {
    const std::string place = "{" + name + "}";
    const std::string text = pretty_value(value);
    for (auto at = label.find(place); at != std::string::npos;
         at = label.find(place, at + text.size())) {
      label.replace(at, place.size(), text);
    }
  }
  return label;
}

std::string point_label(const Point& point, const std::vector<Point>& points) {
  std::string text;
  for (const auto& coordinate : point) {
    if (!differs(coordinate, points)) continue;
    if (!text.empty()) text += ", ";
    text += pretty_name(coordinate.first) + " = " + pretty_value(coordinate.second);
  }
  return text;
}

}  // namespace attica::plots
