//! `top` shows a network of this machine: its nodes side by side, the prices, the last blocks, and
//! what is wrong.

mod blocks;
mod run;
mod sheets;

pub(crate) use run::Run;
