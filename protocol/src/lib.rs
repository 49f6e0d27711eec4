//! What every gridbay node must agree on: types, codec, signatures, election and market mechanisms.

pub mod mechanism;
