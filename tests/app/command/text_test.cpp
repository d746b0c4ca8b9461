#include "attica/app/command/text.hpp"

#include <catch2/catch.hpp>

namespace attica::app {
namespace {

TEST_CASE("shell_word: quotes what a shell would read otherwise", "[app][unit]") {
  CHECK(shell_word("sim.seed=3") == "sim.seed=3");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("$(touch x)") == "'$(touch x)'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("sweep.alpha=[1.0]") == "'sweep.alpha=[1.0]'");
}

TEST_CASE("printable: writes control characters out and keeps the rest", "[app][unit]") {
  CHECK(printable("\x1b[31mred") == "\\x1b[31mred");
  CHECK(printable("two\nlines\tand\r") == "two\nlines\tand\\x0d");
  // U+009b, the one-character form of ESC [, and a letter that begins with the same byte: U+00b1.
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\x9b31m");
  CHECK(printable("\xc2\xb1 \xce\xb1") == "\xc2\xb1 \xce\xb1");
  CHECK(has_control_characters("a\nb"));
  CHECK(has_control_characters("\x7f"));
  CHECK_FALSE(has_control_characters("\xce\xb1 = 0.5"));
}

}  // namespace
}  // namespace attica::app
