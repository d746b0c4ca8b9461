#include "attica/core/read_bytes.hpp"

#include <catch2/catch.hpp>
#include <fstream>

using namespace attica;

TEST_CASE("read_bytes: everything as it is, nothing from what is no file", "[core]") {
  const auto folder = std::filesystem::temp_directory_path() / "attica-read-bytes";
  std::filesystem::create_directories(folder);
  const std::string bytes("a\r\n\0\xff\n", 6);
  std::ofstream(folder / "some", std::ios::binary) << bytes;
  std::ofstream(folder / "empty", std::ios::binary).flush();
  CHECK(read_bytes(folder / "some") == bytes);
  CHECK(read_bytes(folder / "empty") == "");
  CHECK_FALSE(read_bytes(folder).has_value());
  CHECK_FALSE(read_bytes(folder / "none").has_value());
  CHECK_FALSE(read_bytes("/dev/null").has_value());
  std::filesystem::remove_all(folder);
}
