//! The gridbay laboratory.
fn main() {}
