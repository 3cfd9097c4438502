#include "kernevo/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>

namespace kernevo::cli {

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Option* Option::check(Check check) {
  switch (check) {
  case Check::positive: option_->check(CLI::PositiveNumber); break;
  case Check::not_negative: option_->check(CLI::NonNegativeNumber); break;
  case Check::existing_folder: option_->check(CLI::ExistingDirectory); break;
  case Check::existing_path: option_->check(CLI::ExistingPath); break;
  }
  return this;
}

Option* Option::in_range(int low, int high) {
  option_->check(CLI::Range(low, high));
  return this;
}

Option* Option::in_range(double low, double high) {
  option_->check(CLI::Range(low, high));
  return this;
}

Option* Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return this;
}

Option* Option::allow_extra_args(bool allow) {
  option_->allow_extra_args(allow);
  return this;
}

Option* Option::delimiter(char delimiter) {
  option_->delimiter(delimiter);
  return this;
}

Option* Option::group(const std::string& name) {
  option_->group(name);
  return this;
}

CommandLine::CommandLine(const std::string& description, const std::string& program,
                         const std::string& version)
    : program_(std::make_unique<CLI::App>(description, program)), app_(program_.get()) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
}

CommandLine::CommandLine(CLI::App* command) : app_(command) {}

CommandLine::~CommandLine() = default;

Option* CommandLine::keep(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

CommandLine* CommandLine::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App* command = app_->add_subcommand(name, description);
  return subcommands_.emplace_back(std::unique_ptr<CommandLine>(new CommandLine(command))).get();
}

Option* CommandLine::add_flag(const std::string& names, bool& value,
                              const std::string& description) {
  return keep(app_->add_flag(names, value, description));
}

template <class T>
Option* CommandLine::add_option(const std::string& names, T& value,
                                const std::string& description) {
  return keep(app_->add_option(names, value, description));
}

template Option* CommandLine::add_option(const std::string&, int&, const std::string&);
template Option* CommandLine::add_option(const std::string&, unsigned&, const std::string&);
template Option* CommandLine::add_option(const std::string&, std::int64_t&, const std::string&);
template Option* CommandLine::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* CommandLine::add_option(const std::string&, double&, const std::string&);
template Option* CommandLine::add_option(const std::string&, std::string&, const std::string&);
template Option* CommandLine::add_option(const std::string&, std::optional<int>&,
                                         const std::string&);
template Option* CommandLine::add_option(const std::string&, std::optional<std::int64_t>&,
                                         const std::string&);
template Option* CommandLine::add_option(const std::string&, std::optional<std::uint64_t>&,
                                         const std::string&);
template Option* CommandLine::add_option(const std::string&, std::optional<double>&,
                                         const std::string&);
template Option* CommandLine::add_option(const std::string&, std::optional<std::string>&,
                                         const std::string&);
template Option* CommandLine::add_option(const std::string&, std::vector<std::string>&,
                                         const std::string&);
template Option* CommandLine::add_option(const std::string&, std::vector<unsigned>&,
                                         const std::string&);

void CommandLine::footer(const std::string& text) {
  app_->footer(text);
}

ParsedArguments CommandLine::parse(int argc, char** argv) {
  ParsedArguments parsed;
  try {
    app_->parse(argc, argv);
    parsed.command = app_->get_subcommands().front()->get_name();
  } catch (const CLI::Success& wanted) { // --help, --version
    app_->exit(wanted);
    parsed.answered = true;
  } catch (const CLI::ParseError& problem) {
    parsed.problem = problem.what();
    std::replace(parsed.problem.begin(), parsed.problem.end(), '\n', ' ');
  }
  return parsed;
}

std::vector<std::string> CommandLine::subcommands() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> CommandLine::given_options() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options())
    if (option->count() > 0)
      names.push_back(option->get_name());
  return names;
}

} // namespace kernevo::cli
