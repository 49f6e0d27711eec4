//! Pages that hold together: one title each, links that lead somewhere, all of them in the book.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::files::Source;
use crate::markdown::Page;

const SUMMARY: &str = "docs/SUMMARY.md";

fn pages(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| source.path.ends_with(".md"))
}

/// Pages without exactly one heading of the first level.
pub(crate) fn titles(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in pages(sources) {
        let headings = Page::parse(&source.text).headings;
        let titles = headings.iter().filter(|(_, level, _)| *level == 1).count();
        if titles != 1 {
            findings.push(format!("{}: {titles} titles", source.path));
        }
    }
    findings
}

/// Links to files, folders or anchors that are not there. Links to other sites are not followed.
pub(crate) fn links(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in pages(sources) {
        for (line, target) in Page::parse(&source.text).links {
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !is_elsewhere && !resolves(sources, &source.path, &target) {
                findings.push(format!("{}:{line}: {target} leads nowhere", source.path));
            }
        }
    }
    findings
}

fn resolves(sources: &[Source], from: &str, target: &str) -> bool {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = match (file, destination(from, file)) {
        ("", _) => from.to_owned(),
        (_, Some(path)) => path,
        (_, None) => return false,
    };
    let folder = format!("{path}/");
    let Some(page) = sources.iter().find(|source| source.path == path) else {
        return anchor.is_empty()
            && sources
                .iter()
                .any(|source| source.path.starts_with(&folder));
    };
    anchor.is_empty()
        || Page::parse(&page.text)
            .anchors()
            .iter()
            .any(|found| found == anchor)
}

/// The path, from the root, that a relative link names; none when it leaves the repository.
fn destination(from: &str, link: &str) -> Option<String> {
    let mut path = PathBuf::from(from);
    path.pop();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir if !path.pop() => return None,
            Component::Normal(name) => path.push(name),
            Component::ParentDir | Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path.to_string_lossy().into_owned())
}

/// Pages under `docs/` that the book's table of contents does not list.
pub(crate) fn orphans(sources: &[Source]) -> Vec<String> {
    let Some(summary) = sources.iter().find(|source| source.path == SUMMARY) else {
        return vec![format!("{SUMMARY}: missing")];
    };
    let listed: BTreeSet<_> = Page::parse(&summary.text)
        .links
        .iter()
        .filter_map(|(_, target)| destination(SUMMARY, target))
        .collect();
    let book = pages(sources).filter(|s| s.path.starts_with("docs/") && s.path != SUMMARY);
    let orphans = book.filter(|source| !listed.contains(&source.path));
    orphans
        .map(|source| format!("{}: not in {SUMMARY}", source.path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_or_with_two_titles_is_found() {
        let sample = |text| titles(&[Source::sample("a.md", text)]);
        assert_eq!(sample("# One\n## Part\n"), Vec::<String>::new());
        assert_eq!(sample("## Part\n"), ["a.md: 0 titles"]);
        assert_eq!(sample("# One\n# Two\n"), ["a.md: 2 titles"]);
    }

    #[test]
    fn dead_links_are_found() {
        let target = Source::sample("docs/adr/b.md", "# B\n## Why\n");
        let found = |link: &str| {
            let page = Source::sample("docs/a.md", &format!("# A\n[x]({link})\n"));
            links(&[page, target.clone()]).len()
        };
        for good in [
            "adr/b.md",
            "./adr/b.md#why",
            "#a",
            "../docs/adr",
            "https://a.example/x",
        ] {
            assert_eq!(found(good), 0, "{good}");
        }
        for bad in [
            "b.md",
            "adr/b.md#how",
            "#b",
            "../../c.md",
            "/docs/a.md",
            "adr#why",
        ] {
            assert_eq!(found(bad), 1, "{bad}");
        }
    }

    #[test]
    fn an_orphan_is_found() {
        let summary = Source::sample(SUMMARY, "# S\n- [a](a.md)\n");
        let (a, b) = (
            Source::sample("docs/a.md", "# A"),
            Source::sample("docs/b.md", "# B"),
        );
        assert_eq!(
            orphans(&[summary, a.clone(), b]),
            ["docs/b.md: not in docs/SUMMARY.md"]
        );
        assert_eq!(orphans(&[a]), ["docs/SUMMARY.md: missing"]);
    }
}
