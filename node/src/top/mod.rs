//! Screens that follow a node, or several, until they are left.
//!
//! A [`Source`] looks again and again and makes a [`Look`]: a head, and sheets of rows. What keys
//! and the mouse do to it, and what of it is on the screen, is pure (`state`, `draw`); one file
//! takes the terminal and gives it back (`screen`), one waits (`shell`).

mod draw;
mod look;
pub mod node;
mod order;
mod places;
mod screen;
pub mod sheets;
mod shell;
mod spark;
mod state;
#[cfg(test)]
mod tests;
mod told;

pub use look::{Look, Mark, Row, Sheet};
pub use shell::{Lost, NoScreen, Source, show};
pub use spark::spark;
