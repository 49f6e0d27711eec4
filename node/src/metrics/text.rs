//! Prometheus' text form, as it grows.

use super::catalogue::CATALOGUE;
use super::histogram::Histogram;
use std::fmt::{Display, Write as _};

/// The text as it grows.
#[derive(Default)]
pub(super) struct Text(pub(super) String);

impl Text {
    /// Begins a metric.
    pub(super) fn head(&mut self, name: &str) {
        let of = |line: &'static str| line.strip_prefix(name)?.strip_prefix(' ')?.split_once(' ');
        if let Some((kind, help)) = CATALOGUE.lines().find_map(of) {
            // Writing to a string cannot fail.
            let _fine = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        }
    }
    /// A metric of one value.
    pub(super) fn value(&mut self, name: &str, value: impl Display) {
        self.head(name);
        let _fine = writeln!(self.0, "{name} {value}");
    }
    /// A metric with a value for each value of its label.
    pub(super) fn by<L: AsRef<str>, V: Display>(
        &mut self,
        (name, label): (&str, &str),
        values: impl IntoIterator<Item = (L, V)>,
    ) {
        self.head(name);
        for (of, value) in values {
            self.labelled(name, [(label, of.as_ref())], value);
        }
    }
    /// A value under labels.
    pub(super) fn labelled<const N: usize>(
        &mut self,
        name: &str,
        labels: [(&str, &str); N],
        value: impl Display,
    ) {
        let labels = labels.map(|(label, of)| format!("{label}=\"{}\"", escaped(of)));
        let _fine = writeln!(self.0, "{name}{{{}}} {value}", labels.join(","));
    }
    /// Times.
    pub(super) fn times(&mut self, name: &str, times: &Histogram) {
        self.head(name);
        let read = times.read();
        let bucket = format!("{name}_bucket");
        for (bound, count) in read.up_to {
            self.labelled(&bucket, [("le", &seconds(bound))], count);
        }
        self.labelled(&bucket, [("le", "+Inf")], read.count);
        let (sum, count) = (seconds(read.sum), read.count);
        let _fine = writeln!(self.0, "{name}_sum {sum}\n{name}_count {count}");
    }
}

/// Microseconds as seconds, exactly, without noughts at the end.
pub(super) fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn labels_are_escaped() {
        let mut text = Text::default();
        text.labelled("m", [("class", "a\"b\\c")], 1);
        assert_eq!(text.0, "m{class=\"a\\\"b\\\\c\"} 1\n");
    }

    #[test]
    fn times_are_told_in_seconds() {
        let (mut text, times) = (Text::default(), Histogram::new(&[5_000, 10_000_000]));
        for ms in [4, 2_500, 60_000] {
            times.observe(Duration::from_millis(ms));
        }
        text.times("m_seconds", &times);
        let lines = "m_seconds_bucket{le=\"0.005\"} 1\nm_seconds_bucket{le=\"10\"} 2\n\
            m_seconds_bucket{le=\"+Inf\"} 3\nm_seconds_sum 62.504\nm_seconds_count 3\n";
        assert_eq!(text.0, lines);
    }
}
