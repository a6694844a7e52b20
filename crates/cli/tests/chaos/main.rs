//! Chaos: the real binary, and everything that a machine does to processes and files on a bad day. One scenario, one file.
//!
//! Nothing sleeps. Tasks say through a pipe that they have started, and the pipe is the clock: a process is
//! killed or stopped after so many lines, not after so much time. Power cuts are out of reach here: what a
//! process has written is in the system's memory, and a test cannot lose that. `order` shows instead that
//! nothing is told to anybody before the disk has confirmed it.

mod claim;
mod crowd;
mod demo;
mod dice;
mod full;
mod kill;
mod limit;
mod nested;
mod order;
mod place;
mod stop;
