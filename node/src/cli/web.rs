//! `web`: a link to the node's web pages.

use super::context::Context;
use super::error::{CliError, During as _};
use crate::api::types::{LinkRequest, Scope, WebLink};
use crate::keys::{KeyFileError, write_secret};
use clap::Args;
use maud::{DOCTYPE, html};
use std::fs;
use std::path::Path;

/// Print a link that opens this node's web pages once
#[derive(Clone, Debug, Args)]
pub(super) struct WebArgs {
    /// What the session may do: read, trade, operate or admin
    #[arg(long, default_value = "admin", value_parser = Scope::parse)]
    scope: Scope,
    /// Write a page that leads to the link, for this user alone, and print its path: what a
    /// program's command line says, every user of the machine can read
    #[arg(long)]
    open: bool,
}

impl WebArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let asked = LinkRequest { scope: self.scope };
            let link = at.client()?.post("/web/links", &asked, None).await;
            let link: WebLink = link.during("there is no link to the web pages")?;
            match self.open {
                true => {
                    let path = at.home.path().join(PAGE);
                    written(&path, &link).during("there is no page that leads to the link")?;
                    at.show(&path, |path| format!("{}\n", path.display()))
                }
                false => at.tell(&link, table),
            }
        })
    }
}

/// The page that leads to the last link, in the data folder.
const PAGE: &str = "web.html";

/// Writes the page that leads to a link.
fn written(path: &Path, link: &WebLink) -> Result<(), KeyFileError> {
    // That of an earlier link.
    let _ = fs::remove_file(path);
    let refresh = format!("0;url={}", link.url);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content=(refresh);
                title { "gridbay" }
            }
            body { a href=(link.url) { "To the pages of this node" } }
        }
    };
    write_secret(path, page.into_string())
}

fn table(link: &WebLink) -> String {
    format!(
        "{}\nOpen it on this machine within {} minutes; it works once. \
         The session lasts {} hours and may {}.\n",
        link.url,
        link.link_seconds / 60,
        link.session_seconds / 3_600,
        link.scope.about()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_link_is_told_with_its_bounds() {
        let link = WebLink {
            url: "http://gridbay-0.localhost:1/login?link=ab".to_owned(),
            scope: Scope::Read,
            link_seconds: 600,
            session_seconds: 86_400,
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PAGE);
        for _ in 0..2 {
            written(&path, &link).unwrap();
            let page = fs::read_to_string(&path).unwrap();
            assert!(
                page.contains(&format!("content=\"0;url={}\"", link.url)),
                "{page}"
            );
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
        let text = table(&link);
        assert!(
            text.starts_with("http://gridbay-0.localhost:1/login?link=ab\n"),
            "{text}"
        );
        assert!(
            text.contains("10 minutes") && text.contains("24 hours"),
            "{text}"
        );
    }
}
