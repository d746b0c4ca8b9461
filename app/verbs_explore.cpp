/// @file
/// @brief `attica explore`: a page with every parameter under the hand and the theory redrawn,
/// served to this machine only.

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <optional>
#include <random>

#include "attica/app/exit_codes.hpp"
#include "attica/app/explore_page.hpp"
#include "attica/app/judge_run.hpp"
#include "attica/app/text.hpp"
#include "attica/app/verbs.hpp"
#include "attica/studies/own/study.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr std::size_t kLongestBody = 1 << 20;

/// 128 random bits from the system, in hexadecimal.
std::string random_word() {
  std::random_device device;
  std::string word;
  constexpr int kDraws = 4;
  for (int i = 0; i < kDraws; ++i) word += fmt::format("{:08x}", device());
  return word;
}

std::string_view type_name(ParameterType type) {
  switch (type) {
    case ParameterType::real:
      return "real";
    case ParameterType::integer:
      return "integer";
    case ParameterType::flag:
      return "flag";
    case ParameterType::text:
      return "text";
    case ParameterType::file:
      break;
  }
  return "file";
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// Parameters that the theory can depend on, with the values that the page starts from.
Json parameters_of(const CheckedConfiguration& c) {
  Json list = Json::array();
  const auto add = [&](const Parameter& p, const std::string& key, bool many, std::string value) {
    list.push_back(
        {{"key", key},
         {"type", type_name(p.type)},
         {"list", many},
         {"value", std::move(value)},
         {"fallback", p.fallback && key == p.key ? to_toml(*p.fallback) : ""},
         {"low", number_or_null(p.range.low)},
         {"high", number_or_null(p.range.high)},
         {"range",
          std::isfinite(p.range.low) || std::isfinite(p.range.high) ? p.range.describe(p.name())
                                                                    : ""},
         {"choices", p.choices},
         {"meaning", p.meaning}});
  };
  for (const Parameter& p : all_parameters(*c.study)) {
    const std::string section = p.section();
    if (section == "check" || section == "plot" || section == "figure" || p.key == "sim.replicates")
      continue;
    if (c.is_swept(p.key)) {
      for (const SweptScalar& s : c.swept) {
        if (s.key == p.key) add(p, "sweep." + s.name, true, to_toml(Value(s.values)));
      }
    } else {
      add(p, p.key, p.list, c.values.has(p.key) ? to_toml(c.values.at(p.key)) : "");
    }
  }
  return list;
}

Json axis_of(const Axis& axis) {
  return {{"label", axis.label},
          {"scale", axis.scale == AxisScale::log ? "log" : "linear"},
          {"low", axis.low ? Json(*axis.low) : Json()},
          {"high", axis.high ? Json(*axis.high) : Json()}};
}

/// The panels of the figure that show curves.
Json panels_of(const Figure& figure) {
  Json list = Json::array();
  for (const Panel& panel : figure.panels) {
    if (panel.kind != PanelKind::curves) continue;
    Json layers = Json::array();
    for (const Layer& layer : panel.layers) {
      layers.push_back({{"series", layer.series},
                        {"theory", layer.theory},
                        {"simulation", layer.simulation},
                        {"reference", layer.reference},
                        {"only", to_json(layer.only)}});
    }
    list.push_back({{"x", axis_of(panel.x)},
                    {"y", axis_of(panel.y)},
                    {"x_name", panel.x_name},
                    {"vertical", panel.vertical_marks},
                    {"layers", std::move(layers)}});
  }
  return list;
}

/// The simulated curves of a run, with theory and margin where they were compared.
Json recorded_of(const FigureData& data) {
  Json list = Json::array();
  for (const RecordedCurve& curve : data.curves) {
    if (curve.theory) continue;
    const Series& mean = curve.mean;
    std::vector<double> theory(mean.x.size());
    std::vector<double> margin(mean.x.size());
    for (const ResidualPoint& r : data.residuals) {
      if (r.series != mean.name || r.point != mean.point || r.x_name != mean.x_name) continue;
      const auto at = std::find(mean.x.begin(), mean.x.end(), r.x);
      if (at == mean.x.end()) continue;
      theory[static_cast<std::size_t>(at - mean.x.begin())] = r.theory;
      margin[static_cast<std::size_t>(at - mean.x.begin())] = r.margin;
    }
    Json one = to_json(mean);
    one["sem"] = curve.sem.empty() ? std::vector<double>(mean.x.size()) : curve.sem;
    one["theory"] = theory;
    one["margin"] = margin;
    list.push_back(std::move(one));
  }
  return list;
}

/// What the page is about.
struct Subject {
  ConfigurationRequest request;  ///< theory at the start
  Json study;                    ///< study.json

  Subject(const Options& options, const Registry& registry);
};

Subject::Subject(const Options& options, const Registry& registry) {
  request = {.target = options.target, .preset = options.preset, .overrides = options.overrides};
  const bool is_run = fs::exists(fs::path(options.target) / "run.json");
  std::optional<FinishedRun> run;
  if (is_run) {
    run.emplace(options.target, registry, options.accept_edits);
    request.target = (run->record.path / "config.resolved.toml").string();
  }
  const CheckedConfiguration c = read_configuration(request, registry);
  if (c.study->name == kOwnStudy) {
    throw Error(ErrorKind::input,
                "study 'own' has no parameters of its own to explore: `attica run` and `attica "
                "figure` draw it");
  }
  const Figure figure = c.study->figure(c.values);
  Json panels = panels_of(figure);
  if (panels.empty() || compute_theory(prepare(c), TheoryGrid::requested).predictions.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("study '{}' has no curve of a theory to explore", c.study->name));
  }
  Json arguments = Json::array();
  if (!options.preset.empty()) arguments.insert(arguments.end(), {"--preset", options.preset});
  for (const Override& o : options.overrides)
    arguments.insert(arguments.end(), {"--set", o.assignment});
  study = {{"study", c.study->name},
           {"question", c.study->question},
           {"target", request.target},
           {"arguments", std::move(arguments)},
           {"parameters", parameters_of(c)},
           {"panels", std::move(panels)},
           {"run", ""},
           {"recorded", Json::array()}};
  if (run) {
    const CheckRecord verdict = judge_run(run->record, run->configuration, run->replicates);
    study["run"] = run->record.name + ", " + std::string(describe(verdict.verdict));
    study["recorded"] = recorded_of(figure_data(run->record, run->replicates, verdict));
  }
}

/// The theory at the values that the page sends: {"model.rho": "0.7", ...}, values in TOML.
Json theory_at(const Subject& subject,
               const std::string& body,
               TheoryGrid grid,
               const Registry& registry) {
  const Json values = Json::parse(body, nullptr, false);
  if (!values.is_object()) throw Error(ErrorKind::input, "expected an object of keys and values");
  ConfigurationRequest request = subject.request;
  for (const auto& [key, value] : values.items()) {
    if (!value.is_string())
      throw invalid_parameter(printable(key), dump(value), "text: a value in TOML");
    const std::string assignment = fmt::format("{}={}", key, value.get<std::string>());
    request.overrides.push_back({"--set " + assignment, assignment});
  }
  const Work work = prepare(read_configuration(request, registry));
  return theory_object(work, compute_theory(work, grid));
}

/// Takes a port of this machine, any that is free if `wanted` is 0, and gives its number.
int bind(httplib::Server& server, int wanted) {
  // The library's own options would let two programs share a port, each with some of the requests.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  if (wanted != 0) {
    if (server.bind_to_port(kHost, wanted)) return wanted;
    throw invalid_parameter("--port",
                            std::to_string(wanted),
                            fmt::format("a port of {} that is free and yours to take", kHost));
  }
  const int port = server.bind_to_any_port(kHost);
  if (port <= 0) throw Error(ErrorKind::storage, "no port of this machine can be listened to");
  return port;
}

}  // namespace

int explore_verb(const Options& options, const Registry& registry) {
  httplib::Server server;
  const int port = bind(server, options.port);
  const Subject subject(options, registry);
  const std::string token = random_word();
  const std::string nonce = random_word();
  const std::string root = "/" + token + "/";
  const std::string host = fmt::format("{}:{}", kHost, port);
  server.set_payload_max_length(kLongestBody);
  server.set_default_headers(
      {{"Cache-Control", "no-store"},
       {"Referrer-Policy", "no-referrer"},
       {"X-Content-Type-Options", "nosniff"},
       {"Content-Security-Policy",
        fmt::format("default-src 'none'; script-src 'nonce-{}'; style-src 'unsafe-inline'; "
                    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
                    "'none'",
                    nonce)}});
  // Another page of the browser that guesses the port must not reach the theory: neither by a name
  // of its own for this machine nor as a foreign origin.
  server.set_pre_routing_handler([&](const httplib::Request& in, httplib::Response& out) {
    const std::string origin = in.get_header_value("Origin");
    const bool known =
        in.get_header_value("Host") == host && (origin.empty() || origin == "http://" + host);
    if (known && in.path.starts_with(root)) return httplib::Server::HandlerResponse::Unhandled;
    out.status = known ? 404 : 403;
    out.set_content("not here\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Get(root, [&](const httplib::Request&, httplib::Response& out) {
    std::string page(explore_page());
    const std::string place = "@NONCE@";
    page.replace(page.find(place), place.size(), nonce);
    out.set_content(page, "text/html; charset=utf-8");
  });
  server.Get(root + "study.json", [&](const httplib::Request&, httplib::Response& out) {
    out.set_content(dump(subject.study), "application/json");
  });
  std::mutex one_at_a_time;
  for (const auto& [name, grid] :
       {std::pair{"theory", TheoryGrid::requested}, std::pair{"curves", TheoryGrid::run}}) {
    server.Post(root + name, [&, grid = grid](const httplib::Request& in, httplib::Response& out) {
      try {
        const std::lock_guard lock(one_at_a_time);
        out.set_content(dump(theory_at(subject, in.body, grid, registry)), "application/json");
      } catch (const std::exception& error) {
        out.status = 400;
        out.set_content(dump({{"error", printable(error.what())}}), "application/json");
      }
    });
  }
  // Ctrl-C is how it ends, whatever is being computed and whichever connections are open.
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { ::_exit(kExitDone); });
  fmt::print("http://{}{}\n", host, root);
  if (std::fflush(stdout) != 0) throw Error(ErrorKind::storage, "cannot write to standard output");
  remark(options.quiet, "open this address in a browser; Ctrl-C ends it");
  server.listen_after_bind();
  return kExitDone;
}

}  // namespace attica::app
