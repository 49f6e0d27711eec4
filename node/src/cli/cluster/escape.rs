//! The way out of a terminal on a rank, as of `ssh`: `~.` at the beginning of a line.
//!
//! 1. At the beginning of a line (and at first) `~` is held back.
//! 2. `~.` leaves, `~~` is one `~`, and any other key follows a `~` that was meant.

/// Where the next key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    LineBegin,
    Tilde,
    Line,
}

/// Keys on their way to the rank.
#[derive(Debug)]
pub(super) struct Escape(At);

impl Escape {
    pub(super) fn new() -> Escape {
        Escape(At::LineBegin)
    }

    /// What goes on of these keys, and whether the user leaves behind it.
    pub(super) fn pass(&mut self, keys: &[u8]) -> (Vec<u8>, bool) {
        let mut on = Vec::with_capacity(keys.len() + 1);
        for key in keys {
            match (self.0, key) {
                (At::LineBegin, b'~') => {
                    self.0 = At::Tilde;
                    continue;
                }
                (At::Tilde, b'.') => return (on, true),
                (At::Tilde, b'~') | (At::LineBegin | At::Line, _) => {}
                (At::Tilde, _) => on.push(b'~'),
            }
            on.push(*key);
            self.0 = match key {
                b'\r' | b'\n' => At::LineBegin,
                _ => At::Line,
            };
        }
        (on, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_and_a_point_begin_a_line_to_leave() {
        let typed = |pieces: &[&str]| {
            let mut escape = Escape::new();
            let passed = pieces.iter().map(|keys| escape.pass(keys.as_bytes()));
            passed.fold((String::new(), false), |(text, left), (on, leaves)| {
                let on = String::from_utf8(on).unwrap();
                (text + &on, left || leaves)
            })
        };
        let goes_on = |text: &str| (text.to_owned(), false);
        let leaves = |text: &str| (text.to_owned(), true);
        assert_eq!(typed(&["~."]), leaves(""));
        assert_eq!(typed(&["ls\r~.rest"]), leaves("ls\r"));
        assert_eq!(typed(&["ls\r", "~", "."]), leaves("ls\r"));
        assert_eq!(typed(&["cd ~.\r"]), goes_on("cd ~.\r"));
        assert_eq!(typed(&["~/x\r"]), goes_on("~/x\r"));
        assert_eq!(typed(&["~\r~."]), leaves("~\r"));
        assert_eq!(typed(&["~~.\r"]), goes_on("~.\r"));
        assert_eq!(typed(&["~~~."]), goes_on("~~."));
    }
}
