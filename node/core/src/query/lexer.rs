//! Text to tokens.

use super::QUERY_BYTES;
use super::error::{Problem, QueryError};
use super::value::Value;
use std::fmt;

/// A piece of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or a word of the language.
    Word(String),
    /// A number, size, duration or text.
    Value(Value),
    /// `&&`, `||`, `!`, brackets, commas, comparisons.
    Sign(&'static str),
    /// The end of the text.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Value(value) => write!(f, "{value}"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Signs, longer ones before those that begin them.
const SIGNS: [&str; 14] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")", "[", "]", ",",
];

/// All tokens with the bytes at which they begin; the last is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, QueryError> {
    if text.len() > QUERY_BYTES {
        let problem = Problem::TooLong(text.len());
        return Err(QueryError { at: 0, problem });
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else {
            let (token, length) = token(rest, first).map_err(|(offset, problem)| QueryError {
                at: at + offset,
                problem,
            })?;
            found.push((at, token));
            length
        };
        at += length;
    }
    found.push((text.len(), Token::End));
    Ok(found)
}

type Scanned = Result<(Token, usize), (usize, Problem)>;

fn token(rest: &str, first: char) -> Scanned {
    if first.is_ascii_alphabetic() || first == '_' {
        let word = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
        return Ok((Token::Word(rest[..length].to_owned()), length));
    }
    if first.is_ascii_digit() {
        return number(rest);
    }
    if first == '"' {
        return quoted(rest);
    }
    let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
    match sign {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => Err((0, Problem::Character(first))),
    }
}

fn number(rest: &str) -> Scanned {
    let digit = |c: char| c.is_ascii_digit() || c == '.';
    let end = rest.find(|c| !digit(c)).unwrap_or(rest.len());
    let unit = rest[end..]
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map_or(rest.len(), |length| end + length);
    let (digits, letters) = (&rest[..end], &rest[end..unit]);
    let value = Value::of_number(digits, letters).map_err(|why| {
        let text = rest[..unit].to_owned();
        (0, Problem::Number { text, why })
    })?;
    Ok((Token::Value(value), unit))
}

fn quoted(rest: &str) -> Scanned {
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((Token::Value(Value::Text(text)), at + 1)),
            '\\' => match letters.next() {
                Some((_, plain @ ('"' | '\\'))) => text.push(plain),
                Some(_) => return Err((at, Problem::Escape)),
                None => break,
            },
            plain => text.push(plain),
        }
    }
    Err((0, Problem::OpenText))
}
