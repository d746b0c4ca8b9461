#include "attica/app/run/json.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "app/toy_study.hpp"

using namespace attica;
using namespace attica::app;
using toy::message_of;

TEST_CASE("dump: non-finite numbers are refused wherever they hide", "[app][json]") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), inf, -inf}) {
    CHECK_THROWS_AS(dump(Json(bad)), Error);
    CHECK_THROWS_AS(dump({{"a", {{"b", {1.0, bad}}}}}), Error);
    CHECK_THROWS_AS(dump(to_json(Table{{"a", List{1.0, bad}}})), Error);
  }
  CHECK_THAT(message_of([&] {
               dump({{"a", {{"b", {1.0, inf}}}}});
             }),
             Catch::EndsWith("recorded as a.b.1"));
  CHECK(dump({{"a", 1.5}, {"b", nullptr}}) == R"({"a":1.5,"b":null})");
}

TEST_CASE("dump: numbers read back to the same double, keys keep their order", "[app][json]") {
  for (const double x : {0.1, 1e-300, 5e-324, 1.7976931348623157e308, 1.0 / 3, 123456789.0}) {
    CHECK(Json::parse(dump(Json(x))).get<double>() == x);
  }
  CHECK(dump(to_json(Table{{"z", 1}, {"a", Table{{"y", true}, {"b", "t"}}}})) ==
        R"({"z":1,"a":{"y":true,"b":"t"}})");
}

TEST_CASE("dump: text that is not UTF-8 becomes valid JSON", "[app][json]") {
  const std::string text = dump(Json{{"column", "caf\xe9"}});
  CHECK(Json::parse(text)["column"] == "caf\xef\xbf\xbd");
}

TEST_CASE("prediction_from: inverse of to_json", "[app][json]") {
  const Prediction p{.series = {.name = "s",
                                .point = {{"lambda", 0.1}, {"model", std::string("factored")}},
                                .x_name = "alpha",
                                .x = {0.1, 0.2},
                                .y = {1.0 / 3, 2}},
                     .finite_size = {0.1, 0.2},
                     .numerical_error = {1e-12, 0},
                     .compared = {true, false}};
  const Prediction q = prediction_from(Json::parse(dump(to_json(p))));
  CHECK(q.series.name == p.series.name);
  CHECK(q.series.point == p.series.point);
  CHECK(q.series.x_name == p.series.x_name);
  CHECK(q.series.x == p.series.x);
  CHECK(q.series.y == p.series.y);
  CHECK(q.finite_size == p.finite_size);
  CHECK(q.numerical_error == p.numerical_error);
  CHECK(q.compared == p.compared);
  CHECK(prediction_from(to_json(Prediction{.series = p.series})).compared.empty());
}
