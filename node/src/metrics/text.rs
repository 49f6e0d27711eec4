//! Prometheus' text form, as it grows.

use std::fmt::Write as _;

/// The text as it grows.
#[derive(Default)]
pub(super) struct Text(pub(super) String);

impl Text {
    pub(super) fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _fine = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }
    pub(super) fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, "gauge", help);
        let _fine = writeln!(self.0, "{name} {value}");
    }
    pub(super) fn labelled(
        &mut self,
        name: &str,
        label: &str,
        of: &str,
        value: impl std::fmt::Display,
    ) {
        let of = escaped(of);
        let _fine = writeln!(self.0, "{name}{{{label}=\"{of}\"}} {value}");
    }
    /// With two labels.
    pub(super) fn twice(
        &mut self,
        name: &str,
        labels: [(&str, &str); 2],
        value: impl std::fmt::Display,
    ) {
        let [(one, of_one), (two, of_two)] = labels.map(|(label, of)| (label, escaped(of)));
        let labels = format!("{one}=\"{of_one}\",{two}=\"{of_two}\"");
        let _fine = writeln!(self.0, "{name}{{{labels}}} {value}");
    }
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

    #[test]
    fn labels_are_escaped() {
        let mut text = Text::default();
        text.labelled("m", "class", "a\"b\\c", 1);
        assert_eq!(text.0, "m{class=\"a\\\"b\\\\c\"} 1\n");
    }
}
