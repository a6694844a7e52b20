//! Runs as people and scripts start, follow, answer and end them: the real binary, several processes, one folder.

mod again;
mod crowded;
mod detached;
mod elsewhere;
mod looking;
mod process;
mod programs;
mod pushing;
mod queues;
mod repair;
mod serving;
mod shared;
mod single;
mod stopped;
