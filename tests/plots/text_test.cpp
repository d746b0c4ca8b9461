#include "attica/plots/text.hpp"

#include <catch2/catch.hpp>

#include "attica/plots/label.hpp"

using namespace attica;
using namespace attica::plots;

TEST_CASE("text_width: markup takes no room", "[plots]") {
  // A digit of DejaVu Sans is 0.636 of the font size wide.
  CHECK(text_width("1234", 10) == Approx(4 * 6.36));
  CHECK(text_width("{/:Italic 12}34", 10) == Approx(4 * 6.36));
  CHECK(text_width("1{/=20 2}", 10) == Approx(3 * 6.36));
  CHECK(text_width("10^{23}", 10) == Approx((2 + 0.8 * 2) * 6.36));
  CHECK(text_width("1_2", 10) == Approx(1.8 * 6.36));
  CHECK(text_width("\\_", 10) == Approx(5.0));
  CHECK(text_width("unbalanced {", 10) > 0);
  CHECK(text_width("}unbalanced", 10) > 40);
  CHECK(block_width("12\n1234\n1", 10) == Approx(4 * 6.36));
}

TEST_CASE("wrap: breaks at spaces outside braces", "[plots]") {
  CHECK(wrap("aa bb cc", 10, 1000) == "aa bb cc");
  CHECK(wrap("aa bb cc", 10, 1) == "aa\nbb\ncc");
  CHECK(wrap("{/:Italic a b} c", 10, 1) == "{/:Italic a b}\nc");
  const std::string lines = wrap("the quick brown fox jumps over the lazy dog", 8, 60);
  CHECK(block_width(lines, 8) <= 60);
  CHECK(line_count(lines) > 2);
}

TEST_CASE("quote and escape: nothing is expanded", "[plots]") {
  CHECK(quote("a\"b\\c\n`d`") == "\"a\\\"b\\\\c\\n\\140d\\140\"");
  CHECK(escape("a_b^{c}@") == "a\\_b\\^\\{c\\}\\@");
}

TEST_CASE("labels: points become readable", "[plots]") {
  const Point point = {{"lambda", 0.1}, {"model", std::string("factored_x")}, {"N", 100.0}};
  const Point other = {{"lambda", 1e-5}, {"model", std::string("factored_x")}, {"N", 100.0}};
  CHECK(fill_label("{/:Italic λ} = {lambda}, {model}", point) ==
        "{/:Italic λ} = 0.1, factored\\_x");
  CHECK(point_label(point, {point, other}) == "{/:Italic λ} = 0.1");
  CHECK(point_label(other, {point, other}) == "{/:Italic λ} = 10^{−5}");
  CHECK(mentions_coordinate("{N}", point));
  CHECK_FALSE(mentions_coordinate("{alpha}", point));
  CHECK(pretty_number(-2.5e-7) == "−2.5×10^{−7}");
  CHECK(pretty_number(1200) == "1200");
  CHECK(pretty_number(65536) == "65536");
  CHECK(pretty_number(300000) == "3×10^{5}");
  CHECK(pretty_name("test_error") == "test error");
}

TEST_CASE("text_width: letters of the alphabets of mathematics have a width", "[plots]") {
  for (const std::string command : {"mathcal", "mathbb"}) {
    for (char letter = 'A'; letter <= 'Z'; ++letter) {
      const std::string written = "$\\" + command + "{" + letter + "}$";
      CAPTURE(written);
      CHECK(text_width(from_latex(written, "label"), 10) > 5);
    }
  }
}
