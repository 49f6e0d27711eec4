//! As much of Markdown as the checks need: headings, anchors, links, fenced blocks and prose.

use std::collections::BTreeMap;

/// A page taken apart.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Line, level and text of each heading.
    pub(crate) headings: Vec<(usize, usize, String)>,
    /// Line and target of each link and image.
    pub(crate) links: Vec<(usize, String)>,
    /// Lines of fenced blocks.
    pub(crate) code: Vec<String>,
    /// Number and text of each line outside them.
    pub(crate) prose: Vec<(usize, String)>,
}

impl Page {
    /// Reads a page. Fences are closed by the same mark that opened them.
    pub(crate) fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut fence: Option<&str> = None;
        for (index, line) in text.lines().enumerate() {
            let mark = ["```", "~~~"]
                .into_iter()
                .find(|mark| line.trim_start().starts_with(mark));
            match (fence, mark) {
                (None, Some(_)) => fence = mark,
                (Some(open), Some(mark)) if open == mark => fence = None,
                (Some(_), _) => page.code.push(line.to_owned()),
                (None, None) => page.read_line(index + 1, line),
            }
        }
        page
    }

    fn read_line(&mut self, number: usize, line: &str) {
        self.prose.push((number, line.to_owned()));
        let level = line.chars().take_while(|c| *c == '#').count();
        if let Some(title) = line[level..]
            .strip_prefix(' ')
            .filter(|_| (1..=6).contains(&level))
        {
            self.headings.push((number, level, title.trim().to_owned()));
        }
        let prose = without_code_spans(line);
        let mut rest = prose.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            let target = after.split([')', ' ']).next().unwrap_or_default();
            self.links.push((number, target.to_owned()));
            rest = after;
        }
        if let Some((_, target)) = prose.split_once("]: ").filter(|_| prose.starts_with('[')) {
            self.links.push((number, target.trim().to_owned()));
        }
    }

    /// The anchors that the headings make: lower case, spaces to hyphens, other marks dropped, and
    /// a number behind each repetition.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let mut seen = BTreeMap::<String, usize>::new();
        let mut anchors = Vec::new();
        for (_, _, title) in &self.headings {
            let kept = title.to_lowercase().replace(' ', "-");
            let is_kept = |c: &char| c.is_alphanumeric() || *c == '-' || *c == '_';
            let slug: String = kept.chars().filter(is_kept).collect();
            let count = seen.entry(slug.clone()).or_default();
            anchors.push(if *count == 0 {
                slug
            } else {
                format!("{slug}-{count}")
            });
            *count += 1;
        }
        anchors
    }
}

/// The line with everything between backticks left out.
fn without_code_spans(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_anchors_are_read() {
        let page = Page::parse("# A title\n\n## What's `here`, now?\n## Same\n## Same\n#not\n");
        assert_eq!(page.headings.len(), 4);
        assert_eq!(
            page.anchors(),
            ["a-title", "whats-here-now", "same", "same-1"]
        );
    }

    #[test]
    fn links_are_read_outside_code_only() {
        let text = "[a](b.md) ![c](d.png \"t\") `[e](f.md)`\n[g]: h.md\n```sh\n# [i](j.md)\n```\n";
        let page = Page::parse(text);
        let targets: Vec<_> = page
            .links
            .iter()
            .map(|(_, target)| target.as_str())
            .collect();
        assert_eq!(targets, ["b.md", "d.png", "h.md"]);
        assert_eq!(page.code, ["# [i](j.md)"]);
        assert_eq!(page.headings, []);
    }
}
