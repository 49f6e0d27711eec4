//! One tool, once.

use std::fmt;

/// What one turn of a tool gave; no number where it has no such thing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Turn {
    /// Of the flow.
    pub(crate) mbit: f64,
    /// Seconds of CPU of both ends for each GB.
    pub(crate) cpu_per_gb: f64,
    /// Mean round trip in ms, with nothing else.
    pub(crate) idle_ms: f64,
    /// Mean round trip in ms beside the flow.
    pub(crate) loaded_ms: f64,
    /// Datagrams of 200 bytes that arrived in a second.
    pub(crate) small: f64,
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} Mbit/s", self.mbit)?;
        for (value, unit) in [
            (self.cpu_per_gb, "CPU s/GB"),
            (self.idle_ms, "ms ping"),
            (self.loaded_ms, "ms loaded"),
            (self.small, "small/s"),
        ] {
            if !value.is_nan() {
                write!(f, ", {value:.2} {unit}")?;
            }
        }
        Ok(())
    }
}
