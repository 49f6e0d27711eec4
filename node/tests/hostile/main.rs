//! Hostile peers against real overlays on loopback, one attack per file.
//!
//! The honest side is a handful of overlays that trade without pause ([`market`]); an attacker is a
//! libp2p swarm or a raw socket that speaks the network's protocols with malice ([`attacker`]).
//! Every host has an address of its own in 127.0.0.0/8, which Linux lets anybody bind. Each attack
//! is judged by its effect on the honest: trades with and without it are timed in the same run, in
//! turns ([`compare`]). Figures are printed with `--nocapture`.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]
#![allow(clippy::print_stdout, reason = "figures are part of what it is for")]

mod attacker;
mod compare;
#[path = "../four_members/mod.rs"]
mod four_members;
mod lies;
mod market;

mod adverts;
mod dials;
mod discretion;
mod eclipse;
mod flooder;
mod foreign;
mod malformed;
mod meters;
mod mute;
mod oversized;
mod pushes;
mod slow_loris;
mod spam;
mod sybils;
