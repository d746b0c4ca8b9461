#include "attica/plots/draw.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/plots/content.hpp"
#include "attica/plots/gnuplot.hpp"
#include "attica/plots/layout.hpp"
#include "attica/plots/metadata.hpp"
#include "attica/plots/script.hpp"
#include "attica/plots/theme.hpp"

namespace attica {
namespace {

namespace fs = std::filesystem;

constexpr double kPointsPerInch = 72;

Error storage_error(const fs::path& path, const std::string& what) {
  return {ErrorKind::storage, "cannot write '" + path.string() + "': " + what};
}

/// A folder inside the figures' folder, hence on the same disk, so that finished files can be
/// renamed into place. Removed with all it still holds.
class WorkFolder {
 public:
  WorkFolder(const fs::path& parent, const std::string& name) {
    std::error_code error;
    fs::create_directories(parent, error);
    if (error) throw storage_error(parent, error.message());
    remove_left_over(parent, fmt::format(".{}.", name));
    path_ = fs::absolute(parent) / fmt::format(".{}.{}", name, ::getpid());
    if (!fs::create_directory(path_, error)) {
      throw storage_error(path_, error ? error.message() : "it exists already");
    }
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  /// What processes that were killed while they drew left behind.
  static void remove_left_over(const fs::path& parent, const std::string& prefix) {
    std::error_code ignored;
    std::vector<fs::path> dead;
    for (const auto& entry : fs::directory_iterator(parent, ignored)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(prefix) || !entry.is_directory(ignored)) continue;
      const std::string number = name.substr(prefix.size());
      if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) continue;
      const auto process = static_cast<pid_t>(std::strtol(number.c_str(), nullptr, 10));
      if (process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH))
        dead.push_back(entry.path());
    }
    for (const fs::path& folder : dead) fs::remove_all(folder, ignored);
  }

  fs::path path_;
};

constexpr std::string_view kSealStart = "# checksum of the lines above ";

std::string checksum(std::string_view text) {
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  return fmt::format("{:08x}", crc.checksum());
}

/// The last line of a script: its checksum, and that of its data (unless they are gone, and in
/// scripts of earlier versions).
std::string seal(std::string_view script, const std::optional<std::string>& data) {
  return fmt::format("{}{}{}: attica replaces no script that was edited, unless asked to\n",
                     kSealStart,
                     checksum(script),
                     data ? ", of the data " + checksum(*data) : "");
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream << bytes;
  stream.close();
  if (!stream) throw storage_error(path, "is the disk full?");
}

void check_formats(const std::vector<std::string>& formats) {
  for (const std::string& format : formats) {
    if (std::count(formats.begin(), formats.end(), format) > 1)
      throw invalid_parameter("figure format", format, "distinct values");
    if (format != "svg" && format != "pdf" && format != "png" && format != "tex") {
      throw invalid_parameter("figure format", format, "svg, pdf, png or tex");
    }
  }
}

/// The theme with the author's size of text.
plots::Theme themed(const std::string& style, const Look& look) {
  plots::Theme theme = plots::find_theme(style);
  if (look.size) {
    theme.small_size *= *look.size / theme.label_size;
    theme.label_size = *look.size;
  }
  if (look.font.empty() || look.font.find_first_of("',\"\\\n{}") != std::string::npos)
    throw invalid_parameter("font", look.font, "the name of a font");
  return theme;
}

}  // namespace

std::vector<fs::path> draw(const Figure& figure,
                           const FigureData& data,
                           const DrawOptions& options) {
  check_formats(options.formats);
  const Look& look = options.look;
  const plots::Theme theme = themed(options.style, look);
  const FigureWidth width =
      options.width.value_or(figure.columns > 1 ? FigureWidth::full : FigureWidth::half);
  const double own_inches = width == FigureWidth::half ? theme.half_width : theme.full_width;
  const plots::Content content = plots::arrange(figure, data, look);
  const plots::Layout layout = plots::lay_out(
      content, theme, look.width.value_or(own_inches) * kPointsPerInch, options.note, look);
  const plots::DataFile table = plots::data_file(content);
  std::string script = plots::script(content, layout, table, theme, options);
  if (!script.ends_with('\n')) script += '\n';
  script += seal(script, table.text);
  const fs::path old_script = options.folder / (figure.name + ".gp");
  if (!options.replace_edited && was_edited(old_script))
    throw storage_error(old_script, "it, or its data, has been edited since it was written");

  const WorkFolder work(options.folder, figure.name);
  std::vector<std::string> names = {figure.name + ".csv", figure.name + ".gp"};
  write(work.path() / names[0], table.text);
  write(work.path() / names[1], script);
  // A gnuplot for every format, side by side: each does its part of the script.
  std::vector<char> drawn(options.formats.size(), 1);
  in_parallel(options.formats.size(), [&](std::size_t k) {
    DrawOptions one = options;
    one.formats = {options.formats[k]};
    drawn[k] = plots::run_gnuplot(plots::script(content, layout, table, theme, one),
                                  work.path(),
                                  one.formats[0],
                                  one.formats[0])
                   ? 1
                   : 0;
  });
  for (std::size_t k = 0; k < options.formats.size(); ++k) {
    if (drawn[k] == 0) continue;
    const std::string& format = options.formats[k];
    names.push_back(figure.name + "." + format);
    const fs::path path = work.path() / names.back();
    if (format == "tex")
      names.insert(names.end(), {"gnuplot-lua-tikz.sty", "gnuplot-lua-tikz-common.tex"});
    std::string bytes = read_bytes(path).value_or("");
    if (!plots::is_complete(bytes, format))
      throw storage_error(path, "gnuplot left it unfinished (is the disk full?)");
    if (format == "pdf" && plots::set_pdf_date(bytes)) write(path, bytes);
    if (options.metadata.empty()) continue;
    if (format == "png") write(path, plots::with_png_text(bytes, options.metadata));
    if (format == "pdf")
      write(path, plots::with_pdf_information(bytes, figure.name, options.metadata));
  }
  std::vector<fs::path> written;
  for (const std::string& name : names) {
    written.push_back(options.folder / name);
    std::error_code error;
    fs::rename(work.path() / name, written.back(), error);
    if (error) throw storage_error(written.back(), error.message());
  }
  if (std::find(drawn.begin(), drawn.end(), 1) == drawn.end()) {
    const std::string files = not_drawn(figure, options, written);
    if (!files.empty()) throw Error(ErrorKind::input, files);
  }
  return written;
}

std::string not_drawn(const Figure& figure,
                      const DrawOptions& options,
                      const std::vector<fs::path>& written) {
  std::vector<std::string> files;
  for (const std::string& format : options.formats) {
    const fs::path file = options.folder / (figure.name + "." + format);
    if (std::find(written.begin(), written.end(), file) == written.end())
      files.push_back(fmt::format("'{}'", file.string()));
  }
  if (files.empty()) return {};
  return fmt::format("gnuplot was not found: {} {} not drawn{} (Debian package gnuplot-nox)",
                     fmt::join(files, ", "),
                     files.size() == 1 ? "is" : "are",
                     plots::bundled_gnuplot().empty() ? "" : "; the one in this package draws SVG");
}

bool was_edited(const fs::path& script) {
  const std::optional<std::string> text = read_bytes(script);
  if (!text) return false;
  const auto at = text->rfind(kSealStart);
  if (at == std::string::npos) return true;
  const std::string_view own = std::string_view(*text).substr(0, at);
  const std::string_view line = std::string_view(*text).substr(at);
  if (line == seal(own, std::nullopt)) return false;
  fs::path file = script;
  const std::optional<std::string> data = read_bytes(file.replace_extension(".csv"));
  return data ? line != seal(own, data)
              : !line.starts_with(std::string(kSealStart) + checksum(own) + ",");
}

std::vector<std::string> style_names() {
  std::vector<std::string> names;
  for (const plots::Theme& theme : plots::themes()) names.push_back(theme.name);
  return names;
}

}  // namespace attica
