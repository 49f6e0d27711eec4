//! The status screen: 80 columns, 25 rows, plain text.
//!
//! 1. The first row names the appliance and its state; reason, hint and notes follow.
//! 2. Then come the figures, one a row.
//! 3. Once the node has a key, a QR code of it stands on the right, as long as the text still fits
//!    beside it. Text beside it is wrapped to what is left.
//! 4. Before that, how to provide an invitation is part of the hint.
//! 5. The last row is left empty, so that no terminal scrolls.

mod qr;

use crate::status::Status;

/// Columns of the screen; the last one stays empty, so that no terminal wraps.
pub const COLUMNS: usize = 79;
/// Rows of the screen.
pub const ROWS: usize = 24;
/// Clears a terminal and hides its cursor.
pub const CLEAR: &str = "\x1b[?25l\x1b[H\x1b[2J";
/// Rows above the code.
const HEAD: usize = 2;
const NAMES: usize = 9;

/// The screen's rows.
pub fn draw(status: &Status) -> Vec<String> {
    let code = qr::code(&format!("gridbay-node:{}", status.node)).filter(|_| has_key(status));
    let with_code = code.and_then(|code| beside(status, &code));
    with_code.unwrap_or_else(|| {
        let mut rows = vec![head(status), String::new()];
        rows.extend(body(status, COLUMNS));
        rows.truncate(ROWS);
        rows
    })
}

fn has_key(status: &Status) -> bool {
    status.node.len() == 64 && status.node.bytes().all(|b| b.is_ascii_hexdigit())
}

fn head(status: &Status) -> String {
    let title = format!("gridbay appliance {}", status.version);
    let state = status.state.to_uppercase();
    let room = COLUMNS.saturating_sub(state.len() + 1);
    let title: String = title.chars().take(room).collect();
    format!("{title:<room$} {state}")
}

/// Text on the left, code on the right, if both fit.
fn beside(status: &Status, code: &[String]) -> Option<Vec<String>> {
    let width = code.first()?.chars().count();
    let left = COLUMNS.checked_sub(width + 1).filter(|left| *left >= 30)?;
    let text = body(status, left);
    let rows = text.len().max(code.len());
    if rows + HEAD > ROWS {
        return None;
    }
    let row = |index: usize| {
        let text = text.get(index).map_or("", String::as_str);
        match code.get(index) {
            Some(code) => format!("{text:<left$} {code}"),
            None => text.to_owned(),
        }
    };
    let mut drawn = vec![head(status), String::new()];
    drawn.extend((0..rows).map(row));
    Some(drawn)
}

fn body(status: &Status, width: usize) -> Vec<String> {
    let mut rows = wrapped("", &status.reason, width);
    rows.extend(wrapped("try: ", &status.hint, width));
    for note in &status.notes {
        rows.extend(wrapped("note: ", &note.reason, width));
        rows.extend(wrapped("try: ", &note.hint, width));
    }
    rows.push(String::new());
    for (name, value) in status.fields() {
        rows.extend(wrapped(&format!("{name:<NAMES$}"), &value, width));
    }
    rows
}

/// A text after a lead, broken at spaces where it can be; later rows are set in as far as the lead
/// is long.
fn wrapped(lead: &str, text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(lead.len()).max(1);
    let mut rows: Vec<String> = Vec::new();
    let mut row = String::new();
    for word in text.split_whitespace() {
        let mut word = word;
        if !row.is_empty() && row.len() + 1 + word.len() > room {
            rows.push(std::mem::take(&mut row));
        }
        while word.len() > room {
            // Texts of a status are ASCII, so each byte is a character.
            let Some((start, rest)) = word.split_at_checked(room) else {
                break;
            };
            rows.push(start.to_owned());
            word = rest;
        }
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(word);
    }
    if !row.is_empty() {
        rows.push(row);
    }
    let indent = " ".repeat(lead.len());
    let lead_of = |index: usize| if index == 0 { lead } else { indent.as_str() };
    rows.iter()
        .enumerate()
        .map(|(index, row)| format!("{}{row}", lead_of(index)))
        .collect()
}

#[cfg(test)]
mod tests;
