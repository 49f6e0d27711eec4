//! Records of values between commas (RFC 4180), for spreadsheets.

use super::clean;
use serde_json::Value;

/// One record without its line end. Names come from strangers: a value that a spreadsheet would
/// compute has a quotation mark before it; a negative number, and a dash alone, are none.
pub fn record<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let values: Vec<String> = values.into_iter().map(value).collect();
    values.join(",")
}

/// A heading and a record for each value within another that is no list: its name, as in
/// `members.0.name`, and the value.
pub fn named(value: &Value) -> String {
    let mut text = "name,value\n".to_owned();
    name_each(String::new(), value, &mut text);
    text
}

fn name_each(name: String, value: &Value, text: &mut String) {
    let below = |key: &str| match name.is_empty() {
        true => key.to_owned(),
        false => format!("{name}.{key}"),
    };
    let shown = match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                name_each(below(key), value, text);
            }
            return;
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                name_each(below(&index.to_string()), value, text);
            }
            return;
        }
        Value::Null => String::new(),
        Value::String(shown) => clean(shown),
        other => other.to_string(),
    };
    *text += &record([clean(&name).as_str(), &shown]);
    text.push('\n');
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
    fn what_is_no_list_has_its_names() {
        let value = serde_json::json!({
            "state": "ready", "none": null, "peers": 3, "empty": [],
            "members": [{"name": "a,\"b"}, {"name": "=1\n"}],
        });
        let mut lines: Vec<_> = named(&value).lines().map(str::to_owned).collect();
        lines.sort();
        let wanted = [
            "members.0.name,\"a,\"\"b\"",
            "members.1.name,'=1\u{fffd}",
            "name,value",
            "none,",
            "peers,3",
            "state,ready",
        ];
        assert_eq!(lines, wanted);
        assert_eq!(named(&serde_json::json!("x")), "name,value\n,x\n");
    }

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
