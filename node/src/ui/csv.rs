//! Records of values between commas (RFC 4180), for spreadsheets.

/// One record without its line end. Names come from strangers: a value that a spreadsheet would
/// compute has a quotation mark before it; a negative number, and a dash alone, are none.
pub fn record<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let values: Vec<String> = values.into_iter().map(value).collect();
    values.join(",")
}

fn value(text: &str) -> String {
    let number = text.strip_prefix('-').unwrap_or(text);
    let is_number = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let text = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_neither_broken_nor_computed() {
        for (text, wanted) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\nb", "\"a\nb\""),
            ("=1+1", "'=1+1"),
            ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
            ("-1", "-1"),
            ("-a", "'-a"),
            ("-cmd", "'-cmd"),
            ("-1e5", "'-1e5"),
            ("+1", "'+1"),
            ("@x,y", "\"'@x,y\""),
            ("@x,\n", "\"'@x,\n\""),
            ("-x", "'-x"),
            ("-1.5", "-1.5"),
            ("-", "-"),
            ("", ""),
        ] {
            assert_eq!(value(text), wanted, "{text:?}");
        }
        assert_eq!(record(["a", "", "=b"]), "a,,'=b");
    }
}
