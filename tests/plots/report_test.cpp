#include "attica/plots/report.hpp"

#include <catch2/catch.hpp>

using namespace attica;
using Catch::Contains;

TEST_CASE("report_html: files that a study shows stand in the page as they are", "[plots]") {
  ReportContent content;
  content.verdict = "AGREE";
  content.run = "name-12345678";
  CHECK_THAT(report_html(content), !Contains("samples.txt"));
  content.texts = {{"samples.txt", "chain-1   a <b> & c\n  two  spaces"}};
  CHECK_THAT(report_html(content),
             Contains("<h2>samples.txt</h2>") && Contains("chain-1   a &lt;b&gt; &amp; c\n"
                                                          "  two  spaces"));
}
