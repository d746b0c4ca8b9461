#include "attica/app/run/results.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <limits>

#include "app/toy_study.hpp"
#include "attica/app/run/files.hpp"

using namespace attica;
using namespace attica::app;
using toy::message_of;

namespace results_test {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

Outcome observation(double x, double y) {
  return {.series = {{"y", {{"lambda", 0.1}}, "x", {x}, {y}}}};
}

PartRecord part_with(std::uint64_t first, const std::vector<Outcome>& outcomes) {
  return {.first_replicate = first, .outcomes = outcomes, .seconds = 0.25};
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double p, double q) {
           return std::bit_cast<std::uint64_t>(p) == std::bit_cast<std::uint64_t>(q);
         });
}

TEST_CASE("encode, decode: bit for bit", "[app][results]") {
  const std::vector<double> hard{0.1,
                                 1.0 / 3,
                                 -0.0,
                                 5e-324,
                                 2.2250738585072014e-308,
                                 1e22,
                                 1e23,
                                 6.02e23,
                                 -1e-7,
                                 1.7976931348623157e308};
  PartRecord part = part_with(7,
                              {{.series = {{"loss \"test\", \n\xce\xb1",
                                            {{"lambda", 0.1}, {"model", std::string("a,b")}},
                                            "step",
                                            hard,
                                            hard},
                                           {"plateau", {}, "none", {0}, {1.5}}}},
                               {.series = {{"loss", {}, "step", {1, 2, 3}, {1, kNaN, kNaN}}},
                                .status = "diverged",
                                .failed = true,
                                .message = "non-finite loss at step 2"}});
  const PartRecord back = decode(encode(part));
  CHECK(back.first_replicate == 7);
  CHECK(back.seconds == 0.25);
  REQUIRE(back.outcomes.size() == 2);
  const Series& s = back.outcomes[0].series[0];
  CHECK(s.name == part.outcomes[0].series[0].name);
  CHECK(s.point == part.outcomes[0].series[0].point);
  CHECK(s.x_name == "step");
  CHECK(same_bits(s.x, hard));
  CHECK(same_bits(s.y, hard));
  CHECK(back.outcomes[0].series[1].y == std::vector<double>{1.5});
  CHECK(back.outcomes[1].failed);
  CHECK(back.outcomes[1].status == "diverged");
  CHECK(back.outcomes[1].message == "non-finite loss at step 2");
  CHECK(back.outcomes[1].series[0].y[0] == 1);
  CHECK(std::isnan(back.outcomes[1].series[0].y[1]));
  CHECK(encode(back) == encode(part));
}

TEST_CASE("encode: a non-finite observation that is not marked failed is refused",
          "[app][results]") {
  CHECK_THAT(message_of([] { encode(part_with(0, {observation(1, kNaN)})); }),
             Catch::Contains("series 'y': a non-finite observation"));
}

TEST_CASE("decode: damage is noticed at every byte, and wherever the file ends early",
          "[app][results]") {
  const std::string good = encode(part_with(3, {observation(1, 0.1), observation(1, 0.2)}));
  REQUIRE_NOTHROW(decode(good));
  for (std::size_t k = 0; k < good.size(); ++k) {
    std::string bad = good;
    bad[k] = static_cast<char>(bad[k] ^ 1);
    CAPTURE(k);
    CHECK_THROWS_AS(decode(bad), Error);
    CHECK_THROWS_AS(decode(std::string_view(good).substr(0, k)), Error);
  }
  CHECK_THROWS_AS(decode(good + "\n"), Error);
  CHECK_THROWS_AS(decode(std::string(good.size(), '\0')), Error);
}

TEST_CASE("replicates.csv: what is read back is what was written", "[app][results]") {
  Replicates all;
  const Point coordinates{{"rho", 0.3}, {"kind", std::string("odd, \"kind\"")}};
  // Points arrive out of order; the second curve is longer for one replicate than for the other.
  all.add(part_with(0, {observation(2, 0.2), observation(2, 1.0 / 3)}), coordinates);
  all.add(part_with(0, {observation(1, 1e-300), observation(1, -0.0)}), coordinates);
  all.add(part_with(0,
                    {{.series = {{"loss", {}, "step", {0, 10, 100}, {3, 2, 1}}}},
                     {.series = {{"loss", {}, "step", {0, 10, 100}, {3, kNaN, kNaN}}},
                      .status = "diverged",
                      .failed = true,
                      .message = "boom"}}),
          {});
  all.finish();
  CHECK(all.statuses().at("finished") == 5);
  CHECK(all.statuses().at("diverged") == 1);
  CHECK(all.failures() == std::vector<std::string>{"replicate 1: boom"});
  {
    Replicates failing;
    const Outcome early{.series = {}, .failed = true, .message = "boom"};
    failing.add(part_with(4, {early}), {}, "point 3 of 11");
    failing.add(part_with(5, {early}), coordinates, "point 3 of 11");
    CHECK(failing.failures() ==
          std::vector<std::string>{"replicate 4 at point 3 of 11: boom",
                                   "replicate 5 at rho=0.3, kind=odd, \"kind\": boom"});
  }

  const std::string text = replicates_csv("toy", all);
  CHECK_THAT(text,
             Catch::StartsWith("study,series,rho,point_kind,lambda,x_name,x,replicate,value\n"
                               "toy,y,0.3,\"odd, \"\"kind\"\"\",0.1,x,1,0,1e-300\n"));
  // A failed value is an empty field, never "nan".
  CHECK_THAT(text, Catch::Contains("toy,loss,,,,step,10,1,\n"));
  CHECK(text.find("nan") == std::string::npos);

  const toy::Folder folder;
  const Replicates back = read_replicates(folder.write("replicates.csv", text));
  CHECK(replicates_csv("toy", back) == text);
  REQUIRE(back.curves().size() == all.curves().size());
  for (std::size_t c = 0; c < all.curves().size(); ++c) {
    const ObservedCurve& a = all.curves()[c];
    const ObservedCurve& b = back.curves()[c];
    CHECK(b.mean.name == a.mean.name);
    CHECK(b.mean.x_name == a.mean.x_name);
    CHECK(b.replicates == a.replicates);
    CHECK(same_bits(b.mean.x, a.mean.x));
    CHECK(same_bits(b.mean.y, a.mean.y));
    REQUIRE(b.values.size() == a.values.size());
    for (std::size_t k = 0; k < a.values.size(); ++k) {
      for (std::size_t r = 0; r < a.values[k].size(); ++r) {
        const bool both_failed = std::isnan(a.values[k][r]) && std::isnan(b.values[k][r]);
        CHECK((both_failed || same_bits({a.values[k][r]}, {b.values[k][r]})));
      }
    }
  }
  // The coordinates keep their type and order.
  CHECK(back.curves()[0].mean.point == joined(coordinates, {{"lambda", 0.1}}));
}

TEST_CASE("read_replicates: a damaged file is named with its line", "[app][results]") {
  const toy::Folder folder;
  const auto error = [&](const std::string& text) {
    return message_of([&] { read_replicates(folder.write("r.csv", text)); });
  };
  const std::string head = "study,series,x_name,x,replicate,value\n";
  CHECK_THAT(error(""), Catch::Contains("r.csv:1: damaged"));
  CHECK_THAT(error("a,b\n"), Catch::Contains("r.csv:1: damaged"));
  CHECK_THAT(error(head + "t,y,x,1,0,2\nt,y,x,1,1\n"), Catch::Contains("r.csv:3: damaged"));
  CHECK_THAT(error(head + "t,y,x,one,0,2\n"), Catch::Contains("r.csv:2: damaged"));
  CHECK_THAT(error(head + "t,y,x,1,0,2 \n"), Catch::Contains("r.csv:2: damaged"));
  CHECK(error(head + "t,y,x,1,0,2\n") == "(no error)");
  // Cut inside the last number, which would still be one; rows twice, at once or later.
  CHECK_THAT(error(head + "t,y,x,1,0,2.5"),
             Catch::Contains("r.csv:2: ") && Catch::Contains("no end"));
  CHECK_THAT(error(head + "t,y,x,1,0,2\nt,y,x,1,0,2\n"), Catch::Contains("r.csv:3: damaged"));
  CHECK_THAT(error(head + "t,y,x,1,1,2\nt,y,x,1,0,2\n"), Catch::Contains("out of order"));
  CHECK_THAT(error(head + "t,y,x,1,0,2\nt,y,x,2,0,2\nt,y,x,1,1,2\n"),
             Catch::Contains("r.csv:4: damaged"));
}

TEST_CASE("results.csv: theory, then means; no error bar is claimed where there is none",
          "[app][results]") {
  Replicates all;
  all.add(part_with(0, {observation(1, 1), observation(1, 3)}), {});
  all.add(part_with(0, {observation(2, 5)}), {});
  all.add(part_with(0, {{.series = {{"y", {{"lambda", 0.1}}, "x", {3}, {kNaN}}}, .failed = true}}),
          {});
  all.finish();
  const Prediction theory{
      .series = {
          .name = "y", .point = {{"lambda", 0.1}}, .x_name = "x", .x = {1, 2}, .y = {2, 0.1}}};
  CHECK(results_csv("t", std::vector{theory}, &all) ==
        "study,series,kind,lambda,x_name,x,mean,sem,sd,n\n"
        "t,y,theory,0.1,x,1,2,,,\n"
        "t,y,theory,0.1,x,2,0.1,,,\n"
        "t,y,sim,0.1,x,1,2,1,1.4142135623730951,2\n"
        "t,y,sim,0.1,x,2,5,,,1\n"
        "t,y,sim,0.1,x,3,,,,0\n");
  const auto curves = recorded_curves(std::vector{theory}, all);
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].theory);
  CHECK(curves[1].mean.x == std::vector<double>{1, 2});  // the failed point has no mean to draw
  CHECK(curves[1].n == std::vector<std::size_t>{2, 1});
}

TEST_CASE("tables: a coordinate that is called as a column has one of its own", "[app][results]") {
  const toy::Folder folder;
  const Point point{{"value", std::string("block")}, {"n", 3.0}, {"point_x", 2.0}, {"loss", 1.0}};
  Replicates all;
  all.add(part_with(0,
                    {{.series = {{"y", point, "x", {1}, {0.5}}}},
                     {.series = {{"y", point, "x", {1}, {0.7}}}}}),
          {});
  all.finish();
  const std::string table = replicates_csv("toy", all);
  CHECK(table.starts_with(
      "study,series,point_value,point_n,point_point_x,loss,x_name,x,replicate,value\n"));
  CHECK_THAT(
      results_csv("toy", {}, &all),
      Catch::StartsWith(
          "study,series,kind,point_value,point_n,point_point_x,loss,x_name,x,mean,sem,sd,n\n"));
  write_atomically(folder / "replicates.csv", table);
  CHECK(read_replicates(folder / "replicates.csv").curves().front().mean.point == point);
}

}  // namespace results_test
