#include "attica/plots/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "attica/core/error.hpp"
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
constexpr double kInsideGap = 1.1;  ///< between frame and legend: fonts of LaTeX run wider
constexpr double kBarGap = 0.8;     ///< between frame and colour bar
constexpr double kBarWidth = 1.1;   ///< of the colour bar

constexpr int kMostRows = 12;  ///< of a matrix that are all labelled

constexpr const char* kResidualLabel = "residual (%)";
constexpr double kRoomPerLabel = 2.2;  ///< along a vertical axis, small font sizes
constexpr double kLeastColumn = 12;    ///< of panels beside a legend
constexpr double kRightShare = 0.4;    ///< of the page, at most, for a legend beside the panels

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
  Composer(const Content& content, const Theme& theme, double width, const Look& look)
      : content_(content), theme_(theme), look_(look), columns_(content.figure->columns) {
    layout_.width = width;
    if (look.legend == LegendPlace::right) measure_right_legends();
    column_width_ =
        (width - right_width_ - 2 * kPad - em(kColumnGap) * static_cast<double>(columns_ - 1)) /
        static_cast<double>(columns_);
    if (column_width_ < em(kLeastColumn)) {
      throw invalid_parameter(
          "legend",
          "right",
          fmt::format("above or below, a wider figure, or shorter labels: next to "
                      "it columns would be {:.0f} points wide",
                      std::max(0.0, column_width_)));
    }
    layout_.panels.resize(content.panels.size());
  }

  Layout compose(const std::string& note) {
    choose_heights();
    choose_y_ticks();
    choose_columns();
    square_matrices();
    double y = kPad;
    if (look_.legend != LegendPlace::below && look_.legend != LegendPlace::right)
      y = place_figure_legend(y);
    for (std::size_t first = 0; first < content_.panels.size(); first += columns_)
      y = place_row(first, y);
    for (std::size_t i = 0; i < content_.panels.size(); ++i) place_annotations(i);
    for (std::size_t i = 0; i < content_.panels.size(); ++i) place_line_labels(i);
    for (std::size_t i = 0; i < content_.panels.size(); ++i) place_inset(i);
    if (look_.legend == LegendPlace::inside) place_inside();
    if (look_.legend == LegendPlace::below) y = place_figure_legend(y);
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
  bool lettered() const { return look_.letters && content_.panels.size() > 1; }
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
    const double aspect = column_width_ > kWide || stacked ? kFlatAspect : kAspect;
    main_height_ = look_.aspect.value_or(aspect) * column_width_;
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
    // Centred on the frame, it ends beneath the panel's letter.
    const double room = lettered() ? main_height_ - 2 * theme_.label_size : main_height_ + kPad;
    return wrap(content(panel).panel->y.label, theme_.label_size, room);
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
    std::vector<std::pair<double, double>> ends;
    double narrowest = column_width_;
    for (std::size_t column = 0; column < std::min(columns_, layout_.panels.size()); ++column) {
      // A panel's letter stands in the column of its label, beside the uppermost tick's.
      double labels = lettered() ? text_width("(a)", theme_.label_size) : 0;
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
      ends.emplace_back(left, start + column_width_ - kLeastRight - bars);
      narrowest = std::min(narrowest, ends.back().second - left);
    }
    for (std::size_t column = 0; column < ends.size(); ++column) {
      auto [left, right] = ends[column];
      for (std::size_t i = column; i < layout_.panels.size(); i += columns_) {
        Axes& axes = layout_.panels[i].axes;
        // Equal axes have equal labels; names of categories are set apart.
        axes.x_ticks = x_ticks(axes.x, narrowest);
        if (!content(i).categories.empty()) {
          axes.x_ticks.clear();
          for (const Category& category : content(i).categories)
            axes.x_ticks.push_back({category.value, "", true});
        }
        for (const Tick& tick : axes.x_ticks) {
          const double overhang = text_width(tick.label, theme_.small_size) / 2 -
                                  (1 - axes.x.position(tick.position)) * (right - left);
          right = std::min(right, column_start(column) + column_width_ - overhang);
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

  /// Cells of matrices are squares: frames become as narrow as that takes, or lower; where a row of
  /// panels has matrices alone, they are as high as the column is wide.
  void square_matrices() {
    frame_heights_.assign(content_.panels.size(), main_height_);
    for (std::size_t first = 0; first < content_.panels.size(); first += columns_) {
      bool all = true;
      for (std::size_t i = first; i < last_of_row(first); ++i) all = all && content(i).matrix;
      for (std::size_t i = first; i < last_of_row(first); ++i) {
        if (!content(i).matrix) continue;
        Axes& axes = layout_.panels[i].axes;
        const double columns = axes.x.high - axes.x.low;
        const double rows = axes.y.high - axes.y.low;
        const double wide = (axes.box.right - axes.box.left) / columns;
        const double high = main_height_ / rows;
        // Few cells need not fill a wide column.
        constexpr double kMostCell = 5;  // small font sizes
        const double cell = std::min({wide, all ? wide : high, em(kMostCell)});
        axes.box.right = axes.box.left + cell * columns;
        frame_heights_[i] = cell * rows;
        axes.x_ticks = x_ticks(axes.x, axes.box.right - axes.box.left);
        axes.y_ticks = matrix_ticks(axes.y, frame_heights_[i]);
      }
    }
  }

  /// Every row has a label where there is room.
  std::vector<Tick> matrix_ticks(const Range& range, double height) const {
    const auto room = static_cast<int>(height / small_line());
    return choose_ticks(range, std::max(2, std::min(room, kMostRows)));
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

  /// Entries beneath each other.
  std::vector<LegendRow> stacked(LegendRow all) const {
    std::vector<LegendRow> rows;
    for (Item& item : all) rows.push_back({std::move(item)});
    return rows;
  }

  double height_of(const std::vector<LegendRow>& rows) const {
    double height = 0;
    for (const LegendRow& row : rows) height += line_count(row.front().text) * small_line();
    return height;
  }

  /// The legends beside the panels: one, or one a row; the last one ends with the key. Their width
  /// is taken from the panels'.
  void measure_right_legends() {
    if (columns_ > 1 && !shared_legend()) {
      throw invalid_parameter(
          "legend",
          "right",
          "above, inside or none: panels next to each other have different ones");
    }
    const double most = kRightShare * layout_.width;
    if (shared_legend()) {
      right_legends_.push_back(stacked(items(longest_legend(), most)));
    } else {
      for (const PanelContent& panel : content_.panels)
        right_legends_.push_back(stacked(items(panel.legend, most)));
    }
    if (look_.key) {
      for (Item item : key()) {
        item.text = wrap(item.text, theme_.small_size, most - text_start(item));
        right_legends_.front().push_back({std::move(item)});
      }
    }
    // All texts start at the same distance.
    double longest = 0;
    for (const auto& rows : right_legends_) {
      for (const LegendRow& row : rows) longest = std::max(longest, row.front().sample_length);
    }
    for (auto& rows : right_legends_) {
      for (LegendRow& row : rows) row.front().sample_length = longest;
    }
    double widest = 0;
    for (const auto& rows : right_legends_) widest = std::max(widest, aligned_width(rows));
    if (widest > 0) right_width_ = widest + em(kColumnGap);
  }

  /// Places the legend beside a row of panels whose frames start at `top`; returns the y beneath
  /// it.
  double place_right_legend(std::size_t row, double top) {
    if (look_.legend != LegendPlace::right || row >= right_legends_.size()) return top;
    const std::vector<LegendRow>& rows = right_legends_[row];
    const double left = layout_.width - kPad - right_width_ + em(kColumnGap);
    return place_legend(rows, left + aligned_width(rows) / 2, top);
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
      const double length = lines ? em(kSampleLength) : em(kMarkerLength);
      Item item{entry.text, {}, entry.line || entry.marker ? length : 0};
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
    if (content_.not_compared) {
      Sample& sample = add("not compared", em(kMarkerLength));
      sample.marker = true;
      sample.style = pale_style(sample.style);
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

    const bool shown = look_.legend == LegendPlace::above || look_.legend == LegendPlace::below;
    if (look_.legend == LegendPlace::below && !shared_legend())
      throw invalid_parameter(
          "legend", "below", "above, inside or none: the panels have different legends");
    if (shown && shared_legend()) {
      const auto rows = flow(items(longest_legend(), width), width);
      if (!rows.empty()) y = place_legend(rows, centre(rows), y);
    }
    if (!look_.key) return y;
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
      if (!shared_legend() && look_.legend == LegendPlace::above)
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
    return std::max(bottom, place_right_legend(first / columns_, top));
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
    panel.axes.box.bottom = top + frame_heights_[i];
    place_y_label(y_label(i), start, panel.axes.box);
    place_bar(i);
    if (lettered()) {
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
    y += place_categories(i, lowest->box, y - small_line());
    const std::string label = wrap(content(i).x_label, theme_.label_size, centred_width(i));
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

  /// The names of categories beneath their ticks; returns the height of the lines after the first.
  double place_categories(std::size_t i, const Box& box, double y) {
    const auto& categories = content(i).categories;
    if (categories.empty()) return 0;
    const Range& range = layout_.panels[i].axes.x;
    const double room = box.width() / (range.high - range.low) - theme_.small_size / 2;
    int most = 1;
    for (const Category& category : categories) {
      const std::string text = wrap(category.name, theme_.small_size, room);
      most = std::max(most, line_count(text));
      double line_y = y + small_line() / 2;
      for (const std::string& line : lines_of(text)) {
        layout_.texts.push_back({line,
                                 box.left + range.position(category.value) * box.width(),
                                 line_y,
                                 theme_.small_size,
                                 TextLine::Anchor::centre});
        line_y += small_line();
      }
    }
    return (most - 1) * small_line();
  }

  /// The names of horizontal lines, each above or beneath its line, where nothing else is if there
  /// is such a place.
  void place_line_labels(std::size_t i) {
    if (content(i).line_labels.empty()) return;
    const Axes& axes = layout_.panels[i].axes;
    std::vector<Box> taken = covered(i);
    constexpr int kPlaces = 20;
    std::vector<double> parts = {1.0, 0.0};  // the ends first
    for (int k = kPlaces - 1; k > 0; --k) parts.push_back(static_cast<double>(k) / kPlaces);
    for (const LineLabel& label : content(i).line_labels) {
      if (label.text.empty() || !axes.y.contains(label.y)) continue;
      const double line_y = axes.box.bottom - axes.y.position(label.y) * axes.box.height();
      const double width = text_width(label.text, theme_.small_size);
      const double height = theme_.small_size;
      const double gap = kPad + 1;
      std::optional<Box> best;
      double least = 0;
      for (const bool above : {true, false}) {
        for (const double part : parts) {
          Box box;
          box.left = axes.box.left + 2 * kPad + part * (axes.box.width() - 4 * kPad - width);
          box.right = box.left + width;
          box.top = above ? line_y - gap - height : line_y + gap;
          box.bottom = box.top + height;
          if (box.top < axes.box.top || box.bottom > axes.box.bottom) continue;
          double covers = 0;
          for (const Box& other : taken) {
            if (!overlap(box, other)) continue;
            covers += (std::min(box.right, other.right) - std::max(box.left, other.left)) *
                      (std::min(box.bottom, other.bottom) - std::max(box.top, other.top));
          }
          if (best && covers >= least) continue;
          best = box;
          least = covers;
        }
      }
      if (!best) continue;
      taken.push_back(*best);
      layout_.texts.push_back({label.text,
                               best->left,
                               (best->top + best->bottom) / 2,
                               theme_.small_size,
                               TextLine::Anchor::left,
                               true});
    }
  }

  void place_annotations(std::size_t i) {
    const Axes& axes = layout_.panels[i].axes;
    for (const Annotation& note : content(i).look.annotations) {
      const auto anchor = note.anchor == TextAnchor::left     ? TextLine::Anchor::left
                          : note.anchor == TextAnchor::centre ? TextLine::Anchor::centre
                                                              : TextLine::Anchor::right;
      layout_.texts.push_back({note.text,
                               axes.box.left + axes.x.position(note.x) * axes.box.width(),
                               axes.box.bottom - axes.y.position(note.y) * axes.box.height(),
                               theme_.small_size,
                               anchor});
    }
  }

  /// Where the panel's data and texts are on the page: points with their bars, and lines as points
  /// close to each other.
  std::vector<Box> covered(std::size_t i) const {
    const Axes& axes = layout_.panels[i].axes;
    const double marker = theme_.marker_size / 2 + kPad;
    std::vector<Box> boxes;
    if (content(i).map || !content(i).look.shades.empty()) boxes.push_back(axes.box);
    const auto add = [&](double x, double top, double bottom, double half) {
      boxes.push_back({x - half, x + half, top - half, bottom + half});
    };
    const auto page_y = [&](double y) {
      const bool shown = axes.y.scale == AxisScale::linear || y > 0;
      const double at = shown ? axes.y.position(y) : 0;
      return axes.box.bottom - std::clamp(at, 0.0, 1.0) * axes.box.height();
    };
    for (const DrawnCurve& curve : content(i).curves) {
      const Series& mean = curve.data->mean;
      std::vector<std::pair<double, double>> line;
      for (std::size_t k = 0; k < mean.x.size(); ++k) {
        if (curve.constant()) {
          line = {{axes.box.left, page_y(mean.y[k])}, {axes.box.right, page_y(mean.y[k])}};
          break;
        }
        if (axes.x.scale == AxisScale::log && mean.x[k] <= 0) continue;
        const double x = axes.box.left + axes.x.position(mean.x[k]) * axes.box.width();
        line.emplace_back(x, page_y(mean.y[k]));
        if (curve.data->theory) continue;
        const double sem = curve.data->sem.empty() ? 0 : curve.data->sem[k];
        add(x, page_y(mean.y[k] + sem), page_y(mean.y[k] - sem), marker);
      }
      if (!curve.data->theory && !curve.trajectory) continue;
      for (std::size_t k = 1; k < line.size(); ++k) {
        const auto [x1, y1] = line[k - 1];
        const auto [x2, y2] = line[k];
        const int steps = 1 + static_cast<int>(std::hypot(x2 - x1, y2 - y1) / kPad);
        for (int s = 0; s <= steps; ++s) {
          const auto part = static_cast<double>(s) / steps;
          const double y = y1 + part * (y2 - y1);
          add(x1 + part * (x2 - x1), y, y, kPad);
        }
      }
    }
    for (const double mark : content(i).look.horizontal_marks)
      boxes.push_back({axes.box.left, axes.box.right, page_y(mark) - 1, page_y(mark) + 1});
    for (const VerticalMark& mark : content(i).marks) {
      const double x = axes.box.left + axes.x.position(mark.x) * axes.box.width();
      boxes.push_back({x - 1, x + 1, axes.box.top, axes.box.bottom});
    }
    if (!content(i).inset.empty() && content(i).look.inset->panel.layers.empty()) {
      const PanelContent& inset = content(i).inset.front();  // what it enlarges
      const auto page_x = [&](double x) {
        const bool shown = axes.x.scale == AxisScale::linear || x > 0;
        const double part = shown ? axes.x.position(x) : 0;
        return axes.box.left + std::clamp(part, 0.0, 1.0) * axes.box.width();
      };
      boxes.push_back(
          {page_x(inset.x.low), page_x(inset.x.high), page_y(inset.y.high), page_y(inset.y.low)});
    }
    for (const Annotation& note : content(i).look.annotations) {
      const double x = axes.box.left + axes.x.position(note.x) * axes.box.width();
      const double y = page_y(note.y);
      const double width = text_width(note.text, theme_.small_size);
      const double left = note.anchor == TextAnchor::left     ? x
                          : note.anchor == TextAnchor::centre ? x - width / 2
                                                              : x - width;
      boxes.push_back({left, left + width, y - small_line() / 2, y + small_line() / 2});
    }
    return boxes;
  }

  /// The panel's inset: where the author wants it, else in a corner that is free of data.
  void place_inset(std::size_t i) {
    if (content(i).inset.empty()) return;
    const Inset& wanted = *content(i).look.inset;
    const PanelContent& inset = content(i).inset.front();
    const Box frame = layout_.panels[i].axes.box;
    const std::string name = "inset of panel (" + content(i).letter + ")";
    const double width = (wanted.place ? (*wanted.place)[2] : wanted.width) * frame.width();
    const double height = (wanted.place ? (*wanted.place)[3] : wanted.height) * frame.height();
    Axes axes;
    axes.x = inset.x;
    axes.y = inset.y;
    axes.x_ticks = x_ticks(axes.x, width);
    axes.y_ticks = choose_ticks(axes.y, std::max(2, static_cast<int>(height / em(kRoomPerLabel))));

    // What stands around its axes: labels, and halves of those of the outermost ticks.
    const std::string x_label = wrap(inset.panel->x.label, theme_.small_size, width);
    const std::string y_label = wrap(inset.panel->y.label, theme_.small_size, height);
    const double y_lines =
        y_label.empty() ? 0 : line_count(y_label) * small_line() + em(kLabelGap) / 2;
    const double x_lines = x_label.empty() ? 0 : line_count(x_label) * small_line();
    double overhang = kPad;
    for (const Tick& tick : axes.x_ticks) {
      overhang = std::max(overhang,
                          text_width(tick.label, theme_.small_size) / 2 -
                              (1 - axes.x.position(tick.position)) * width);
    }
    const double before = em(kTickGap) + widest_label(axes.y_ticks) + y_lines + kPad;
    const double beneath = em(kTickGap) + small_line() + x_lines;
    const double above = theme_.small_size / 2;
    const auto around = [&](const Box& box) {
      return Box{box.left - before, box.right + overhang, box.top - above, box.bottom + beneath};
    };
    const double gap = em(kTickGap);
    const auto in_corner = [&](Corner corner) {
      const bool top = corner == Corner::top_left || corner == Corner::top_right;
      const bool right = corner == Corner::top_right || corner == Corner::bottom_right;
      Box box;
      box.left = right ? frame.right - gap - overhang - width : frame.left + gap + before;
      box.right = box.left + width;
      box.top = top ? frame.top + gap + above : frame.bottom - gap - beneath - height;
      box.bottom = box.top + height;
      return box;
    };
    if (wanted.place) {
      axes.box.left = frame.left + (*wanted.place)[0] * frame.width();
      axes.box.right = axes.box.left + width;
      axes.box.bottom = frame.bottom - (*wanted.place)[1] * frame.height();
      axes.box.top = axes.box.bottom - height;
    } else if (wanted.corner) {
      axes.box = in_corner(*wanted.corner);
    } else {
      const std::vector<Box> taken = covered(i);
      bool found = false;
      for (const Corner corner :
           {Corner::top_right, Corner::top_left, Corner::bottom_right, Corner::bottom_left}) {
        axes.box = in_corner(corner);
        const Box box = around(axes.box);
        found = std::none_of(
            taken.begin(), taken.end(), [&](const Box& other) { return overlap(box, other); });
        if (found) break;
      }
      if (!found) {
        throw invalid_parameter(
            name,
            "in a free corner",
            "its corner or place to be given, or a smaller width and height: in "
            "every corner it would cover data");
      }
    }
    const Box box = around(axes.box);
    if (box.left < frame.left || box.right > frame.right || box.top < frame.top ||
        box.bottom > frame.bottom) {
      throw invalid_parameter(
          name,
          wanted.place ? "place" : fmt::format("width {}, height {}", wanted.width, wanted.height),
          fmt::format(
              "room for its tick labels inside the panel: {:.2f} of the panel's width to the "
              "left of its axes, {:.2f} of its height beneath",
              before / frame.width(),
              beneath / frame.height()));
    }
    std::vector<TextLine> texts;
    double y = axes.box.bottom + em(kTickGap) + small_line();
    for (const std::string& line : lines_of(x_label)) {
      texts.push_back({line,
                       (axes.box.left + axes.box.right) / 2,
                       y + small_line() / 2,
                       theme_.small_size,
                       TextLine::Anchor::centre});
      y += small_line();
    }
    double x = box.left + kPad + small_line() / 2;
    for (const std::string& line : lines_of(y_label)) {
      texts.push_back({line,
                       x,
                       (axes.box.top + axes.box.bottom) / 2,
                       theme_.small_size,
                       TextLine::Anchor::rotated});
      x += small_line();
    }
    PanelLayout& panel = layout_.panels[i];
    panel.inset = std::move(axes);
    panel.inset_box = box;
    panel.inset_texts = std::move(texts);
  }

  static bool overlap(const Box& a, const Box& b) {
    return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
  }

  /// Legends in free corners: one for all panels where that serves, in the first that has room.
  void place_inside() {
    std::string crowded;
    for (std::size_t i = 0; i < content_.panels.size(); ++i) {
      const bool placed = place_inside(i);
      if (placed && shared_legend()) return;
      if (!placed) crowded += fmt::format("{}({})", crowded.empty() ? "" : ", ", content(i).letter);
    }
    if (crowded.empty()) return;
    throw invalid_parameter("legend",
                            "inside",
                            fmt::format("above, below or none, or wider axes: in panel {} every "
                                        "corner has data",
                                        crowded));
  }

  /// The panel's legend in a corner that holds nothing else, the entries beneath each other; false
  /// if there is none.
  bool place_inside(std::size_t i) {
    const std::vector<LegendEntry>& entries =
        shared_legend() ? longest_legend() : content(i).legend;
    if (entries.empty()) return true;
    const Box& frame = layout_.panels[i].axes.box;
    const double pad = em(kInsideGap);
    const std::vector<LegendRow> rows = stacked(items(entries, frame.width() - 2 * pad));
    const double width = aligned_width(rows);
    const double height = height_of(rows);
    std::vector<Box> taken = covered(i);
    if (layout_.panels[i].inset) taken.push_back(layout_.panels[i].inset_box);
    for (const bool top : {true, false}) {
      for (const bool right : {true, false}) {
        Box box;
        box.left = right ? frame.right - pad - width : frame.left + pad;
        box.right = box.left + width;
        box.top = top ? frame.top + pad : frame.bottom - pad - height;
        box.bottom = box.top + height;
        const bool fits = box.left >= frame.left && box.top >= frame.top;
        const bool free = std::none_of(
            taken.begin(), taken.end(), [&](const Box& other) { return overlap(box, other); });
        if (!fits || !free) continue;
        place_legend(rows, (box.left + box.right) / 2, box.top);
        return true;
      }
    }
    return false;
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
  const Look& look_;
  std::size_t columns_;
  double column_width_ = 0;
  double main_height_ = 0;
  double residual_height_ = 0;
  std::vector<double> frame_heights_;  ///< of the panels; main_height_ except for matrices
  std::vector<std::vector<LegendRow>> right_legends_;
  double right_width_ = 0;  ///< of the legend beside the panels with its gap; 0: there is none
  Layout layout_;
};

}  // namespace

Layout lay_out(const Content& content,
               const Theme& theme,
               double width,
               const std::string& note,
               const Look& look) {
  return Composer(content, theme, width, look).compose(note);
}

}  // namespace attica::plots
