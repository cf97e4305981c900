// Sandbox: the layers around a process that runs a student's code.
//
// A grader forks. Its child builds every layer that the machine has, and becomes the student's
// program, so that static initialisers run inside, too. The program is linked statically: it opens
// no file, and its root directory is empty.
//
// Each layer stands alone: a program that breaks one meets the next. The first three need root,
// and Landlock a kernel from 5.13. None needs a user namespace, a mount or a control group, because
// a plain container has none of them. A sanitizer has no layer but kNoNewPrivilege.
#pragma once

#include <string>

namespace depfast::sealed {

enum class Layer : unsigned {
  kEmptyRoot,       // the root directory is empty, and nobody can add to it
  kOwnUser,         // a random user and group, without other groups: no process shares them
  kNoCapabilities,  // not even for a program with a privilege of its own
  kNoNewPrivilege,  // set-user-id programs give none
  kLandlock,        // no path can be opened
  kNoClock,         // see Clock
  kSystemCalls,     // whoever calls anything but the few that a replica needs dies
};
inline constexpr unsigned kWalls = 7;

// For people: "empty root directory".
const char* NameOf(Layer layer);

// A set of layers.
class Layers {
 public:
  bool Has(Layer layer) const { return (bits_ & Bit(layer)) != 0; }
  void Add(Layer layer) { bits_ |= Bit(layer); }
  void Remove(Layer layer) { bits_ &= ~Bit(layer); }
  friend bool operator==(const Layers&, const Layers&) = default;

 private:
  static unsigned Bit(Layer layer) { return 1U << static_cast<unsigned>(layer); }

  unsigned bits_ = 0;
};

// The layers that a child of this process has: found once, by building them in a child.
// Throws std::runtime_error if no child can be made.
const Layers& LayersOfThisMachine();

// A program reads the processor's time-stamp counter without a system call, and so does the C
// library. The kernel can make that a fault. But then it sets a register of the processor whenever
// it switches processes, and a replica's step is two switches: tests would take 50 % longer.
// So a run that looks for nondeterminism has no clock, and the others have.
enum class Clock { kWorks, kFault };

// A program to run in a sandbox, by children of this process.
class Sandbox {
 public:
  // Opens the program at that path, which must be linked statically. Throws std::runtime_error if
  // it cannot be executed: in the sandbox by others than its owner, if kOwnUser is one of them.
  explicit Sandbox(const std::string& program);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // In a child that has just been forked: builds the layers and becomes the program, which gets the
  // descriptors 0 to 4 and no other. Returns only if it cannot: what failed, for a sentence with
  // "could not", or kNoProgram. Makes only system calls: the child of a process with threads may do
  // nothing else.
  const char* Run(char* const* environment, Clock clock) const;

  // The kernel takes the file for no program that can be executed here. That is the fault of its
  // author, who can ask the linker for a strange file.
  static constexpr char kNoProgram[] = "its program cannot be executed";

 private:
  int program_ = -1;
};

// The lowest number for a descriptor that a child needs beside the program's.
inline constexpr int kFirstOwnDescriptor = 16;

}  // namespace depfast::sealed
