//! Whole worlds, in one program because each further one compiles and links the simulator again.

mod banks;
mod coverage;
mod cuts;
mod liars;
mod pace;
mod regressions;
mod secrecy;
mod streams;
