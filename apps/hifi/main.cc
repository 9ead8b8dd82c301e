// hifi: one verb per file, errors as one line and an exit code.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>

#include "command.h"
#include "core/interrupt.h"
#include "core/version.h"
#include "hifi/error.h"

namespace hifi::app {

namespace {

// The first signal asks politely, the second ends the process.
void on_signal(int number) {
  request_interrupt();
  std::signal(number, SIG_DFL);
}

int fail(ErrorCode code, std::string message, const std::string& hint) {
  if (!hint.empty()) message += fmt::format(" ({})", hint);
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "hifi: {}\n", message);
  return static_cast<int>(code);
}

// A flag that no verb knows: worth more than what is missing because of it ("--modle").
std::string unknown_flag(const CLI::App& app) {
  for (const std::string& word : app.remaining(true)) {
    if (word.starts_with("--")) return word;
  }
  return "";
}

int run(int argc, char** argv) {
  CLI::App app(
      "hifi: which inputs a model needs alone, which say the same thing, and which only work together");
  app.set_version_flag("--version", "hifi " + version());
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, Run>> verbs;
  for (const auto& add : {add_demo, add_explain, add_circuit, add_plan, add_resume, add_merge, add_decompose,
                          add_indices, add_verify, add_reproduce}) {
    Run verb = add(app);
    verbs.emplace_back(app.get_subcommands({}).back(), std::move(verb));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const auto named = app.get_subcommands();
    if (named.empty() && argc > 1) {
      return fail(ErrorCode::usage, fmt::format("\"{}\" is no verb of hifi", argv[1]), "see hifi --help");
    }
    if (const auto word = unknown_flag(app); !word.empty()) {
      return fail(ErrorCode::usage, fmt::format("there is no flag {}", word),
                  fmt::format("see hifi {} --help", named.front()->get_name()));
    }
    return fail(ErrorCode::usage, error.what(),
                fmt::format("see hifi {}--help", named.empty() ? "" : named.front()->get_name() + " "));
  }
  for (const auto& [verb, action] : verbs) {
    if (verb->parsed()) action();
  }
  return 0;
}

}  // namespace

}  // namespace hifi::app

int main(int argc, char** argv) {
  using hifi::ErrorCode;
  using hifi::app::fail;
  std::signal(SIGINT, hifi::app::on_signal);
  std::signal(SIGTERM, hifi::app::on_signal);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return hifi::app::run(argc, argv);
  } catch (const hifi::Error& error) {
    return fail(error.code(), error.what(), error.hint());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::input, "out of memory", "lower --max-memory or merge players with --groups");
  } catch (const std::exception& error) {
    return fail(ErrorCode::bug, fmt::format("a bug of ours: {}", error.what()),
                "please report it with the command line");
  }
}
