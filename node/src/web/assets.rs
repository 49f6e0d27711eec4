//! The style and the script, as they lie in `assets/`.

use axum::http::{HeaderName, header};

type File = ([(HeaderName, &'static str); 2], &'static str);

/// A browser asks again after a minute: a node of a newer version is not shown in an old style.
const KEEP: (HeaderName, &str) = (header::CACHE_CONTROL, "private, max-age=60");

pub(super) async fn style() -> File {
    let kind = (header::CONTENT_TYPE, "text/css; charset=utf-8");
    let all = concat!(
        include_str!("assets/gridbay.css"),
        include_str!("assets/forms.css"),
        include_str!("assets/charts.css"),
        include_str!("assets/print.css"),
    );
    ([kind, KEEP], all)
}

pub(super) async fn script() -> File {
    let kind = (header::CONTENT_TYPE, "text/javascript; charset=utf-8");
    ([kind, KEEP], include_str!("assets/gridbay.js"))
}
