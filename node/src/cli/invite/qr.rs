//! QR codes in the terminal: two rows of squares in a line of text, by half blocks.
//!
//! The invitation is written in capitals, which a code of this kind packs most tightly; `join`
//! takes both.

use qrcodegen::{QrCode, QrCodeEcc};

/// Squares of margin that the standard wants.
const MARGIN: i32 = 4;

/// The code of a text, light on dark as most terminals are, or `None` if the text is too long for
/// any.
pub(super) fn code(text: &str) -> Option<String> {
    let code = QrCode::encode_text(&text.to_ascii_uppercase(), QrCodeEcc::Low).ok()?;
    let end = code.size() + MARGIN;
    // Outside of the code everything is light.
    let light = |x: i32, y: i32| !code.get_module(x, y);
    let mut lines = String::new();
    for y in (-MARGIN..end).step_by(2) {
        for x in -MARGIN..end {
            lines.push(match (light(x, y), y + 1 < end && light(x, y + 1)) {
                (true, true) => '\u{2588}',
                (true, false) => '\u{2580}',
                (false, true) => '\u{2584}',
                (false, false) => ' ',
            });
        }
        lines.push('\n');
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The squares of a drawn code that are dark.
    fn dark(text: &str) -> Vec<Vec<bool>> {
        let halves = |line: &str, top: bool| -> Vec<bool> {
            let is_dark = |c| match c {
                '\u{2588}' => false,
                '\u{2580}' => !top,
                '\u{2584}' => top,
                _ => true,
            };
            line.chars().map(is_dark).collect()
        };
        let lines = text.lines();
        lines
            .flat_map(|line| [halves(line, true), halves(line, false)])
            .collect()
    }

    #[test]
    fn the_drawing_is_the_code_within_its_margin() {
        let text = "gridbay1abcdef234567".repeat(20);
        let drawn = dark(&code(&text).unwrap());
        let meant = QrCode::encode_text(&text.to_ascii_uppercase(), QrCodeEcc::Low).unwrap();
        let width = usize::try_from(meant.size() + 2 * MARGIN).unwrap();
        assert!(drawn.len() >= width && drawn[0].len() == width);
        for (y, row) in (-MARGIN..meant.size() + MARGIN).zip(&drawn) {
            for (x, is_dark) in (-MARGIN..).zip(row) {
                assert_eq!(*is_dark, meant.get_module(x, y), "{x} {y}");
            }
        }
    }

    #[test]
    fn capitals_take_the_smaller_code_and_too_long_a_text_has_none() {
        let text = "gridbay1abcdef234567".repeat(40);
        let plain = QrCode::encode_text(&text, QrCodeEcc::Low).unwrap();
        let drawn = code(&text).unwrap();
        let width = drawn.lines().next().unwrap().chars().count();
        assert!(width < usize::try_from(plain.size()).unwrap());
        assert!(code(&"a".repeat(4_297)).is_none());
    }
}
