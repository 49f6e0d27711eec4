//! Mistakes in a request's JSON, in words that its writer knows: serde speaks of the program's
//! types.

use serde_json::Value;

/// A failure of serde, reworded: what was expected, what was got instead, and where.
pub(super) fn of(error: &str) -> String {
    let (error, place) = match error.rfind(" at line ") {
        Some(at) => error.split_at(at),
        None => (error, ""),
    };
    let error = error.trim_start_matches("Failed to deserialize query string: ");
    let told = match error.split_once(", expected ") {
        Some((got, expected)) if !got.contains("unknown ") => {
            let (got, expected) = (got_in_words(got), expected_in_words(expected));
            format!("expected {expected}, got {got}")
        }
        _ => plain(error),
    };
    format!("{told}{place}")
}

fn got_in_words(got: &str) -> String {
    let kinds = ["invalid type: ", "invalid value: "];
    if let Some(n) = got.strip_prefix("invalid length ") {
        return format!("a list of {n}");
    }
    let got = kinds
        .iter()
        .find_map(|kind| got.strip_prefix(kind))
        .unwrap_or(got);
    match got.split_once(' ').unwrap_or((got, "")) {
        ("map", _) => "an object".to_owned(),
        ("sequence", _) => "a list".to_owned(),
        ("unit" | "null", _) => "null".to_owned(),
        ("string", text) => format!("the text {text}"),
        ("integer" | "boolean", value) => value.trim_matches('`').to_owned(),
        ("floating", value) => {
            let value = value.trim_start_matches("point ").trim_matches('`');
            value.to_owned()
        }
        _ => got.to_owned(),
    }
}

fn expected_in_words(expected: &str) -> String {
    let first = expected.split(' ').find(|word| !["a", "an"].contains(word));
    let words = match first.unwrap_or(expected) {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" | "u128" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" | "i128" => "a whole number",
        "f32" | "f64" => "a number",
        "bool" | "boolean" => "true or false",
        "str" | "borrowed" | "character" => "a text",
        "string" if !expected.contains("map") => "a text",
        "string" | "enum" | "variant" => "a name, or an object with one name",
        "struct" | "map" | "internally" | "adjacently" => "an object",
        "sequence" | "array" | "tuple" | "newtype" => "a list",
        "unit" | "option" => "null",
        _ => return expected.to_owned(),
    };
    words.to_owned()
}

/// Messages that do not tell what was expected, or that need another word.
fn plain(error: &str) -> String {
    let numbers = ["invalid digit", "cannot parse integer", "number too large"];
    if numbers.iter().any(|part| error.contains(part)) {
        let name = error.split_once(": ").map_or("it", |(name, _)| name);
        return format!("{name}: expected a whole number that is not negative");
    }
    if error.contains("did not match any variant") {
        return "the value has none of the forms that are taken here".to_owned();
    }
    error.replace("unknown variant", "unknown name")
}

/// The place in `given` of a list where `understood`, the same as it was understood, has an object:
/// serde takes a list of an object's values for the object, so that a value in a wrong place would
/// pass for another field's.
pub(super) fn list_for_object(given: &Value, understood: &Value) -> Option<String> {
    match (given, understood) {
        (Value::Array(_), Value::Object(_)) => Some(String::new()),
        (Value::Array(given), Value::Array(understood)) => {
            let pairs = given.iter().zip(understood).enumerate();
            pairs
                .filter_map(|(n, (a, b))| Some(format!("[{n}]{}", list_for_object(a, b)?)))
                .next()
        }
        (Value::Object(given), Value::Object(understood)) => {
            let shared = given
                .iter()
                .filter_map(|(k, v)| Some((k, v, understood.get(k)?)));
            shared
                .filter_map(|(key, a, b)| Some(format!(".{key}{}", list_for_object(a, b)?)))
                .next()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_of_the_program_become_words() {
        for (said, told) in [
            (
                "invalid type: string \"x\", expected u32 at line 1 column 9",
                "expected a whole number from 0 to 4294967295, got the text \"x\" at line 1 column 9",
            ),
            (
                "invalid length 0, expected struct Want with 6 elements at line 1 column 2",
                "expected an object, got a list of 0 at line 1 column 2",
            ),
            (
                "invalid type: map, expected a sequence",
                "expected a list, got an object",
            ),
            (
                "invalid value: integer `-1`, expected u8",
                "expected a whole number from 0 to 255, got -1",
            ),
            (
                "invalid type: null, expected internally tagged enum How",
                "expected an object, got null",
            ),
            (
                "missing field `to` at line 1 column 2",
                "missing field `to` at line 1 column 2",
            ),
            (
                "unknown field `al`, expected `all`",
                "unknown field `al`, expected `all`",
            ),
            (
                "Failed to deserialize query string: from: invalid digit found in string",
                "from: expected a whole number that is not negative",
            ),
        ] {
            assert_eq!(of(said), told);
        }
    }

    #[test]
    fn a_list_in_an_objects_place_is_found_at_any_depth() {
        let understood = json!({"want": {"how": {"n": 1}}, "argv": ["a"], "more": [{"x": 1}]});
        let place = |given| list_for_object(&given, &understood);
        assert_eq!(place(json!([1, 2])), Some(String::new()));
        assert_eq!(
            place(json!({"want": {"how": [1]}})),
            Some(".want.how".to_owned())
        );
        assert_eq!(place(json!({"more": [[1]]})), Some(".more[0]".to_owned()));
        assert_eq!(
            place(json!({"want": {"how": {"n": 1}}, "argv": ["a"]})),
            None
        );
    }
}
