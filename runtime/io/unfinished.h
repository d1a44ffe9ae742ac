// The temporary files of outputs that are being written, for a process that must end at once.
#pragma once
#include <string>

namespace hopline {

void note_unfinished(const std::string& path);
void forget_unfinished(const std::string& path);
// Removes those that exist, folders with what is in them. Waits for no other thread.
void remove_unfinished();

}  // namespace hopline
