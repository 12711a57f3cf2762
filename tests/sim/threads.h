// Threads on the simulated machine. A thread of the program (the reader and the writer of snapshot files) runs only when the
// machine lets it, and then until it waits; the loop stands still meanwhile. So one seed is one run.
//
// threads.cc has std::thread's and std::condition_variable's own functions: a program that links it does not take those of
// the standard library. A wait returns whenever the machine comes by, as a wait may.
#pragma once

namespace mayfly::sim {

// Lets each thread run, one after the other, until it waits or ends. To be called by the loop's thread.
void RunThreads();

}  // namespace mayfly::sim
