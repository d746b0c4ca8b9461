#include "attica/plots/layout.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "attica/plots/text.hpp"

namespace attica::plots {
namespace {

constexpr double kLineSpacing = 1.3;  ///< of the font size
constexpr double kPad = 2;            ///< free rim of the figure, points

// The other lengths are in units of the small font's size.
constexpr double kTickGap = 0.7;   ///< between tick labels and frame
constexpr double kLabelGap = 0.6;  ///< between axis label and tick labels
constexpr double kSampleLength = 3;
constexpr double kMarkerLength = 0.9;  ///< of a sample without a line
constexpr double kSampleGap = 0.6;     ///< between sample and text
constexpr double kEntryGap = 1.6;      ///< between legend entries
constexpr double kPanelGap = 0.9;      ///< between axes that share x
constexpr double kColumnGap = 1.5;
constexpr double kBarGap = 0.8;    ///< between frame and colour bar
constexpr double kBarWidth = 1.1;  ///< of the colour bar

constexpr const char* kResidualLabel = "residual (%)";
constexpr double kRoomPerLabel = 2.2;  ///< along a vertical axis, small font sizes

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A legend entry ready to be set.
struct Item {
  std::string text;
  Sample sample;  ///< still without its place
  double sample_length = 0;
  bool grey = false;
};

using LegendRow = std::vector<Item>;

class Composer {
 public:
  Composer(const Content& content, const Theme& theme, double width)
      : content_(content), theme_(theme), columns_(content.figure->columns) {
    layout_.width = width;
    column_width_ = (width - 2 * kPad - em(kColumnGap) * static_cast<double>(columns_ - 1)) /
                    static_cast<double>(columns_);
    layout_.panels.resize(content.panels.size());
  }

  Layout compose(const std::string& note) {
    choose_heights();
    choose_y_ticks();
    choose_columns();
    double y = kPad;
    y = place_figure_legend(y);
    for (std::size_t first = 0; first < content_.panels.size(); first += columns_)
      y = place_row(first, y);
    y = place_note(note, y);
    layout_.height = std::ceil(y + kPad);
    return std::move(layout_);
  }

 private:
  double em(double lengths) const { return lengths * theme_.small_size; }
  double text_start(const Item& item) const { return item.sample_length + em(kSampleGap); }
  double label_line() const { return kLineSpacing * theme_.label_size; }
  double small_line() const { return kLineSpacing * theme_.small_size; }
  const PanelContent& content(std::size_t panel) const { return content_.panels[panel]; }
  std::size_t last_of_row(std::size_t first) const {
    return std::min(first + columns_, content_.panels.size());
  }

  void choose_heights() {
    // Proportions that suit a journal column; wide panels are flatter, stacked ones too.
    constexpr double kWide = 320;
    constexpr double kAspect = 0.62;
    constexpr double kFlatAspect = 0.46;
    constexpr double kResidualAspect = 0.21;
    constexpr double kMaxResidual = 10;  // small font sizes
    const bool stacked = content_.panels.size() > columns_;
    main_height_ = (column_width_ > kWide || stacked ? kFlatAspect : kAspect) * column_width_;
    residual_height_ = std::max(std::min(kResidualAspect * column_width_, em(kMaxResidual)),
                                text_width(kResidualLabel, theme_.label_size) + 2 * kPad);
  }

  void choose_y_ticks() {
    constexpr int kFewest = 3;
    const double room = em(kRoomPerLabel);
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
      Axes& axes = layout_.panels[i].axes;
      axes.x = content(i).x;
      axes.y = content(i).y;
      axes.y_ticks = choose_ticks(axes.y, std::max(kFewest, static_cast<int>(main_height_ / room)));
      if (!content(i).residual) continue;
      Axes residual;
      residual.x = axes.x;
      residual.y = content(i).residual->y;
      residual.y_ticks =
          choose_ticks(residual.y, std::max(kFewest, static_cast<int>(residual_height_ / room)));
      layout_.panels[i].residual = std::move(residual);
    }
  }

  std::string y_label(std::size_t panel) const {
    return wrap(content(panel).panel->y.label, theme_.label_size, main_height_ + kPad);
  }

  double widest_label(const std::vector<Tick>& ticks) const {
    double width = 0;
    for (const Tick& tick : ticks)
      width = std::max(width, text_width(tick.label, theme_.small_size));
    return width;
  }

  /// Left and right ends of the axes, common to a column so that frames align; then the x ticks
  /// that fit.
  void choose_columns() {
    constexpr double kLeastRight = 5;
    for (std::size_t column = 0; column < std::min(columns_, layout_.panels.size()); ++column) {
      // A panel's letter stands in the column of its label, beside the uppermost tick's.
      double labels =
          content_.panels.size() > 1 ? text_width("(a)", theme_.label_size) - em(kLabelGap) : 0;
      double ticks = 0;
      for (std::size_t i = column; i < layout_.panels.size(); i += columns_) {
        labels = std::max(labels, line_count(y_label(i)) * label_line());
        ticks = std::max(ticks, widest_label(layout_.panels[i].axes.y_ticks));
        if (layout_.panels[i].residual) {
          ticks = std::max(ticks, widest_label(layout_.panels[i].residual->y_ticks));
        }
      }
      const double start = column_start(column);
      const double left = start + labels + em(kLabelGap) + ticks + em(kTickGap);
      double bars = 0;
      for (std::size_t i = column; i < layout_.panels.size(); i += columns_)
        bars = std::max(bars, choose_bar(i));
      double right = start + column_width_ - kLeastRight - bars;
      for (std::size_t i = column; i < layout_.panels.size(); i += columns_) {
        Axes& axes = layout_.panels[i].axes;
        axes.x_ticks = x_ticks(axes.x, right - left);
        for (const Tick& tick : axes.x_ticks) {
          const double overhang = text_width(tick.label, theme_.small_size) / 2 -
                                  (1 - axes.x.position(tick.position)) * (right - left);
          right = std::min(right, start + column_width_ - overhang);
        }
      }
      for (std::size_t i = column; i < layout_.panels.size(); i += columns_) {
        PanelLayout& panel = layout_.panels[i];
        panel.axes.box.left = left;
        panel.axes.box.right = right;
        if (!panel.residual) continue;
        panel.residual->box = panel.axes.box;
        panel.residual->x_ticks = panel.axes.x_ticks;
      }
    }
  }

  /// The panel's colour bar, still without its place; returns the width it needs with its labels.
  double choose_bar(std::size_t i) {
    if (!content(i).colours) return 0;
    const ColourScale& colours = *content(i).colours;
    ColourBar bar;
    if (content(i).map && !content(i).map->contours.empty()) {
      constexpr int kLevels = 12;  // those of the level lines
      bar.ticks = choose_ticks(colours.range, kLevels);
    } else {
      bar.ticks = choose_ticks(colours.range, static_cast<int>(main_height_ / em(kRoomPerLabel)));
    }
    const double width = em(kBarGap + kBarWidth + kTickGap + kLabelGap) + widest_label(bar.ticks) +
                         (colours.label.empty() ? 0 : label_line());
    layout_.panels[i].bar = std::move(bar);
    return width;
  }

  void place_bar(std::size_t i) {
    PanelLayout& panel = layout_.panels[i];
    if (!panel.bar) return;
    const Box& frame = panel.axes.box;
    Box& box = panel.bar->box;
    box = {
        frame.right + em(kBarGap), frame.right + em(kBarGap + kBarWidth), frame.top, frame.bottom};
    if (content(i).colours->label.empty()) return;
    layout_.texts.push_back(
        {content(i).colours->label,
         box.right + em(kTickGap + kLabelGap) + widest_label(panel.bar->ticks) + label_line() / 2,
         (box.top + box.bottom) / 2,
         theme_.label_size,
         TextLine::Anchor::rotated});
  }

  /// As many labels as stand clear of each other.
  std::vector<Tick> x_ticks(const Range& range, double width) const {
    constexpr int kMost = 8;
    std::vector<Tick> ticks;
    for (int wanted = kMost; wanted >= 2; --wanted) {
      ticks = choose_ticks(range, wanted);
      double end = -width;
      bool clear = true;
      for (const Tick& tick : ticks) {
        if (!tick.major) continue;
        const double half = text_width(tick.label, theme_.small_size) / 2;
        const double centre = range.position(tick.position) * width;
        clear = clear && centre - half > end + theme_.small_size;
        end = centre + half;
      }
      if (clear) break;
    }
    return ticks;
  }

  double item_width(const Item& item) const {
    return text_start(item) + block_width(item.text, theme_.small_size);
  }

  double column_start(std::size_t panel) const {
    return kPad + static_cast<double>(panel % columns_) * (column_width_ + em(kColumnGap));
  }

  LegendRow items(const std::vector<LegendEntry>& entries, double width) const {
    // With one line among the entries all texts start at the same distance.
    const bool lines =
        std::any_of(entries.begin(), entries.end(), [](const auto& e) { return e.line; });
    LegendRow row;
    for (const LegendEntry& entry : entries) {
      Item item{entry.text, {}, lines ? em(kSampleLength) : em(kMarkerLength)};
      item.sample.style = entry.style;
      item.sample.line = entry.line;
      item.sample.marker = entry.marker;
      item.text = wrap(entry.text, theme_.small_size, width - text_start(item));
      row.push_back(std::move(item));
    }
    return row;
  }

  /// Widths of the columns in which rows of items are aligned.
  std::vector<double> column_widths(const std::vector<LegendRow>& rows) const {
    std::vector<double> widths;
    for (const LegendRow& row : rows) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], item_width(row[i]));
    }
    return widths;
  }

  double aligned_width(const std::vector<LegendRow>& rows) const {
    double total = 0;
    for (const double width : column_widths(rows)) total += width + (total > 0 ? em(kEntryGap) : 0);
    return total;
  }

  /// Breaks items into the fewest rows of equal length that fit into `width`, if one item does.
  std::vector<LegendRow> flow(const LegendRow& all, double width) const {
    for (std::size_t count = 1; count <= all.size(); ++count) {
      const std::size_t per_row = (all.size() + count - 1) / count;
      std::vector<LegendRow> rows;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % per_row == 0) rows.emplace_back();
        rows.back().push_back(all[i]);
      }
      if (per_row == 1 || aligned_width(rows) <= width) return rows;
    }
    return {};
  }

  /// Sets rows of entries, in aligned columns if there are several; returns the y beneath them.
  double place_legend(const std::vector<LegendRow>& rows, double centre, double y) {
    const std::vector<double> widths = column_widths(rows);
    const double total = aligned_width(rows);
    for (const LegendRow& row : rows) {
      double x = centre - total / 2;
      int lines = 1;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const Item& item = row[i];
        double line_y = y + small_line() / 2;
        layout_.samples.push_back(item.sample);
        layout_.samples.back().left = x;
        layout_.samples.back().right = x + item.sample_length;
        layout_.samples.back().y = line_y;
        for (const std::string& text : lines_of(item.text)) {
          layout_.texts.push_back({text,
                                   x + text_start(item),
                                   line_y,
                                   theme_.small_size,
                                   TextLine::Anchor::left,
                                   item.grey});
          line_y += small_line();
        }
        lines = std::max(lines, line_count(item.text));

        x += widths[i] + em(kEntryGap);
      }
      y += lines * small_line();
    }
    return y;
  }

  /// One legend serves all panels if the longest one contains the others.
  bool shared_legend() const {
    const auto& longest = longest_legend();
    return std::all_of(
        content_.panels.begin(), content_.panels.end(), [&](const PanelContent& panel) {
          return std::all_of(
              panel.legend.begin(), panel.legend.end(), [&](const LegendEntry& entry) {
                return std::find_if(longest.begin(), longest.end(), [&](const LegendEntry& other) {
                         return other.text == entry.text && other.style == entry.style;
                       }) != longest.end();
              });
        });
  }

  const std::vector<LegendEntry>& longest_legend() const {
    return std::max_element(
               content_.panels.begin(),
               content_.panels.end(),
               [](const auto& a, const auto& b) { return a.legend.size() < b.legend.size(); })
        ->legend;
  }

  /// What lines, points and bands mean, in grey.
  LegendRow key() const {
    LegendRow row;
    const auto add = [&](std::string text, double length) -> Sample& {
      row.push_back({std::move(text), {}, length, true});
      row.back().sample.style = nth_style(0);
      row.back().sample.style.colour = kGrey;
      return row.back().sample;
    };
    if (content_.lines && content_.points) add("theory", em(kSampleLength)).line = true;
    if (content_.points && (content_.lines || content_.bars)) {
      std::string text = "simulation";
      if (content_.bars) text += " (±1 SEM)";
      if (content_.thinned) text += ", some shown";
      Sample& sample = add(std::move(text), em(kMarkerLength));
      sample.marker = true;
      sample.bar = content_.bars;
    }
    const auto has_band = [](const PanelContent& panel) {
      return panel.residual && !panel.residual->bands.empty();
    };
    if (std::any_of(content_.panels.begin(), content_.panels.end(), has_band)) {
      const bool two = std::any_of(
          content_.panels.begin(), content_.panels.end(), [](const PanelContent& panel) {
            return panel.residual && panel.residual->bands.size() > 1;
          });
      const auto add_patch = [&](std::string text, std::string_view colour) {
        Sample& sample = add(std::move(text), em(kSampleLength) / 2);
        sample.patch = true;
        sample.style.colour = colour;
      };
      add_patch(two ? "narrowest" : "margin", kNarrowBand);
      if (two) add_patch("widest margin", kWideBand);
    }
    return row;
  }

  double place_figure_legend(double y) {
    const double width = layout_.width - 2 * kPad;
    // Above one column of panels the legend is centred on the frames, else on the page.
    const Box& box = layout_.panels.front().axes.box;
    const auto centre = [&](const std::vector<LegendRow>& rows) {
      const double half = std::min(aligned_width(rows), width) / 2;
      const double middle = columns_ == 1 ? (box.left + box.right) / 2 : layout_.width / 2;
      return std::clamp(middle, kPad + half, layout_.width - kPad - half);
    };

    if (shared_legend()) {
      const auto rows = flow(items(longest_legend(), width), width);
      if (!rows.empty()) y = place_legend(rows, centre(rows), y);
    }
    const auto rows = flow(key(), width);
    return rows.empty() ? y : place_legend(rows, centre(rows), y);
  }

  /// Places the panels first, first + 1, ... of one row beneath y; returns the y beneath them.
  double place_row(std::size_t first, double y) {
    const std::size_t end = last_of_row(first);
    // All frames of a row start at the same height: the tallest head decides.
    double head = 0;
    std::vector<std::vector<LegendRow>> legends(end - first);
    for (std::size_t i = first; i < end; ++i) {
      if (!shared_legend())
        legends[i - first] = flow(items(content(i).legend, column_width_), column_width_);
      double own = content(i).panel->title.empty() ? 0 : line_count(title(i)) * small_line();
      for (const LegendRow& row : legends[i - first]) {
        int lines = 1;
        for (const Item& item : row) lines = std::max(lines, line_count(item.text));
        own += lines * small_line();
      }
      head = std::max(head, own);
    }
    const double top = y + head + kPad;
    double bottom = top;
    for (std::size_t i = first; i < end; ++i) {
      place_head(i, legends[i - first], y);
      bottom = std::max(bottom, place_panel(i, top));
    }
    return bottom;
  }

  /// Room for text centred on a panel's frame that stays inside the panel's column.
  double centred_width(std::size_t panel) const {
    const Box& box = layout_.panels[panel].axes.box;
    const double start = column_start(panel);
    const double centre = (box.left + box.right) / 2;
    return 2 * std::min(centre - start, start + column_width_ - centre);
  }

  std::string title(std::size_t panel) const {
    return wrap(content(panel).panel->title, theme_.small_size, centred_width(panel));
  }

  void place_head(std::size_t i, const std::vector<LegendRow>& legend, double y) {
    const Box& box = layout_.panels[i].axes.box;
    const double centre = (box.left + box.right) / 2;
    if (!content(i).panel->title.empty()) {
      for (const std::string& line : lines_of(title(i))) {
        layout_.texts.push_back(
            {line, centre, y + small_line() / 2, theme_.small_size, TextLine::Anchor::centre});
        y += small_line();
      }
    }
    if (legend.empty()) return;
    const double half = aligned_width(legend) / 2;
    const double most = std::max(kPad + half, layout_.width - kPad - half);
    place_legend(legend, std::clamp(centre, kPad + half, most), y);
  }

  /// Axes, labels and residuals of one panel whose frame starts at `top`; returns the y beneath all
  /// of it.
  double place_panel(std::size_t i, double top) {
    PanelLayout& panel = layout_.panels[i];
    const double start = column_start(i);
    panel.axes.box.top = top;
    panel.axes.box.bottom = top + main_height_;
    place_y_label(y_label(i), start, panel.axes.box);
    place_bar(i);
    if (content_.panels.size() > 1) {
      layout_.texts.push_back({"(" + content(i).letter + ")",
                               start,
                               top + theme_.label_size / 2,
                               theme_.label_size,
                               TextLine::Anchor::left});
    }
    Axes* lowest = &panel.axes;
    if (panel.residual) {
      panel.axes.x_labels = false;
      panel.residual->box.top = panel.axes.box.bottom + em(kPanelGap);
      panel.residual->box.bottom = panel.residual->box.top + residual_height_;
      place_y_label(kResidualLabel, start, panel.residual->box);
      lowest = &*panel.residual;
    }
    if (content(i).joins_next) {
      lowest->x_labels = false;
      return lowest->box.bottom + em(kPanelGap) - kPad;
    }
    double y = lowest->box.bottom + em(content(i).map ? 2 * kTickGap : kTickGap) + small_line();
    const std::string label = wrap(content(i).panel->x.label, theme_.label_size, centred_width(i));
    for (const std::string& line : lines_of(label)) {
      const Box& box = lowest->box;
      layout_.texts.push_back({line,
                               (box.left + box.right) / 2,
                               y + label_line() / 2,
                               theme_.label_size,
                               TextLine::Anchor::centre});
      y += label_line();
    }
    return y + kPad;
  }

  void place_y_label(const std::string& label, double start, const Box& box) {
    double x = start + label_line() / 2;
    for (const std::string& line : lines_of(label)) {
      layout_.texts.push_back(
          {line, x, (box.top + box.bottom) / 2, theme_.label_size, TextLine::Anchor::rotated});
      x += label_line();
    }
  }

  double place_note(const std::string& note, double y) {
    std::string text = escape(note);
    for (const std::string& remark : content_.remarks) text += (text.empty() ? "" : "; ") + remark;
    if (text.empty()) return y;
    const Box& box = layout_.panels.front().axes.box;
    const double left = columns_ == 1 ? box.left : kPad;
    for (const std::string& line :
         lines_of(wrap(text, theme_.small_size, layout_.width - kPad - left))) {
      layout_.texts.push_back(
          {line, left, y + small_line() / 2, theme_.small_size, TextLine::Anchor::left, true});
      y += small_line();
    }
    return y;
  }

  const Content& content_;
  const Theme& theme_;
  std::size_t columns_;
  double column_width_ = 0;
  double main_height_ = 0;
  double residual_height_ = 0;
  Layout layout_;
};

}  // namespace

Layout lay_out(const Content& content, const Theme& theme, double width, const std::string& note) {
  return Composer(content, theme, width).compose(note);
}

}  // namespace attica::plots
