// The command line as commands see it. CLI11 stands behind it, in command_line.cpp alone: its
// header costs seconds in every file that includes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace kernevo::cli {

// What a value must be.
enum class Check { positive, not_negative, existing_folder, existing_path };

class Option {
public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required();
  Option* capture_default_str(); // the help names the variable's present value
  Option* check(Check check);
  Option* in_range(int low, int high);
  Option* in_range(double low, double high);
  Option* one_of(const std::vector<std::string>& values);
  Option* allow_extra_args(bool allow);
  Option* delimiter(char delimiter);
  Option* group(const std::string& name);

private:
  CLI::Option* option_;
};

struct ParsedArguments {
  std::string command;   // that was chosen
  bool answered = false; // --help or --version: it is printed
  std::string problem;   // in one line; empty if there is none
};

// The program, or one of its commands.
class CommandLine {
public:
  CommandLine(const std::string& description, const std::string& program,
              const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CommandLine* add_subcommand(const std::string& name, const std::string& description);
  Option* add_flag(const std::string& names, bool& value, const std::string& description);
  // For the types that command_line.cpp lists. The variable must outlive the parsing.
  template <class T>
  Option* add_option(const std::string& names, T& value, const std::string& description);
  void footer(const std::string& text);

  ParsedArguments parse(int argc, char** argv);
  std::vector<std::string> subcommands() const;
  std::vector<std::string> given_options() const; // one name each

private:
  explicit CommandLine(CLI::App* command);
  Option* keep(CLI::Option* option);

  std::unique_ptr<CLI::App> program_; // empty in a subcommand
  CLI::App* app_;
  std::vector<std::unique_ptr<CommandLine>> subcommands_;
  std::vector<std::unique_ptr<Option>> options_;
};

} // namespace kernevo::cli
