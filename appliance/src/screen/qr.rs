//! QR codes of half blocks: two squares above one another in a character, light on dark.

use qrcodegen::{QrCode, QrCodeEcc};

/// Squares of margin. The standard wants four; scanners do with two, and a screen is small.
const MARGIN: i32 = 2;

/// The rows of the code of a text in capitals, which take the least room; `None` if it is too long.
pub(super) fn code(text: &str) -> Option<Vec<String>> {
    let code = QrCode::encode_text(&text.to_ascii_uppercase(), QrCodeEcc::Low).ok()?;
    let end = code.size() + MARGIN;
    // Outside of the code all is light, and below the margin nothing is.
    let light = |x: i32, y: i32| y < end && !code.get_module(x, y);
    let character = |x: i32, y: i32| match (light(x, y), light(x, y + 1)) {
        (true, true) => '\u{2588}',
        (true, false) => '\u{2580}',
        (false, true) => '\u{2584}',
        (false, false) => ' ',
    };
    let row = |y: i32| (-MARGIN..end).map(|x| character(x, y)).collect();
    Some((-MARGIN..end).step_by(2).map(row).collect())
}
