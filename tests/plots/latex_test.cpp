#include "attica/plots/latex.hpp"

#include <catch2/catch.hpp>

#include "attica/core/error.hpp"
#include "attica/plots/text.hpp"

using namespace attica;
using namespace attica::plots;

TEST_CASE("from_latex: text stays, mathematics becomes enhanced text", "[plots]") {
  const auto label = [](const char* text) { return from_latex(text, "label"); };
  CHECK(label("test_error, 5 %") == "test\\_error, 5 %");
  CHECK(label("$\\lambda$ = {lambda}") == "{/:Italic λ} = {lambda}");
  CHECK(label("$\\rho = {rho}$") == "{/:Italic ρ} = {rho}");
  CHECK(label("$E_{\\mathrm{test}}$") == "{/:Italic E}_{test}");
  CHECK(label("$10^{-3}$") == "10^{−3}");
  CHECK(label("$x^2_i$") == "{/:Italic x}^{2}_{{/:Italic i}}");
  CHECK(label("$\\alpha = M/N$") == "{/:Italic α} = {/:Italic M}/{/:Italic N}");
  CHECK(label("$\\alpha \\leq 1$") == "{/:Italic α} ≤ 1");
  CHECK(label("Größe α") == "Größe α");
  CHECK(label("$α$") == "{/:Italic α}");
  CHECK(label("5 \\$") == "5 $");
  CHECK(label("{/:Italic n} of $5") == "{/:Italic n} of $5");
  CHECK(label("") == "");
}

TEST_CASE("from_latex: what is not known is named", "[plots]") {
  const auto refused = [](const char* text) -> std::string {
    try {
      from_latex(text, "x.label");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refused("$\\frac{1}{2}$"), Catch::Contains("parameter 'x.label'"));
  CHECK_THAT(refused("$\\frac{1}{2}$"), Catch::Contains("without '\\frac'"));
  CHECK_THAT(refused("5 $"), Catch::Contains("a second '$'"));
  CHECK_THAT(refused("$x_$"), Catch::Contains("something after _"));
  CHECK_THAT(refused("$x^{2$"), Catch::Contains("a '}' for every '{'"));
  CHECK_THAT(refused("$x}$"), Catch::Contains("a '{' for every '}'"));
  CHECK_THAT(refused("$\\mathrm x$"), Catch::Contains("words in braces"));
  CHECK_THAT(refused("$\\mathrm{\\alpha}$"), Catch::Contains("plain words"));
  CHECK_THAT(refused("$a\\$"), Catch::Contains("expected"));
}

TEST_CASE("to_latex: what the drawing writes, as LaTeX of text mode", "[plots]") {
  CHECK(to_latex("{/:Italic λ} = 0.1") == "\\ensuremath{\\lambda} = 0.1");
  CHECK(to_latex("10^{−3}") == "10\\ensuremath{^{-3}}");
  CHECK(to_latex("test error {/:Italic E}_{test}") ==
        "test error \\ensuremath{E}\\ensuremath{_{\\mathrm{t}\\mathrm{e}\\mathrm{s}\\mathrm{t}}}");
  CHECK(to_latex("5 % & #1_\\_").find("5 \\% ") == 0);
  CHECK(to_latex("±1 SEM") == "\\ensuremath{\\pm}1 SEM");
  CHECK(to_latex("2×10^{5}") == "2\\ensuremath{\\times}10\\ensuremath{^{5}}");
  // Sizes are the document's; a stray brace ends nothing.
  CHECK(to_latex("{/=20 big}") == "big");
  CHECK(to_latex("a}b") == "ab");
  // Whatever was escaped comes out as itself.
  CHECK(to_latex(escape("a_b^{c}~\\$")) ==
        "a\\_b\\textasciicircum{}\\{c\\}\\textasciitilde{}\\textbackslash{}\\$");
}

TEST_CASE("from_latex and to_latex: a label comes back", "[plots]") {
  CHECK(to_latex(from_latex("rate $\\eta$", "label")) == "rate \\ensuremath{\\eta}");
  CHECK(to_latex(from_latex("$10^{-3}$", "label")) == "10\\ensuremath{^{-3}}");
  CHECK(to_latex(from_latex("$\\Sigma$ & more", "label")) == "\\ensuremath{\\Sigma} \\& more");
}
