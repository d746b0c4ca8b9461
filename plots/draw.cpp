#include "attica/plots/draw.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "attica/core/error.hpp"
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
  fs::path path_;
};

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream << bytes;
  stream.close();
  if (!stream) throw storage_error(path, "is the disk full?");
}

void check_formats(const std::vector<std::string>& formats) {
  for (const std::string& format : formats) {
    if (format != "svg" && format != "pdf" && format != "png") {
      throw invalid_parameter("figure format", format, "svg, pdf or png");
    }
  }
}

}  // namespace

std::vector<fs::path> draw(const Figure& figure,
                           const FigureData& data,
                           const DrawOptions& options) {
  check_formats(options.formats);
  const plots::Theme& theme = plots::find_theme(options.style);
  const double inches = options.width == FigureWidth::half ? theme.half_width : theme.full_width;
  const plots::Content content = plots::arrange(figure, data);
  const plots::Layout layout =
      plots::lay_out(content, theme, inches * kPointsPerInch, options.note);
  const plots::DataFile table = plots::data_file(content);
  const std::string script = plots::script(content, layout, table, theme, options);

  const WorkFolder work(options.folder, figure.name);
  std::vector<std::string> names = {figure.name + ".csv", figure.name + ".gp"};
  write(work.path() / names[0], table.text);
  write(work.path() / names[1], script);
  plots::run_gnuplot(script, work.path());
  for (const std::string& format : options.formats) {
    names.push_back(figure.name + "." + format);
    const fs::path path = work.path() / names.back();
    const std::string bytes = read_bytes(path).value_or("");
    if (!plots::is_complete(bytes, format))
      throw storage_error(path, "gnuplot left it unfinished (is the disk full?)");
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
  return written;
}

std::vector<std::string> style_names() {
  std::vector<std::string> names;
  for (const plots::Theme& theme : plots::themes()) names.push_back(theme.name);
  return names;
}

}  // namespace attica
