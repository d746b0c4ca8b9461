#include "attica/plots/look.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "attica/core/error.hpp"
#include "attica/plots/content.hpp"
#include "attica/plots/layout.hpp"
#include "attica/plots/script.hpp"
#include "attica/plots/text.hpp"
#include "plots/samples.hpp"

using namespace attica;
using namespace attica::plots;
using namespace attica::testing;

namespace look_test {

constexpr double kWidth = 243;  // points: a column of Physical Review

Layout layout_of(const Figure& figure, const FigureData& data, const Look& look) {
  return lay_out(arrange(figure, data, look), find_theme("aps"), kWidth, "", look);
}

std::string message_of(const Figure& figure, const FigureData& data, const Look& look) {
  try {
    layout_of(figure, data, look);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// The first text that contains these words.
const TextLine* find_text(const Layout& layout, const std::string& words) {
  for (const TextLine& line : layout.texts) {
    if (line.text.find(words) != std::string::npos) return &line;
  }
  return nullptr;
}

Figure plain_panel() {
  Figure figure = one_panel();
  figure.panels[0].residuals = false;
  return figure;
}

/// Two lines from corner to corner.
FigureData cross() {
  FigureData data;
  for (const double from : {0.0, 1.0}) {
    RecordedCurve curve;
    curve.theory = true;
    curve.mean = {"y", {{"branch", from}}, "x", {0, 1}, {from, 1 - from}};
    data.curves.push_back(curve);
  }
  return data;
}

TEST_CASE("look: chosen colours, markers and dashes are in the curves and in the legend",
          "[plots]") {
  const FigureData data = double_descent({0.1, 1});
  Figure figure = plain_panel();
  figure.panels[0].layers = {{.series = "test_error", .label = "one", .only = {{"lambda", 0.1}}},
                             {.series = "test_error", .label = "other", .only = {{"lambda", 1.0}}}};
  Look look;
  look.panels = {{.layers = {{.colour = "#123456", .marker = "square", .line = "dotted"}}}};
  const Content content = arrange(figure, data, look);
  const PanelContent& panel = content.panels[0];
  REQUIRE(panel.legend.size() == 2);
  CHECK(panel.legend[0].style == CurveStyle{"#123456", 5, "(2,3)"});
  CHECK(panel.legend[1].style == nth_style(1));
  for (const DrawnCurve& curve : panel.curves) {
    const bool first = curve.data->mean.point.front().second == CoordinateValue(0.1);
    CHECK(curve.style == panel.legend[first ? 0 : 1].style);
  }
}

TEST_CASE("look: with a chosen colour every curve of several points has its own entry", "[plots]") {
  Figure figure = plain_panel();
  figure.panels[0].layers = {{.series = "test_error", .label = "test"},
                             {.series = "train_error", .label = "train"}};
  Look look;
  look.panels = {{.layers = {{}, {.colour = "#ff0000"}}}};
  const Content content = arrange(figure, double_descent({0.1, 1}), look);
  std::set<std::string> entries;
  for (const LegendEntry& entry : content.panels[0].legend) entries.insert(entry.text);
  CHECK(entries == std::set<std::string>{"test, {/:Italic λ} = 0.1",
                                         "test, {/:Italic λ} = 1",
                                         "train, {/:Italic λ} = 0.1",
                                         "train, {/:Italic λ} = 1"});
}

TEST_CASE("look: names that are none are refused", "[plots]") {
  const FigureData data = double_descent({0.1});
  const auto refused = [&](const LayerLook& layer) {
    Look look;
    look.panels = {{.layers = {layer}}};
    return message_of(plain_panel(), data, look);
  };
  CHECK_THAT(refused({.colour = "red"}), Catch::Contains("parameter 'colour' = red"));
  CHECK_THAT(refused({.marker = "star"}), Catch::Contains("one of circle, square"));
  CHECK_THAT(refused({.line = "wavy"}), Catch::Contains("one of solid, dashed"));
  for (const std::string& name : marker_names()) CHECK(refused({.marker = name}).empty());
  for (const std::string& name : line_names()) CHECK(refused({.line = name}).empty());
}

TEST_CASE("look: a legend inside touches no curve, bar or point", "[plots]") {
  for (const std::vector<double>& lambdas : {std::vector{0.1}, std::vector{0.01, 0.1, 1.0}}) {
    const FigureData data = double_descent(lambdas);
    const Figure figure = plain_panel();
    Look look;
    look.legend = LegendPlace::inside;
    const Layout layout = layout_of(figure, data, look);
    const Axes& axes = layout.panels[0].axes;
    // The legend as it was placed: samples inside the frame, and the texts beside them.
    double left = 1e9;
    double right = -1e9;
    double top = 1e9;
    double bottom = -1e9;
    std::size_t entries = 0;
    for (const Sample& sample : layout.samples) {
      if (sample.y < axes.box.top) continue;
      ++entries;
      left = std::min(left, sample.left);
      top = std::min(top, sample.y);
      bottom = std::max(bottom, sample.y);
    }
    for (const TextLine& text : layout.texts) {
      if (text.text.find("λ} = ") == std::string::npos) continue;
      right = std::max(right, text.x + text_width(text.text, text.size));
    }
    REQUIRE(entries == lambdas.size());
    CHECK(left > axes.box.left);
    CHECK(right < axes.box.right);
    CHECK(top > axes.box.top);
    CHECK(bottom < axes.box.bottom);
    // No point of any curve, and none halfway between two, lies in it.
    for (const RecordedCurve& curve : data.curves) {
      if (curve.mean.name != "test_error") continue;
      for (std::size_t i = 0; i + 1 < curve.mean.x.size(); ++i) {
        for (const double part : {0.0, 0.5}) {
          const double x = (1 - part) * curve.mean.x[i] + part * curve.mean.x[i + 1];
          const double y = (1 - part) * curve.mean.y[i] + part * curve.mean.y[i + 1];
          const double page_x = axes.box.left + axes.x.position(x) * axes.box.width();
          const double page_y = axes.box.bottom - axes.y.position(y) * axes.box.height();
          CHECK_FALSE((page_x > left && page_x < right && page_y > top && page_y < bottom));
        }
      }
    }
  }
}

TEST_CASE("look: where no corner is free a legend inside is refused", "[plots]") {
  const FigureData data = cross();
  Figure figure{"cross", {Panel{}}, 1, ""};
  figure.panels[0].layers = {{.series = "y"}};
  Look look;
  look.legend = LegendPlace::inside;
  CHECK_THAT(message_of(figure, data, look), Catch::Contains("every corner has data"));
  look.legend = LegendPlace::above;
  CHECK(message_of(figure, data, look).empty());
}

TEST_CASE("look: a legend below stands beneath the axes, none is none", "[plots]") {
  const FigureData data = double_descent({0.1, 1});
  Look look;
  look.legend = LegendPlace::below;
  const Layout below = layout_of(plain_panel(), data, look);
  REQUIRE(find_text(below, "= 0.1") != nullptr);
  CHECK(find_text(below, "= 0.1")->y > below.panels[0].axes.box.bottom);
  look.legend = LegendPlace::none;
  look.key = false;
  const Layout none = layout_of(plain_panel(), data, look);
  CHECK(find_text(none, "= 0.1") == nullptr);
  CHECK(none.samples.empty());
  // Panels of different legends have no common one.
  Figure two = plain_panel();
  two.panels.push_back(two.panels[0]);
  two.panels[1].layers[0].label = "b {lambda}";
  look.legend = LegendPlace::below;
  CHECK_THAT(message_of(two, data, look), Catch::Contains("different legends"));
}

TEST_CASE("look: texts stand at their place of the axes and nowhere else", "[plots]") {
  const FigureData data = double_descent({0.1});
  Look look;
  look.panels = {
      {.annotations = {{"here", 1.0, 0.5, TextAnchor::right}}, .horizontal_marks = {0.05}}};
  const Layout layout = layout_of(plain_panel(), data, look);
  const Axes& axes = layout.panels[0].axes;
  const TextLine* text = find_text(layout, "here");
  REQUIRE(text != nullptr);
  CHECK(text->anchor == TextLine::Anchor::right);
  CHECK(axes.x.value((text->x - axes.box.left) / axes.box.width()) == Approx(1.0));
  CHECK(axes.y.value((axes.box.bottom - text->y) / axes.box.height()) == Approx(0.5));
  CHECK(axes.y.contains(0.05));  // a mark is inside the axes
  look.panels[0].annotations[0].x = 1000;
  CHECK_THAT(message_of(plain_panel(), data, look), Catch::Contains("x of the text 'here'"));
}

TEST_CASE("look: letters and the panel's shape", "[plots]") {
  Figure two = plain_panel();
  two.panels.push_back(two.panels[0]);
  Look look;
  CHECK(find_text(layout_of(two, double_descent({0.1}), look), "(a)") != nullptr);
  look.letters = false;
  look.aspect = 1;
  const Layout layout = layout_of(two, double_descent({0.1}), look);
  CHECK(find_text(layout, "(a)") == nullptr);
  constexpr double kRims = 4;  // 2 points at each side of the page
  CHECK(layout.panels[0].axes.box.height() == Approx(kWidth - kRims));
}

TEST_CASE("look: curves of two sources look alike and are not told apart by them", "[plots]") {
  FigureData data;
  for (const char* source : {"one", "two"}) {
    for (const double lambda : {0.1, 1.0}) {
      add_curve(data, {{std::string(kSourceCoordinate), source}, {"lambda", lambda}}, lambda);
    }
  }
  Figure figure = plain_panel();
  figure.panels[0].layers.clear();
  for (const char* source : {"one", "two"}) {
    figure.panels[0].layers.push_back(
        {.series = "test_error",
         .label = std::string("run ") + source,
         .only = {{std::string(kSourceCoordinate), std::string(source)}}});
  }
  const Content content = arrange(figure, data, {});
  std::set<std::string> colours;
  std::set<std::string> entries;
  for (const DrawnCurve& curve : content.panels[0].curves) colours.insert(curve.style.colour);
  for (const LegendEntry& entry : content.panels[0].legend) entries.insert(entry.text);
  CHECK(colours.size() == 2);
  CHECK(entries ==
        std::set<std::string>{"{/:Italic λ} = 0.1", "{/:Italic λ} = 1", "run one", "run two"});
}

/// Boxes of all texts of a figure with what they say: labels, legends, letters, ticks.
std::vector<std::pair<Box, std::string>> text_boxes(const Layout& layout, double small_size) {
  std::vector<std::pair<Box, std::string>> boxes;
  // Letters without descenders fill about 0.73 of the font size, around the line's middle.
  constexpr double kHalfHeight = 0.36;
  const auto add = [&](double left, double y, double width, double size, const std::string& text) {
    if (text.empty()) return;
    boxes.push_back({{left, left + width, y - kHalfHeight * size, y + kHalfHeight * size}, text});
  };
  const auto text = [&](const TextLine& line) {
    const double width = text_width(line.text, line.size);
    if (line.anchor == TextLine::Anchor::rotated) {
      boxes.push_back({{line.x - kHalfHeight * line.size,
                        line.x + kHalfHeight * line.size,
                        line.y - width / 2,
                        line.y + width / 2},
                       line.text});
      return;
    }
    const double left = line.anchor == TextLine::Anchor::left     ? line.x
                        : line.anchor == TextLine::Anchor::centre ? line.x - width / 2
                                                                  : line.x - width;
    add(left, line.y, width, line.size, line.text);
  };
  for (const TextLine& line : layout.texts) text(line);
  const auto ticks = [&](const Axes& axes) {
    for (const Tick& tick : axes.y_ticks) {
      const double width = text_width(tick.label, small_size);
      add(axes.box.left - 0.7 * small_size - width,
          axes.box.bottom - axes.y.position(tick.position) * axes.box.height(),
          width,
          small_size,
          tick.label);
    }
    if (!axes.x_labels) return;
    for (const Tick& tick : axes.x_ticks) {
      const double width = text_width(tick.label, small_size);
      add(axes.box.left + axes.x.position(tick.position) * axes.box.width() - width / 2,
          axes.box.bottom + 1.3 * small_size,
          width,
          small_size,
          tick.label);
    }
  };
  for (const PanelLayout& panel : layout.panels) {
    ticks(panel.axes);
    if (panel.residual) ticks(*panel.residual);
    if (panel.inset) ticks(*panel.inset);
    for (const TextLine& line : panel.inset_texts) text(line);
  }
  return boxes;
}

TEST_CASE("look: no two texts overlap and none leaves the page, 7 to 12 points in every style",
          "[plots]") {
  constexpr double kPointsPerInch = 72;
  const FigureData data = double_descent({0.01, 0.1, 1});
  Figure stacked{"stacked", {test_error_panel(), train_error_panel()}, 1, ""};
  Figure beside{"beside", {test_error_panel(), train_error_panel()}, 2, ""};
  beside.panels[0].title = "a title of some length";
  for (const Theme& base : themes()) {
    for (double size = 7; size <= 12; ++size) {
      for (const LegendPlace legend :
           {LegendPlace::above, LegendPlace::below, LegendPlace::right, LegendPlace::none}) {
        for (const auto& [figure, inches] : {std::pair{&stacked, base.half_width},
                                             std::pair{&stacked, base.full_width},
                                             std::pair{&beside, base.full_width}}) {
          Theme theme = base;
          theme.small_size *= size / theme.label_size;
          theme.label_size = size;
          Look look;
          look.legend = legend;
          CAPTURE(theme.name, size, figure->name, inches, static_cast<int>(legend));
          const Content content = arrange(*figure, data, look);
          Layout layout;
          try {
            layout = lay_out(content, theme, inches * kPointsPerInch, "a note", look);
          } catch (const Error& error) {  // beside narrow columns there is no room for a legend
            REQUIRE(legend == LegendPlace::right);
            CHECK_THAT(error.what(), Catch::Contains("points wide"));
            CHECK((figure == &beside || inches < base.full_width));
            continue;
          }
          const auto boxes = text_boxes(layout, theme.small_size);
          for (std::size_t i = 0; i < boxes.size(); ++i) {
            const auto& [a, text] = boxes[i];
            CAPTURE(text);
            CHECK((a.left >= -0.5 && a.right <= layout.width + 0.5));
            CHECK((a.top >= 0 && a.bottom <= layout.height));
            for (std::size_t j = 0; j < i; ++j) {
              const auto& [b, other] = boxes[j];
              CAPTURE(other);
              CHECK_FALSE(
                  (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("look: a legend at the right stands beside the panels, which are narrower by its width",
          "[plots]") {
  constexpr double kPointsPerInch = 72;
  constexpr double kRim = 2;
  const FigureData data = double_descent({0.01, 0.1, 1});
  Figure two{"two", {test_error_panel(), test_error_panel()}, 2, ""};
  for (const Theme& theme : themes()) {
    CAPTURE(theme.name);
    const double page = theme.full_width * kPointsPerInch;
    Look look;
    const auto place = [&](LegendPlace legend) {
      look.legend = legend;
      return lay_out(arrange(two, data, look), theme, page, "", look);
    };
    const Layout above = place(LegendPlace::above);
    const Layout right = place(LegendPlace::right);
    CHECK(right.width == above.width);
    const Box& frame = right.panels[1].axes.box;
    double left = page;
    double lost = 0;
    for (const Sample& sample : right.samples) left = std::min(left, sample.left);
    for (const TextLine& text : right.texts) {
      if (text.x < left || text.anchor != TextLine::Anchor::left) continue;
      lost = std::max(lost, text.x + text_width(text.text, text.size) - left);
      CHECK(text.x + text_width(text.text, text.size) <= page - kRim + 0.01);
    }
    CHECK(left > frame.right);
    REQUIRE(find_text(right, "= 0.1") != nullptr);
    CHECK(find_text(right, "= 0.1")->x > left);
    CHECK(find_text(right, "theory")->x > left);
    CHECK(find_text(right, "= 0.1")->y > frame.top);
    // Both frames lose the same: together the legend and the gap before it.
    const double gap = above.panels[0].axes.box.width() - right.panels[0].axes.box.width();
    CHECK(2 * gap > lost);
    CHECK(2 * gap < lost + 4 * theme.small_size);
  }
}

TEST_CASE("look: a legend at the right that leaves no room or explains different panels is refused",
          "[plots]") {
  const FigureData data = double_descent({0.1, 1});
  Figure figure = plain_panel();
  Look look;
  look.legend = LegendPlace::right;
  CHECK(message_of(figure, data, look).empty());
  figure.columns = 2;
  figure.panels.push_back(figure.panels[0]);
  CHECK_THAT(message_of(figure, data, look), Catch::Contains("points wide"));
  look.key = false;
  figure.panels[1].layers[0].label = "b {lambda}";
  CHECK_THAT(message_of(figure, data, look), Catch::Contains("different ones"));
  // One below the other they have a legend each, beside its own panel.
  figure.columns = 1;
  const Layout layout = layout_of(figure, data, look);
  const TextLine* second = find_text(layout, "b 0.1");
  REQUIRE(second != nullptr);
  CHECK(second->y > layout.panels[1].axes.box.top);
  CHECK(second->y < layout.panels[1].axes.box.bottom);
}

/// An inset that enlarges the peak at alpha = 1.
Look enlarged(std::optional<Corner> corner = {}) {
  Inset inset;
  inset.panel.x = {"", AxisScale::log, 0.9, 1.1};
  inset.corner = corner;
  Look look;
  look.panels = {{.inset = inset}};
  return look;
}

/// Places of a panel's data on the page, each line at twenty places between two points.
std::vector<std::pair<double, double>> places_of(const FigureData& data,
                                                 const Axes& axes,
                                                 const std::string& series) {
  std::vector<std::pair<double, double>> places;
  constexpr int kBetween = 20;
  for (const RecordedCurve& curve : data.curves) {
    if (curve.mean.name != series) continue;
    const auto& x = curve.mean.x;
    const auto& y = curve.mean.y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double at = axes.box.left + axes.x.position(x[i]) * axes.box.width();
      const double height = axes.box.bottom - axes.y.position(y[i]) * axes.box.height();
      if (curve.theory && i > 0) {
        const auto [x0, y0] = places.back();
        for (int k = 1; k < kBetween; ++k) {
          const double part = static_cast<double>(k) / kBetween;
          places.insert(places.end() - 1, {x0 + part * (at - x0), y0 + part * (height - y0)});
        }
      }
      places.emplace_back(at, height);
    }
  }
  return places;
}

TEST_CASE("look: an inset without a place stands in a corner free of data, in every style",
          "[plots]") {
  constexpr double kPointsPerInch = 72;
  const FigureData data = double_descent({0.1, 1});
  Figure figure = plain_panel();
  figure.panels[0].y.high = 8;  // room above
  for (const Theme& theme : themes()) {
    for (const double inches : {theme.half_width, theme.full_width}) {
      for (const LegendPlace legend : {LegendPlace::above, LegendPlace::right}) {
        if (legend == LegendPlace::right && inches < theme.full_width) continue;
        CAPTURE(theme.name, inches, static_cast<int>(legend));
        Look look = enlarged();
        look.legend = legend;
        look.panels[0].inset->panel.x.label = "near 1";
        look.panels[0].inset->panel.y.label = "peak";
        const Layout layout =
            lay_out(arrange(figure, data, look), theme, inches * kPointsPerInch, "", look);
        const PanelLayout& panel = layout.panels[0];
        REQUIRE(panel.inset);
        const Box& box = panel.inset_box;
        const Box& frame = panel.axes.box;
        CHECK(box.left >= frame.left);
        CHECK(box.right <= frame.right);
        CHECK(box.top >= frame.top);
        CHECK(box.bottom <= frame.bottom);
        CHECK(panel.inset->box.width() == Approx(0.4 * frame.width()));
        CHECK(panel.inset->box.height() == Approx(0.4 * frame.height()));
        for (const auto& [x, y] : places_of(data, panel.axes, "test_error"))
          CHECK_FALSE((x > box.left && x < box.right && y > box.top && y < box.bottom));
        // Labels are as large as those of the legend, at least two on each axis, none over another.
        for (const auto* ticks : {&panel.inset->x_ticks, &panel.inset->y_ticks})
          CHECK(std::count_if(ticks->begin(), ticks->end(), [](const Tick& t) {
                  return t.major && !t.label.empty();
                }) >= 2);
        for (const TextLine& text : panel.inset_texts) CHECK(text.size == theme.small_size);
        const auto boxes = text_boxes(layout, theme.small_size);
        for (std::size_t i = 0; i < boxes.size(); ++i) {
          for (std::size_t j = 0; j < i; ++j) {
            const auto& [a, text] = boxes[i];
            const auto& [b, other] = boxes[j];
            CAPTURE(text, other);
            CHECK_FALSE(
                (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
          }
        }
      }
    }
  }
}

TEST_CASE("look: an inset shows its part of the panel's curves in their styles", "[plots]") {
  const FigureData data = double_descent({0.1, 1});
  Figure figure = plain_panel();
  figure.panels[0].y.high = 8;  // room above
  const Look look = enlarged();
  const Content content = arrange(figure, data, look);
  const PanelContent& panel = content.panels[0];
  REQUIRE(panel.inset.size() == 1);
  const PanelContent& inset = panel.inset[0];
  CHECK(inset.x.low == 0.9);
  CHECK(inset.x.high == 1.1);
  REQUIRE(inset.curves.size() == panel.curves.size());
  for (std::size_t k = 0; k < inset.curves.size(); ++k) {
    CHECK(inset.curves[k].style == panel.curves[k].style);
    CHECK(inset.curves[k].data == panel.curves[k].data);
    CHECK(inset.curves[k].id != panel.curves[k].id);
  }
  CHECK(panel.legend == arrange(figure, data, {}).panels[0].legend);
  // The y range is that of what is seen: near the peak, not of the wings.
  double least = 1e9;
  for (const DrawnCurve& curve : inset.curves) {
    for (std::size_t i = 0; i < curve.data->mean.x.size(); ++i) {
      if (inset.x.contains(curve.data->mean.x[i])) least = std::min(least, curve.data->mean.y[i]);
    }
  }
  CHECK(inset.y.low < least);
  CHECK(inset.y.low > panel.y.low);
}

TEST_CASE("look: an inset of its own layers has entries of its own in the legend", "[plots]") {
  const FigureData data = double_descent({0.1});
  Figure figure = plain_panel();
  figure.panels[0].layers[0].label = "test";
  Look look;
  look.panels = {{.inset = Inset{.corner = Corner::bottom_left}}};
  look.panels[0].inset->panel.layers = {{.series = "train_error", .label = "train"}};
  const Content content = arrange(figure, data, look);
  REQUIRE(content.panels[0].legend.size() == 2);
  CHECK(content.panels[0].legend[1].text == "train");
  CHECK_FALSE(content.panels[0].legend[0].style == content.panels[0].legend[1].style);
}

TEST_CASE("look: an inset is refused where it would cover data, or shows nothing", "[plots]") {
  const FigureData data = cross();
  Figure figure{"cross", {Panel{}}, 1, ""};
  figure.panels[0].layers = {{.series = "y"}};
  Look look;
  look.panels = {{.inset = Inset{}}};
  Inset& inset = *look.panels[0].inset;
  CHECK_THAT(message_of(figure, data, look), Catch::Contains("low or high of its x or y axis"));
  inset.panel.x = {"", AxisScale::linear, 0.4, 0.6};
  CHECK_THAT(message_of(figure, data, look),
             Catch::Contains("inset of panel (a)") && Catch::Contains("it would cover data"));
  inset.corner = Corner::top_right;  // the author's own decision
  CHECK(message_of(figure, data, look).empty());
  inset.corner.reset();
  inset.place = {{0.4, 0.6, 0.3, 0.3}};
  CHECK(message_of(figure, data, look).empty());
  inset.place = {{0.0, 0.0, 0.5, 0.5}};  // tick labels outside the panel
  CHECK_THAT(message_of(figure, data, look), Catch::Contains("room for its tick labels"));
  inset.place.reset();
  inset.panel.x = {"", AxisScale::linear, 5, 6};
  CHECK_THAT(message_of(figure, data, look), Catch::Contains("something was recorded"));
  inset.panel.layers = {{.series = "unheard_of"}};
  CHECK_THAT(message_of(figure, data, look), Catch::Contains("something was recorded"));
}

TEST_CASE("look: shades outside the axes or without a colour are refused", "[plots]") {
  const FigureData data = double_descent({0.1});
  Look look;
  look.panels = {{.shades = {{"#ffeedd", 0.5, 1, 0.3, 0.4}}}};
  CHECK(message_of(plain_panel(), data, look).empty());
  look.panels[0].shades[0].right = 1e3;
  CHECK_THAT(message_of(plain_panel(), data, look), Catch::Contains("right of a shade"));
  look.panels[0].shades[0] = {"red", 0.5, 1, 0.3, 0.4};
  CHECK_THAT(message_of(plain_panel(), data, look), Catch::Contains("hexadecimal"));
}

}  // namespace look_test
