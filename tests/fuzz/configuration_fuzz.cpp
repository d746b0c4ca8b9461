// Any bytes are either a configuration that survives being written and read again, or an Error of
// kind input.
#include <cstdlib>

#include "attica/app/configuration/configuration_file.hpp"
#include "fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  static const std::vector<Study> registry = studies();
  const auto written_again = [](const InputFile& file) {
    return app::to_toml(
        app::read_configuration({.target = file.path(), .preset = {}, .overrides = {}}, registry));
  };
  try {
    const std::string text = written_again(InputFile(data, size));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    if (written_again(InputFile(bytes, text.size())) != text) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}
