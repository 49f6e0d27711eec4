//! What a rank of a job has written: the end of it.

use crate::api::Answer;
use crate::api::types::{JobId, Stream};
use crate::backend::NodeBackend;
use crate::job::logs::Output;
use crate::web::failure::block;
use crate::web::figures::{bytes, short};
use maud::{Markup, html};

/// Bytes shown at the most, and characters of one line.
const BYTES: usize = 32 * 1024;
const LINE: usize = 2_000;

/// The end of a stream.
pub(super) struct End {
    /// Bytes before it.
    before: u64,
    text: String,
    stderr: bool,
}

impl End {
    /// As it has come to this node.
    pub(super) async fn of(node: &NodeBackend, id: JobId, rank: u32, stderr: bool) -> Answer<End> {
        let stream = if stderr {
            Stream::Stderr
        } else {
            Stream::Stdout
        };
        let which = Output {
            rank,
            stream,
            attempt: None,
        };
        let (before, bytes) = node.log_end(id, which, BYTES).await?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(End {
            before,
            text,
            stderr,
        })
    }
}

/// The lines, or why there are none.
pub(super) fn lines(end: &Answer<End>) -> Markup {
    let end = match end {
        Ok(end) => end,
        Err(error) => return html! { div.panel-body { (block(error)) } },
    };
    if end.text.is_empty() {
        return html! { div.panel-body { p.muted { "Nothing has been written yet." } } };
    }
    html! {
        div.log role="log" tabindex="0" aria-label="End of the output" {
            @if end.before > 0 {
                p.sys { span { (bytes(end.before)) " before this are not shown." } }
            }
            @for line in end.text.lines() {
                p.err[end.stderr] { span { (short(line, LINE)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{ApiError, ErrorCode};

    #[test]
    fn output_of_strangers_is_text() {
        let end = End {
            before: 2_048,
            text: "a\x1b[2J<script>\n</div>&\n".to_owned(),
            stderr: true,
        };
        let shown = lines(&Ok(end)).into_string();
        assert!(shown.contains("2.0 KiB before"), "{shown}");
        assert!(shown.contains("a\u{fffd}[2J&lt;script&gt;"), "{shown}");
        assert!(shown.contains("&lt;/div&gt;&amp;") && shown.contains("class=\"err\""));
    }

    #[test]
    fn no_output_and_no_answer_are_told_apart() {
        let none = End {
            before: 0,
            text: String::new(),
            stderr: false,
        };
        assert!(
            lines(&Ok(none))
                .into_string()
                .contains("Nothing has been written")
        );
        let error = ApiError::new(ErrorCode::NotFound, "the job has no rank 7", "");
        let shown = lines(&Err(error)).into_string();
        assert!(shown.contains("The job has no rank 7."));
    }
}
