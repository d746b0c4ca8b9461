#include "attica/plots/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "attica/plots/text.hpp"

namespace attica::plots {
namespace {

constexpr double kPointsPerInch = 72;
constexpr double kPngResolution = 300;  ///< pixels per inch
constexpr double kSvgResolution = 96;   ///< CSS pixels per inch
/// Diameter in points of gnuplot's circle at pointsize 1, with the terminal settings below.
constexpr double kCircle = 6.7;
constexpr double kCircleSvg = 5.3;
constexpr double kLineSpacingOfTex = 1.2;
constexpr double kThin = 0.5;  ///< of the theme's line width: frames, ticks, bars, marks

class Writer {
 public:
  Writer(const Content& content,
         const Layout& layout,
         const DataFile& table,
         const Theme& theme,
         const DrawOptions& options)
      : content_(content), layout_(layout), table_(table), theme_(theme), options_(options) {}

  std::string write() {
    preamble();
    if (has("tex"))
      line("set terminal tikz createstyle  # what \\usepackage{{gnuplot-lua-tikz}} reads");
    line("do for [format in {}] {{", quote(fmt::format("{}", fmt::join(options_.formats, " "))));
    terminals();
    line("set output {}.format", quote(content_.figure->name + "."));
    line("set multiplot");
    line("unset datafile columnheaders");
    page();
    line("set datafile columnheaders");
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
      main_axes(content_.panels[i], layout_.panels[i].axes);
      if (layout_.panels[i].bar) colour_bar(content_.panels[i], *layout_.panels[i].bar);
      if (layout_.panels[i].residual) {
        residual_axes(*content_.panels[i].residual, *layout_.panels[i].residual);
      }
      if (layout_.panels[i].inset) inset_axes(content_.panels[i].inset.front(), layout_.panels[i]);
    }
    line("unset multiplot");
    line("set output");
    line("}}");
    metadata("svg", "<!-- ", " -->");
    metadata("tex", "% ", "");
    line("set output");
    return std::move(text_);
  }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    text_ += fmt::format(pattern, std::forward<Arguments>(arguments)...) + "\n";
  }

  void preamble() {
    const std::string& name = content_.figure->name;
    line("# {}.gp: run `gnuplot {}.gp` in this folder to draw the figure again from {}.csv.",
         name,
         name,
         name);
    for (const auto& [key, value] : options_.metadata)
      line("# {}: {}", one_line(key), one_line(value));
    line("reset session");
    line("set encoding utf8");
    line("set datafile separator comma");

    line("data = {}", quote(name + ".csv"));
    line("x(dummy) = column('x')");
    line("y(dummy) = column('y')");
    line("kept(dummy) = column('drawn') == 1 ? column('x') : NaN");
    if (content_.not_compared) line("apart(dummy) = column('drawn') == 2 ? column('x') : NaN");
    line("low(least) = column('y') - column('sem') > least ? column('y') - column('sem') : least");
    line("high(dummy) = column('y') + column('sem')");
    line("percent(name) = 100 * column(name) / abs(column('theory'))");
    line("");
  }

  static std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  /// The three terminals are set so that text sizes, line widths and markers agree in points.
  void terminals() {
    const double width = layout_.width / kPointsPerInch;
    const double height = layout_.height / kPointsPerInch;
    const std::string common = fmt::format("enhanced font '{},{}' rounded background '#ffffff'",
                                           options_.look.font,
                                           theme_.label_size);
    // In SVG dashes grow with the line; in the other two they are 0.275 points long per unit and
    // dashlength.
    constexpr double kDashUnit = 0.275;
    const double dashes = theme_.line_width / kDashUnit;
    std::string identifier = content_.figure->name;  // gnuplot takes letters, digits and _ only
    for (char& c : identifier) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    line(
        "if (format eq 'svg') {{ set terminal svg {} size {:.0f},{:.0f} fixed fontscale {:.6g} "
        "linewidth {:.6g} dashlength 2 name {}; mark = {:.4g} }}",
        common,
        std::round(width * kSvgResolution),
        std::round(height * kSvgResolution),
        kSvgResolution / kPointsPerInch,
        kSvgResolution / kPointsPerInch,
        quote(identifier),
        theme_.marker_size / kCircleSvg);
    // pdfcairo takes 96 units of font size per inch and half a point of line width.
    line(
        "if (format eq 'pdf') {{ set terminal pdfcairo {} size {:.4f}in,{:.4f}in fontscale 0.75 "
        "linewidth 2 dashlength {:.4g}; mark = {:.4g} }}",
        common,
        width,
        height,
        dashes,
        theme_.marker_size / kCircle);
    line(
        "if (format eq 'png') {{ set terminal pngcairo {} size {:.0f},{:.0f} fontscale {:.6g} "
        "linewidth {:.6g} pointscale 4 dashlength {:.4g}; mark = {:.4g} }}",
        common,
        std::round(width * kPngResolution),
        std::round(height * kPngResolution),
        kPngResolution / kSvgResolution,
        kPngResolution / kPointsPerInch,
        dashes,
        theme_.marker_size / kCircle);
    // TikZ takes the document's font; line widths are in units of 0.4 points there, and a circle of
    // pointsize 1 has a diameter of 3.4 points.
    if (!has("tex")) return;
    constexpr double kTexLine = 0.4;
    constexpr double kTexCircle = 3.4;
    line(
        "if (format eq 'tex') {{ set terminal tikz latex notimestamp color size {:.4f}in,{:.4f}in "
        "font '\\fontsize{{{}pt}}{{{:.4g}pt}}\\selectfont' linewidth {:.4g} dashlength {:.4g}; "
        "mark = {:.4g} }}",
        width,
        height,
        theme_.small_size,
        kLineSpacingOfTex * theme_.small_size,
        1 / kTexLine,
        theme_.line_width,
        theme_.marker_size / kTexCircle);
  }

  bool has(std::string_view format) const {
    return std::find(options_.formats.begin(), options_.formats.end(), format) !=
           options_.formats.end();
  }

  /// A text as every format takes it.
  std::string any_format(const std::string& enhanced, const std::string& tail = {}) const {
    if (!has("tex") || enhanced.empty()) return quote(enhanced + tail);
    return fmt::format(
        "(format eq 'tex' ? {} : {})", quote(to_latex(enhanced)), quote(enhanced + tail));
  }

  /// Rows of one curve: gnuplot then need not look at the others.
  std::string rows(int id) const {
    const DataFile::Rows& rows = table_.curves[static_cast<std::size_t>(id)];
    return fmt::format("data every ::{}::{}", rows.first, rows.last);
  }

  /// Name of a curve: SVG viewers show it when pointed at.
  static std::string title(std::string_view kind, const std::string& series, const Point& point) {
    std::string text = fmt::format("{} {}", kind, series);
    if (!point.empty()) text += ", " + describe(point);
    return "title " + quote(text) + " noenhanced";
  }

  std::string pen(const CurveStyle& style, double width) const {
    return fmt::format("lw {:.3g} lc rgb '{}' dt {}", width, style.colour, style.dash);
  }
  std::string thin_pen(std::string_view colour) const {
    return fmt::format("lw {:.3g} lc rgb '{}' dt solid", kThin * theme_.line_width, colour);
  }
  static std::string marker(const CurveStyle& style, double scale = 1) {
    // Circles look smaller than the other shapes of the same size.
    constexpr int kDisc = 7;
    constexpr int kRing = 6;
    constexpr double kOther = 1.15;
    const bool round = style.marker == kDisc || style.marker == kRing;
    return fmt::format("pt {} ps {:.3g}*mark", style.marker, scale * (round ? 1 : kOther));
  }

  /// Everything outside the axes, and the vertical marks: one plot whose coordinates are points
  /// from the lower left corner.
  void page() {
    line("");
    line("# The page, in points.");
    line(
        "set lmargin at screen 0; set rmargin at screen 1; set bmargin at screen 0; set tmargin at "
        "screen 1");
    line("unset border; unset tics; unset key; unset logscale; set samples 2");
    line("set xrange [0:{}] noextend; set yrange [0:{}] noextend", layout_.width, layout_.height);
    for (const TextLine& text : layout_.texts) label(text, at(text.x, text.y));
    std::vector<std::string> items;
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
      const PanelLayout& panel = layout_.panels[i];
      vertical_marks(content_.panels[i].marks, panel.axes, items);
      horizontal_marks(content_.panels[i].look.horizontal_marks, panel.axes, items);
      if (panel.residual) vertical_marks(content_.panels[i].marks, *panel.residual, items);
    }
    for (const Sample& sample : layout_.samples) sample_items(sample, items);
    if (items.empty()) {
      items.emplace_back("NaN notitle");
    } else {
      items.front().insert(0, "sample ");
    }
    plot(items);
    line("unset label; unset object");
  }

  /// A line of text at a place that gnuplot understands.
  void label(const TextLine& text, const std::string& place) {
    // Two spaces in a row make gnuplot mark SVG text as such that keeps its spaces; these are too
    // small to see.
    const std::string spaces = "{/=1   }";
    const char* anchor = text.anchor == TextLine::Anchor::left     ? "left"
                         : text.anchor == TextLine::Anchor::centre ? "center"
                         : text.anchor == TextLine::Anchor::right  ? "right"
                                                                   : "center rotate by 90";
    line("set label {} at {} {} font {} tc rgb '{}'",
         any_format(text.text, spaces),
         place,
         anchor,
         font(text.size),
         text.grey ? kGrey : "#000000");
  }

  /// A font's size as a string of gnuplot; in TeX it is set as such.
  std::string font(double size) const {
    if (!has("tex")) return fmt::format("',{}'", size);
    return fmt::format(
        "(format eq 'tex' ? '\\fontsize{{{0}pt}}{{{1:.4g}pt}}\\selectfont' : ',{0}')",
        size,
        kLineSpacingOfTex * size);
  }

  std::string at(double x, double y) const {
    return fmt::format("{:.2f},{:.2f}", x, layout_.height - y);
  }

  /// A straight line on the page.
  std::string segment(double x1, double y1, double x2, double y2, const std::string& how) const {
    return fmt::format(
        "[t=0:1] '+' using ($1 < 0.5 ? {:.2f} : {:.2f}):($1 < 0.5 ? {:.2f} : {:.2f}) with lines {} "
        "notitle",
        x1,
        x2,
        layout_.height - y1,
        layout_.height - y2,
        how);
  }

  void sample_items(const Sample& sample, std::vector<std::string>& items) {
    const double middle = (sample.left + sample.right) / 2;
    if (sample.patch) {
      const double half_height = 0.35 * theme_.small_size;
      line("set object rectangle from {} to {} fc rgb '{}' fs solid noborder",
           at(sample.left, sample.y - half_height),
           at(sample.right, sample.y + half_height),
           sample.style.colour);
    }
    if (sample.line) {
      items.push_back(segment(
          sample.left, sample.y, sample.right, sample.y, pen(sample.style, theme_.line_width)));
    }
    if (sample.bar) {
      const double bar_length = theme_.small_size / 2;
      const double cap = theme_.small_size / 6;
      const std::string bar = thin_pen(sample.style.colour);
      items.push_back(segment(middle, sample.y - bar_length, middle, sample.y + bar_length, bar));
      for (const double end : {sample.y - bar_length, sample.y + bar_length}) {
        items.push_back(segment(middle - cap, end, middle + cap, end, bar));
      }
    }
    if (sample.marker) {
      items.push_back(
          fmt::format("[t=0:1] '+' using ({:.2f}):({:.2f}) every ::::0 with points {} {} notitle",
                      middle,
                      layout_.height - sample.y,
                      marker(sample.style),
                      thin_pen(sample.style.colour)));
    }
  }

  void vertical_marks(const std::vector<VerticalMark>& marks,
                      const Axes& axes,
                      std::vector<std::string>& items) const {
    for (const auto& [at, colour, dash] : marks) {
      if (!axes.x.contains(at)) continue;
      const double x = axes.box.left + axes.x.position(at) * axes.box.width();
      const std::string how =
          fmt::format("lw {:.3g} lc rgb '{}' dt {}", kThin * theme_.line_width, colour, dash);
      items.push_back(segment(x, axes.box.top, x, axes.box.bottom, how));
    }
  }

  void horizontal_marks(const std::vector<double>& marks,
                        const Axes& axes,
                        std::vector<std::string>& items) const {
    const std::string how =
        fmt::format("lw {:.3g} lc rgb '{}' dt (2,5)", kThin * theme_.line_width, kGrey);
    for (const double mark : marks) {
      if (!axes.y.contains(mark)) continue;
      const double y = axes.box.bottom - axes.y.position(mark) * axes.box.height();
      items.push_back(segment(axes.box.left, y, axes.box.right, y, how));
    }
  }

  void ticks(std::string_view axis,
             const std::vector<Tick>& marks,
             bool labels,
             std::string_view how) {
    std::string list;
    for (const Tick& tick : marks) {
      list += list.empty() ? "" : ", ";
      list += fmt::format(
          "{} {}{}", any_format(labels ? tick.label : ""), tick.position, tick.major ? "" : " 1");
    }
    // Of tick labels gnuplot takes the font from a variable, not from an expression.
    line("small = {}", font(theme_.small_size));
    line("set {}tics ({}) font small scale 0.7,0.35 {}", axis, list, how);
  }

  void place(const Box& box) {
    line("");
    line("set lmargin at screen {:.5f}; set rmargin at screen {:.5f}",
         box.left / layout_.width,
         box.right / layout_.width);
    line("set tmargin at screen {:.5f}; set bmargin at screen {:.5f}",
         1 - box.top / layout_.height,
         1 - box.bottom / layout_.height);
    line("unset logscale; unset key; unset tics");
    line("set border 15 front lw {:.3g}", kThin * theme_.line_width);
  }

  void frame(const Axes& axes, bool map) {
    place(axes.box);
    for (const auto& [axis, range] : {std::pair{'x', axes.x}, std::pair{'y', axes.y}}) {
      if (range.scale == AxisScale::log) line("set logscale {}", axis);
      const auto [first, last] =
          range.reversed ? std::pair(range.high, range.low) : std::pair(range.low, range.high);
      line("set {}range [{}:{}] noextend", axis, first, last);
    }
    // gnuplot clears a disc beneath markers with error bars, except if it is this small.
    line("set errorbars 0.5; set pointintervalbox 0.01");
    // Over a map ticks would be hard to see.
    const char* how = map ? "out nomirror" : "in mirror";
    ticks("x", axes.x_ticks, axes.x_labels, how);
    ticks("y", axes.y_ticks, true, how);
  }

  void plot(const std::vector<std::string>& items) {
    line("plot {}", fmt::format("{}", fmt::join(items, ", \\\n     ")));
  }

  /// @param joined false: x are categories, each with a dash of its own
  std::string theory_line(const DrawnCurve& curve,
                          const Axes& axes,
                          double size,
                          bool joined = true) const {
    const Series& mean = curve.data->mean;
    const std::string how =
        pen(curve.style, size * theme_.line_width) + " " + title("theory:", mean.name, mean.point);
    if (!joined && !curve.constant()) {
      constexpr double kReach = 0.3;  // of the distance of two categories
      return fmt::format("{} using (x(0)-{}):(y(0)):({}):(0) with vectors nohead {}",
                         rows(curve.id),
                         kReach,
                         2 * kReach,
                         how);
    }
    if (!curve.constant() && mean.x.size() > 1) {
      return fmt::format("{} using (x(0)):(y(0)) with lines {}", rows(curve.id), how);
    }
    // A constant reaches from side to side; a line of one point would be invisible, so it becomes a
    // dash.
    constexpr double kDash = 0.03;
    const double position = curve.constant() ? 0 : axes.x.position(mean.x.front());
    const double left = curve.constant() ? axes.x.low : axes.x.value(position - kDash);
    const double right = curve.constant() ? axes.x.high : axes.x.value(position + kDash);
    return fmt::format("{} using ({}):(y(0)):({}):(0) with vectors nohead {}",
                       rows(curve.id),
                       left,
                       right - left,
                       how);
  }

  std::string trajectory_line(const DrawnCurve& curve) const {
    constexpr double kFine = 0.7;
    const Series& mean = curve.data->mean;
    return fmt::format("{} using (x(0)):(y(0)) with lines {} {}",
                       rows(curve.id),
                       pen(curve.style, kFine * theme_.line_width),
                       title("simulation:", mean.name, mean.point));
  }

  std::string simulation_points(const DrawnCurve& curve,
                                const Axes& axes,
                                double size,
                                const char* which = "kept") const {
    // A simulated constant has no x: it stands at the right edge.
    constexpr double kNearEdge = 0.97;
    const Series& mean = curve.data->mean;
    const std::string x =
        curve.constant()
            ? fmt::format("({}(0) == {}(0) ? {} : NaN)", which, which, axes.x.value(kNearEdge))
            : fmt::format("({}(0))", which);
    const std::string look = fmt::format("{} {} {}",
                                         marker(curve.style, size),
                                         thin_pen(curve.style.colour),
                                         title("simulation:", mean.name, mean.point));
    if (curve.data->sem.empty()) {
      return fmt::format("{} using {}:(y(0)) with points {}", rows(curve.id), x, look);
    }
    const std::string least =
        axes.y.scale == AxisScale::log ? fmt::format("{}", axes.y.low) : "-1e308";
    return fmt::format("{} using {}:(y(0)):(low({})):(high(0)) with yerrorbars {}",
                       rows(curve.id),
                       x,
                       least,
                       look);
  }

  void set_palette(const ColourScale& colours) {
    line("set palette defined ({}); unset colorbox", palette_definition(colours.palette));
    line("set cbrange [{}:{}]{}",
         colours.range.low,
         colours.range.high,
         colours.range.scale == AxisScale::log ? "; set logscale cb" : "");
  }

  void colour_bar(const PanelContent& panel, const ColourBar& bar) {
    const ColourScale& colours = *panel.colours;
    place(bar.box);
    set_palette(colours);
    line("set xrange [0:1] noextend; set yrange [{0}:{1}] noextend; set y2range [{0}:{1}] noextend",
         colours.range.low,
         colours.range.high);
    if (colours.range.scale == AxisScale::log) line("set logscale y; set logscale y2");
    ticks("y2", bar.ticks, true, "in nomirror");
    // Each rectangle reaches to the top and is painted over by the next: no seams.
    constexpr int kSteps = 128;
    line(
        "do for [i=0:{}] {{ set object i+1 rectangle from graph 0, graph i/{}.0 to graph 1, graph "
        "1 behind "
        "fc palette frac i/{}.0 fs solid noborder }}",
        kSteps - 1,
        kSteps,
        kSteps - 1);
    if (panel.map) {
      for (const ContourLine& contour : panel.map->contours) {
        line("set arrow from graph 0, second {0} to graph 1, second {0} nohead front {1}",
             contour.level,
             thin_pen(contour.colour));
      }
    }
    plot({"NaN axes x1y2 notitle"});
    line("unset object; unset arrow; unset y2tics");
  }

  void map_items(const HeatMap& map, std::vector<std::string>& items) {
    set_palette(map.colours);
    items.push_back(fmt::format(
        "{} using "
        "(x(0)):(column('bottom')):(column('left')):(column('right')):(column('bottom')):"
        "(column('top')):(y(0)) with boxxyerror lc palette fs solid noborder notitle",
        rows(map.id)));
    for (const ContourLine& contour : map.contours) {
      if (contour.segments.empty()) continue;
      items.push_back(
          fmt::format("{} using (x(0)):(column('bottom')):(column('right')-column('left')):"
                      "(column('top')-column('bottom')) with vectors nohead {} notitle",
                      rows(contour.id),
                      thin_pen(contour.colour)));
    }
  }

  static constexpr double kHalo = 2;
  /// What is drawn beneath a curve over a map, on whose colours nothing else stands out.
  static DrawnCurve haloed(DrawnCurve curve) {
    curve.style.colour = "#ffffff";
    curve.style.dash = "solid";
    return curve;
  }

  void main_axes(const PanelContent& panel, const Axes& axes) {
    frame(axes, panel.map.has_value());
    // Many curves in one panel are drawn finer.
    constexpr double kFine = 0.7;
    const double size = panel.colours && !panel.map ? kFine : 1;
    if (!panel.inset.empty()) enlarged_part(panel);
    for (const Shade& shade : panel.look.shades) paint(shade);
    std::vector<std::string> items;
    if (panel.map) map_items(*panel.map, items);
    if (panel.panel->diagonal)
      items.push_back("x with lines " + pen(reference_style(0), kThin * theme_.line_width) +
                      " notitle");
    for (const bool reference : {true, false}) {
      for (const DrawnCurve& curve : panel.curves) {
        if (!curve.data->theory || curve.reference != reference) continue;
        if (panel.map) items.push_back(theory_line(haloed(curve), axes, kHalo));
        items.push_back(theory_line(curve, axes, size, panel.categories.empty()));
      }
    }
    for (const DrawnCurve& curve : panel.curves) {
      if (curve.data->theory) continue;
      if (panel.map && !curve.trajectory)
        items.push_back(simulation_points(haloed(curve), axes, kHalo));
      items.push_back(curve.trajectory ? trajectory_line(curve)
                                       : simulation_points(curve, axes, size));
      if (curve.trajectory || curve.compared.empty()) continue;
      DrawnCurve apart = curve;
      apart.style = pale_style(apart.style);
      items.push_back(simulation_points(apart, axes, size, "apart"));
    }

    plot(items);
    if (!panel.look.shades.empty() || !panel.inset.empty()) line("unset object");
  }

  void paint(const Shade& shade) {
    if (shade.corners.empty()) {
      line(
          "set object rectangle from first {},{} to first {},{} behind fc rgb '{}' fs solid "
          "noborder",
          shade.left,
          shade.bottom,
          shade.right,
          shade.top,
          shade.colour);
      return;
    }
    std::string corners;
    for (const auto& [x, y] : shade.corners) corners += fmt::format("first {},{} to ", x, y);
    const auto& [x, y] = shade.corners.front();
    // A border of its own colour: no seams between polygons that share a side.
    line("set object polygon from {}first {},{} behind fc rgb '{}' fs solid border rgb '{}' lw 0.3",
         corners,
         x,
         y,
         shade.colour,
         shade.colour);
  }

  /// The frame around what the panel's inset enlarges.
  void enlarged_part(const PanelContent& panel) {
    if (!panel.look.inset->panel.layers.empty()) return;
    const PanelContent& inset = panel.inset.front();
    const auto inside = [](const Range& outer, double value) {
      return std::clamp(value, outer.low, outer.high);
    };
    line(
        "set object rectangle from first {},{} to first {},{} front fs empty border lc rgb '{}' "
        "lw {:.3g}",
        inside(panel.x, inset.x.low),
        inside(panel.y, inset.y.low),
        inside(panel.x, inset.x.high),
        inside(panel.y, inset.y.high),
        kGrey,
        kThin * theme_.line_width);
  }

  /// Fractions of the page from the lower left corner.
  std::string on_screen(double x, double y) const {
    return fmt::format("screen {:.5f}, screen {:.5f}", x / layout_.width, 1 - y / layout_.height);
  }

  /// A panel's inset over it, on white.
  void inset_axes(const PanelContent& inset, const PanelLayout& panel) {
    const Box& box = panel.inset_box;
    line("set object 1 rectangle from {} to {} behind fc rgb '#ffffff' fs solid noborder",
         on_screen(box.left, box.bottom),
         on_screen(box.right, box.top));
    for (const TextLine& text : panel.inset_texts) label(text, on_screen(text.x, text.y));
    main_axes(inset, *panel.inset);
    line("unset object; unset label");
  }

  void residual_axes(const ResidualContent& residual, const Axes& axes) {
    frame(axes, false);
    std::vector<std::string> items;
    for (const MarginBand& band : residual.bands) {
      items.push_back(
          fmt::format("{} using (x(0)):(-y(0)):(y(0)) with filledcurves fc rgb '{}' notitle",
                      rows(band.id),
                      band.colour));
    }
    items.push_back("0 with lines " + thin_pen("#000000") + " notitle");
    for (const ResidualCurve& curve : residual.curves) {
      constexpr double kSmaller = 0.8;  // the panel is low, and all curves crowd around zero
      const ResidualPoint& first = curve.points.front();
      items.push_back(
          fmt::format("{} using (x(0)):(percent('y')):(percent('sem')) with yerrorbars {} {} {}",
                      rows(curve.id),
                      marker(curve.style, kSmaller),
                      thin_pen(curve.style.colour),
                      title("residual:", first.series, first.point)));
      if (residual.outliers) outliers(curve, axes, items);
    }
    plot(items);
  }

  /// Triangles at the edge that points beyond it lie behind.
  void outliers(const ResidualCurve& curve,
                const Axes& axes,
                std::vector<std::string>& items) const {
    constexpr double kEdge = 0.9;
    constexpr int kUp = 8;
    constexpr int kDown = 10;
    for (const auto& [sign, shape] : {std::pair{1, kUp}, std::pair{-1, kDown}}) {
      items.push_back(
          fmt::format("{} using ({}*percent('y') > {} ? x(0) : NaN):({}) with points pt {} ps "
                      "mark {} notitle",
                      rows(curve.id),
                      sign,
                      axes.y.high,
                      sign * kEdge * axes.y.high,
                      shape,
                      thin_pen(curve.style.colour)));
    }
  }

  /// SVG and TeX allow comments after the end of the figure.
  void metadata(const std::string& format, std::string_view start, std::string_view end) {
    if (options_.metadata.empty() || !has(format)) return;
    line("set print {} append", quote(content_.figure->name + "." + format));
    for (const auto& [key, value] : options_.metadata) {
      std::string comment = one_line(key) + ": " + one_line(value);
      for (auto two = comment.find("--"); two != std::string::npos; two = comment.find("--")) {
        comment.replace(two, 2, "- -");
      }
      line("print {}", quote(fmt::format("{}{}{}", start, comment, end)));
    }
    line("set print");
  }

  const Content& content_;
  const Layout& layout_;
  const DataFile& table_;
  const Theme& theme_;
  const DrawOptions& options_;
  std::string text_;
};

}  // namespace

std::string script(const Content& content,
                   const Layout& layout,
                   const DataFile& table,
                   const Theme& theme,
                   const DrawOptions& options) {
  return Writer(content, layout, table, theme, options).write();
}

}  // namespace attica::plots
