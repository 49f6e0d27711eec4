//! Failures as pages: what happened, and what to do.

use super::parts::{Tone, notice};
use super::shell::plain;
use crate::api::{ApiError, ErrorCode};
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};

/// A page, or a failure as one.
pub(super) type Shown = Result<Html<String>, Failure>;

/// A failure of the node that a person reads.
#[derive(Debug)]
pub(super) struct Failure(ApiError);

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Failure {
        Failure(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let title = match self.0.code {
            ErrorCode::NotFound => "Not found",
            ErrorCode::Refused => "Not allowed",
            ErrorCode::Usage => "That is not understood",
            _ => "The node cannot answer this",
        };
        let body = html! {
            (block(&self.0))
            p { a href="/" { "To the overview" } }
        };
        let page = plain(title, &body).into_string();
        (self.0.code.status(), Html(page)).into_response()
    }
}

/// A failure in the place of a block: the rest of the page stays of use.
pub(super) fn block(error: &ApiError) -> Markup {
    notice(Tone::Bad, &sentence(&error.message), &sentence(&error.hint))
}

/// A message as a sentence.
pub(super) fn sentence(text: &str) -> String {
    let text = crate::ui::clean(text.trim());
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return text;
    };
    let end = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    first.to_uppercase().chain(chars).collect::<String>() + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_sentences() {
        assert_eq!(sentence("no such job"), "No such job.");
        assert_eq!(sentence(" done. "), "Done.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn a_failure_is_a_page_with_its_status_and_no_markup_of_others() {
        let error = ApiError::new(ErrorCode::NotFound, "no <b>job</b>", "see <i>it</i>");
        let text = block(&error).into_string();
        assert!(text.contains("No &lt;b&gt;job") && text.contains("See &lt;i&gt;it"));
        assert_eq!(Failure::from(error).into_response().status(), 404);
    }
}
