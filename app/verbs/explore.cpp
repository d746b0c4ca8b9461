/// @file
/// @brief `attica explore`: a page with every parameter under the hand and the theory redrawn,
/// served to this machine only, or written as a file.

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <random>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/figures/explore_page.hpp"
#include "attica/app/figures/explore_subject.hpp"
#include "attica/app/run/child_run.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/verbs/verbs.hpp"

namespace attica::app {

namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr std::size_t kLongestBody = 1 << 24;  // tables are loaded in the page
constexpr std::size_t kMostParameters = 3;
constexpr std::size_t kMostTheories = 4096;

/// 128 random bits from the system, in hexadecimal.
std::string random_word() {
  std::random_device device;
  std::string word;
  constexpr int kDraws = 4;
  for (int i = 0; i < kDraws; ++i) word += fmt::format("{:08x}", device());
  return word;
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

/// The object that a request holds.
Json object_in(const std::string& body) {
  const Json object = Json::parse(body, nullptr, false);
  if (!object.is_object()) throw Error(ErrorKind::input, "expected an object of keys and values");
  return object;
}

/// A run at the values that the page sends, told line by line: {"progress": "45 %, ..."} while it
/// lasts, then an overlay, or {"error"}. When the page is left or says stop, so does the run.
class Simulation {
 public:
  Simulation(const Options& options, const Subject& subject)
      : launcher_(launcher(options.command_line)),
        out_(options.out.value_or("runs")),
        name_(options.name),
        threads_(options.threads),
        subject_(subject) {}

  void answer(const httplib::Request& in, httplib::Response& out) {
    std::vector<std::string> words = subject_.simulation(object_in(in.body));
    auto one = std::make_shared<std::unique_lock<std::mutex>>(one_at_a_time_, std::try_to_lock);
    if (!one->owns_lock())
      throw Error(ErrorKind::input, "another run of this page is not over yet");
    std::vector<std::string> command = launcher_;
    command.emplace_back("run");
    command.insert(command.end(), words.begin(), words.end());
    command.insert(command.end(), {"--resume", "--json", "--out", out_});
    if (!name_.empty()) command.insert(command.end(), {"--name", name_});
    if (threads_ > 0) command.insert(command.end(), {"--threads", std::to_string(threads_)});
    out.set_chunked_content_provider(
        "application/x-ndjson",
        [this, command = std::move(command), one](std::size_t, httplib::DataSink& sink) {
          const auto tell = [&](const Json& line) {
            const std::string text = dump(line) + "\n";
            return sink.write(text.data(), text.size());
          };
          try {
            const ChildEnd end = run_child(command, [&](const std::string& progress) {
              return tell({{"progress", progress}});
            });
            tell(ending(end));
          } catch (const std::exception& error) {
            tell({{"error", printable(error.what())}});
          }
          one->unlock();
          sink.done();
          return true;
        });
  }

 private:
  Json ending(const ChildEnd& end) const {
    const Json record = Json::parse(end.output, nullptr, false);
    if (!record.is_object() || !record.contains("run")) {
      const std::string said = end.talk.empty() ? "" : ": " + end.talk;
      return {
          {"error", printable(fmt::format("the run ended with exit code {}{}", end.code, said))}};
    }
    Json overlay = subject_.overlay_of_run(record.at("run").get<std::string>());
    overlay["folder"] = record.at("run");
    overlay["verdict"] = record.at("verdict");
    overlay["summary"] = record.value("summary", "");
    return overlay;
  }

  std::vector<std::string> launcher_;
  std::string out_;
  std::string name_;
  int threads_;
  const Subject& subject_;
  std::mutex one_at_a_time_;
};

/// The theories on the grid of --grid, as the page reads them.
Json precomputed(const Options& options, const Subject& subject) {
  if (options.grids.size() > kMostParameters) {
    throw invalid_parameter("--grid",
                            fmt::format("given {} times", options.grids.size()),
                            fmt::format("at most {} parameters", kMostParameters));
  }
  Json grid = Json::array();
  std::vector<Json> points{Json::object()};
  for (const std::string& assignment : options.grids) {
    const Subject::Grid one = subject.grid(assignment);
    for (const Json& other : grid) {
      if (other.at("key") == one.key)
        throw invalid_parameter("--grid", assignment, "every parameter once");
    }
    grid.push_back({{"key", one.key}, {"values", one.values}});
    if (points.size() * one.values.size() > kMostTheories) {
      throw invalid_parameter(
          "--grid", assignment, fmt::format("at most {} theories in all", kMostTheories));
    }
    std::vector<Json> finer;
    for (const Json& point : points) {
      for (const std::string& value : one.values) {
        finer.push_back(point);
        finer.back()[one.key] = value;
      }
    }
    points = std::move(finer);
  }
  // Curves share few x axes: each is written once.
  Json axes = Json::array();
  std::map<std::string, std::size_t> known;
  Json theories = Json::array();
  Progress progress(options.quiet);
  for (std::size_t k = 0; k < points.size(); ++k) {
    try {
      Json series = subject.theory(points[k], TheoryGrid::run).at("series");
      for (Json& curve : series) {
        const auto [axis, is_new] = known.emplace(curve.at("x").dump(), axes.size());
        if (is_new) axes.push_back(curve.at("x"));
        curve["x"] = axis->second;
      }
      theories.push_back({{"series", std::move(series)}});
    } catch (const Error& error) {
      if (points.size() == 1) throw;
      theories.push_back({{"error", printable(error.what())}});
    }
    progress.update(static_cast<double>(k + 1) / static_cast<double>(points.size()));
  }
  Json study = subject.description();
  return {{"study", std::move(study)},
          {"grid", std::move(grid)},
          {"x", std::move(axes)},
          {"theories", std::move(theories)}};
}

int write_page(const Options& options, const Subject& subject) {
  const std::filesystem::path path = options.export_file;
  if (path.extension() != ".html" && path.extension() != ".htm")
    throw invalid_parameter("--export", options.export_file, "a name that ends with .html");
  if (std::filesystem::exists(path)) {
    throw Error(ErrorKind::storage,
                fmt::format("'{}' exists; `attica explore` overwrites nothing", path.string()));
  }
  const Json data = precomputed(options, subject);
  const std::string page = exported_page(data);
  write_atomically(path, page);
  put("{}\n", path.string());
  constexpr double kMega = 1e6;
  remark(options.quiet,
         fmt::format("{} theories, {:.1f} MB; it needs no program and no network",
                     data.at("theories").size(),
                     static_cast<double>(page.size()) / kMega));
  return kExitDone;
}

int serve(const Options& options, httplib::Server& server, int port, const Subject& subject) {
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
                    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                    "frame-ancestors 'none'",
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
    out.set_content(explore_page(nonce), "text/html; charset=utf-8");
  });
  server.Get(root + "study.json", [&](const httplib::Request&, httplib::Response& out) {
    out.set_content(dump(subject.description()), "application/json");
  });
  using Answer = std::function<void(const httplib::Request&, httplib::Response&)>;
  const auto post = [&](const std::string& name, const Answer& answer) {
    server.Post(root + name, [answer](const httplib::Request& in, httplib::Response& out) {
      try {
        answer(in, out);
      } catch (const std::exception& error) {
        out.status = 400;
        out.set_content(dump({{"error", printable(error.what())}}), "application/json");
      }
    });
  };
  std::mutex one_at_a_time;
  for (const auto& [name, grid] :
       {std::pair{"theory", TheoryGrid::requested}, std::pair{"curves", TheoryGrid::run}}) {
    post(name, [&, grid = grid](const httplib::Request& in, httplib::Response& out) {
      const std::lock_guard lock(one_at_a_time);
      out.set_content(dump(subject.theory(object_in(in.body), grid)), "application/json");
    });
  }
  post("figure", [&](const httplib::Request& in, httplib::Response& out) {
    const std::lock_guard lock(one_at_a_time);
    const Json asked = object_in(in.body);
    out.set_content(dump({{"svg",
                           subject.figure(asked.value("values", Json::object()),
                                          asked.value("overlays", Json::array()))}}),
                    "application/json");
  });
  post("overlay", [&](const httplib::Request& in, httplib::Response& out) {
    const Json asked = object_in(in.body);
    if (!asked.contains("text") || !asked.at("text").is_string())
      throw Error(ErrorKind::input, "expected the text of a table");
    out.set_content(
        dump(subject.overlay_of_table(asked.at("text"), asked.value("name", "the table"))),
        "application/json");
  });
  Simulation simulation(options, subject);
  post("simulate",
       [&](const httplib::Request& in, httplib::Response& out) { simulation.answer(in, out); });
  // Ctrl-C is how it ends, whatever is being computed and whichever connections are open; a run
  // that was started here is told so by the system.
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { ::_exit(kExitDone); });
  put("http://{}{}\n", host, root);
  if (std::fflush(stdout) != 0) throw Error(ErrorKind::storage, "cannot write to standard output");
  remark(options.quiet, "open this address in a browser; Ctrl-C ends it");
  server.listen_after_bind();
  return kExitDone;
}

}  // namespace

int explore_verb(const Options& options, const Registry& registry) {
  if (!options.export_file.empty()) return write_page(options, Subject(options, registry));
  if (!options.grids.empty())
    throw invalid_parameter("--grid", options.grids.front(), "--export FILE.html with it");
  httplib::Server server;
  const int port = bind(server, options.port);  // before the work
  return serve(options, server, port, Subject(options, registry));
}

}  // namespace attica::app
