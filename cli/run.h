// Running the script that the command line names.
#pragma once
#include "cli/options.h"
#include "cli/output.h"

namespace hopline {

// Name for messages and text of the script: of a file, of standard input or of -s. Throws Error{io}.
struct ScriptText {
  std::string name, text;
};
ScriptText read_script(const Options& options);

// Reads settings and script and runs it. Errors are printed as they are for people. Returns the exit status.
int run(const Options& options, Output& output);

// The whole command, `arguments` without the program's name. Returns the exit status.
int command(std::span<const char* const> arguments, Output& output);

}  // namespace hopline
