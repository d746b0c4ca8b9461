#include "attica/core/label.hpp"

#include <catch2/catch.hpp>

#include "attica/core/error.hpp"

using namespace attica;

TEST_CASE("from_latex: text stays, mathematics becomes enhanced text", "[core]") {
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

TEST_CASE("from_latex and to_latex: alphabets have letters of their own", "[core]") {
  const auto label = [](const char* text) { return from_latex(text, "label"); };
  // Some letters were in Unicode before the alphabets.
  CHECK(label("$\\mathcal{E}$") == "ℰ");
  CHECK(label("$\\mathcal{LH}_{\\mathrm{test}}$") == "ℒℋ_{test}");
  CHECK(label("$\\mathcal{D}$") == "𝒟");
  CHECK(label("$\\mathbb{R}^{\\mathcal{N}}$") == "ℝ^{𝒩}");
  CHECK(label("$\\mathbb{E}[\\mathbb{1}]$") == "𝔼[𝟙]");
  CHECK(label("$f'(x)$") == "{/:Italic f}′({/:Italic x})");
  // No two letters of a label look alike, and each comes back as it was written.
  for (const std::string command : {"mathcal", "mathbb"}) {
    for (char letter = 'A'; letter <= 'Z'; ++letter) {
      const std::string written = "\\" + command + "{" + letter + "}";
      CAPTURE(written);
      const std::string drawn = from_latex("$" + written + "$", "label");
      CHECK(drawn.find(letter) == std::string::npos);
      CHECK(to_latex(drawn) == "\\ensuremath{" + written + "}");
    }
  }
  // Whoever types the characters gets the same; so do letters of the bold script.
  CHECK(to_latex("ℒ 𝓛 ℝ 𝔤 𝐱") ==
        "\\ensuremath{\\mathcal{L}} \\ensuremath{\\mathcal{L}} \\ensuremath{\\mathbb{R}} "
        "\\ensuremath{\\mathfrak{g}} \\ensuremath{\\mathbf{x}}");
  CHECK(to_latex(from_latex("$x_{\\mathcal{E}_i}$", "label")) ==
        "\\ensuremath{x}\\ensuremath{_{\\mathcal{E}_{i}}}");
  CHECK(to_latex(from_latex("$f'$", "label")) == "\\ensuremath{f}\\ensuremath{'}");
  CHECK(to_latex(from_latex("$f^\\prime$", "label")) == "\\ensuremath{f}\\ensuremath{^{\\prime }}");
}

TEST_CASE("from_latex: what is not known is named", "[core]") {
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
  CHECK_THAT(refused("$\\mathcal{e}$"), Catch::Contains("capital letters in the braces of"));
  CHECK_THAT(refused("$\\mathcal{É}$"), Catch::Contains("capital letters in the braces of"));
  for (const std::string command : {"mathfrak", "mathscr", "hat", "bar", "tilde", "sqrt", "vec"}) {
    CAPTURE(command);
    CHECK_THAT(refused(("$\\" + command + "{x}$").c_str()),
               Catch::Contains("without '\\" + command + "'"));
  }
}

TEST_CASE("to_latex: what the drawing writes, as LaTeX of text mode", "[core]") {
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

TEST_CASE("from_latex and to_latex: a label comes back", "[core]") {
  CHECK(to_latex(from_latex("rate $\\eta$", "label")) == "rate \\ensuremath{\\eta}");
  CHECK(to_latex(from_latex("$10^{-3}$", "label")) == "10\\ensuremath{^{-3}}");
  CHECK(to_latex(from_latex("$\\Sigma$ & more", "label")) == "\\ensuremath{\\Sigma} \\& more");
}
