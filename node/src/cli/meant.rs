//! A job, cluster, bid or lease as its user names it: by its id, how that begins, or its name. The
//! node knows which one is meant.

use super::files::escape;
use crate::ui::is_unseen;
use gridbay_protocol::limits::NAME_CHARS;
use std::fmt;
use std::str::FromStr;

/// The word. It shows as it stands in addresses of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meant(String);

impl FromStr for Meant {
    type Err = String;
    fn from_str(text: &str) -> Result<Meant, String> {
        let fits = (1..=NAME_CHARS).contains(&text.chars().count());
        // An address takes such a piece for a way up or for none.
        let is_place = ["", ".", ".."].contains(&text.trim());
        match fits && !is_place && !text.contains(is_unseen) {
            true => Ok(Meant(text.to_owned())),
            false => Err("want an id, its beginning, or a name".to_owned()),
        }
    }
}

impl fmt::Display for Meant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&escape(&self.0).replace('/', "%2F"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names_stand_in_addresses() {
        let shown = |text: &str| text.parse::<Meant>().map(|meant| meant.to_string());
        assert_eq!(shown("0123abcd").unwrap(), "0123abcd");
        assert_eq!(shown("v2").unwrap(), "v2");
        assert_eq!(shown("my job/2?").unwrap(), "my%20job%2F2%3F");
        let long = "a".repeat(NAME_CHARS + 1);
        for none in ["", " ", "..", "a\nb", long.as_str()] {
            assert!(shown(none).is_err(), "{none:?}");
        }
    }
}
