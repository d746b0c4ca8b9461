/// @file
/// @brief `attica doctor`: what this build and this machine have.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/paths.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/runner.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/version.hpp"
#include "attica/core/instructions.hpp"
#include "attica/core/parallel.hpp"
#include "attica/plots/gnuplot.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

#ifdef ATTICA_MPI
constexpr const char* kMpi = "compiled in";
#else
constexpr const char* kMpi = "not compiled in";
#endif

/// The extensions of the instruction set that this build was allowed to use, and those of them that
/// this processor lacks.
struct Instructions {
  std::string used;
  std::string missing;
};

Instructions instructions() {
  Instructions found;
  InstructionSet sets[kInstructionSets];
  instruction_sets(sets);
  for (const auto& [name, used, available] : sets) {
    if (!used) continue;
    found.used += (found.used.empty() ? "" : " ") + std::string(name);
    if (!available) found.missing += (found.missing.empty() ? "" : " ") + std::string(name);
  }
  if (found.used.empty()) found.used = "the processor family's common ones";
  return found;
}

/// First line of a command's output; empty if it cannot be run.
std::string first_line(const char* command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command, "r"), ::pclose);
  std::array<char, 256> line{};
  if (!pipe || std::fgets(line.data(), static_cast<int>(line.size()), pipe.get()) == nullptr)
    return {};
  std::string text = line.data();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

}  // namespace

int doctor_verb(const Options& options, const Registry& registry) {
  const std::string gnuplot = first_line("gnuplot --version 2>/dev/null");
  const std::string font = first_line("fc-list 'DejaVu Sans' 2>/dev/null");
  std::error_code ignored;
  const fs::path data = data_directory();
  const Instructions needs = instructions();
  const Json found{
      {"attica", kVersion},
      {"revision", kRevision},
      {"compiler", kCompiler},
      {"build_type", kBuildType},
      {"built_for",
       kNative == std::string_view("ON") ? "the processor it was built on"
       : *kMarch != 0                    ? kMarch
                                         : "any processor of the family"},
      {"instructions", needs.used},
      {"this_processor",
       needs.missing.empty() ? "has them all" : "LACKS " + needs.missing + ": build anew here"},
      {"libraries", kLibraries},
      {"mpi", kMpi},
      {"studies", registry.size()},
      {"families_left_out",
       absent_families().empty() ? "none" : fmt::format("{}", fmt::join(absent_families(), ", "))},
      {"processors", std::thread::hardware_concurrency()},
      {"default_threads", default_threads()},
      {"data_folder", data.empty() ? "not found" : data.string()},
      {"gnuplot",
       !gnuplot.empty() ? gnuplot
       : plots::bundled_gnuplot().empty()
           ? "not found: runs work, figures do not (Debian: gnuplot-nox)"
           : "of this package, for SVG; PDF and PNG need the system's (Debian: gnuplot-nox)"},
      {"font_dejavu_sans",
       font.empty() ? "not found: figures fall back to another font (Debian: fonts-dejavu-core)"
                    : "found"},
      {"working_folder", ::access(".", W_OK) == 0 ? "writable" : "not writable: give --out"},
      {"free_space_GB", static_cast<double>(fs::space(".", ignored).available) / 1e9}};
  if (options.json) {
    print("doctor", found);
    return kExitDone;
  }
  for (const auto& [key, value] : found.items()) {
    put("{:<20} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return kExitDone;
}

}  // namespace attica::app
