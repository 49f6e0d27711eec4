//! The fields of the form, as texts.

use serde::Deserialize;

/// What the button that sends says.
pub(super) const SEND: &str = "send";

/// The fields; a browser may leave out any.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Fields {
    pub(super) argv: String,
    pub(super) script: String,
    pub(super) name: String,
    pub(super) class: String,
    pub(super) cpus: String,
    pub(super) memory: String,
    pub(super) disk: String,
    pub(super) nodes: String,
    /// [`ARRAY`] if fewer nodes are of use too.
    pub(super) shape: String,
    pub(super) time: String,
    pub(super) how: String,
    pub(super) max_price: String,
    pub(super) budget: String,
    pub(super) outputs: String,
    /// Name, hash and bytes of the file that goes along and is kept already.
    pub(super) file_name: String,
    pub(super) file_id: String,
    pub(super) file_bytes: String,
    /// Whether that file is to be left out: anything that is not empty.
    pub(super) drop: String,
    /// Id of the job to be.
    pub(super) key: String,
    /// Mark of the fields as they were checked.
    pub(super) mark: String,
    /// Class, price limit and most that the check told.
    pub(super) told_class: String,
    pub(super) told_price: String,
    pub(super) told_most: String,
    /// [`SEND`], or anything to check.
    #[serde(rename = "do")]
    pub(super) deed: String,
}

/// The shape of separate tasks.
pub(super) const ARRAY: &str = "array";

impl Fields {
    /// The terms of the order as they are written.
    fn written(&self) -> [&str; 17] {
        [
            &self.argv,
            &self.script,
            &self.name,
            &self.class,
            &self.cpus,
            &self.memory,
            &self.disk,
            &self.nodes,
            &self.shape,
            &self.time,
            &self.how,
            &self.max_price,
            &self.budget,
            &self.outputs,
            &self.file_name,
            &self.file_id,
            &self.file_bytes,
        ]
    }

    /// Whether nothing was filled in but what the form is opened with.
    pub(super) fn is_blank(&self) -> bool {
        let nothing = self.argv.trim().is_empty() && self.script.trim().is_empty();
        nothing && self.file_name.is_empty() && self.deed.is_empty()
    }

    pub(super) fn wants_to_send(&self) -> bool {
        self.deed == SEND
    }

    /// The mark of these fields and of what was told of them.
    pub(super) fn own_mark(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let told = [&self.told_class, &self.told_price, &self.told_most].map(String::as_str);
        for text in self.written().into_iter().chain(told) {
            // A browser ends lines its own way when it sends them back.
            let text = text.replace("\r\n", "\n");
            hasher.update(&(text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex().chars().take(32).collect()
    }

    /// Whether they are what was checked last.
    pub(super) fn is_as_checked(&self) -> bool {
        self.mark == self.own_mark()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_that_of_every_field() {
        let plain = Fields::default().own_mark();
        let changes: [fn(&mut Fields) -> &mut String; 20] = [
            |f| &mut f.argv,
            |f| &mut f.script,
            |f| &mut f.name,
            |f| &mut f.class,
            |f| &mut f.cpus,
            |f| &mut f.memory,
            |f| &mut f.disk,
            |f| &mut f.nodes,
            |f| &mut f.shape,
            |f| &mut f.time,
            |f| &mut f.how,
            |f| &mut f.max_price,
            |f| &mut f.budget,
            |f| &mut f.outputs,
            |f| &mut f.file_name,
            |f| &mut f.file_id,
            |f| &mut f.file_bytes,
            |f| &mut f.told_class,
            |f| &mut f.told_price,
            |f| &mut f.told_most,
        ];
        for change in changes {
            let mut fields = Fields::default();
            change(&mut fields).push('x');
            assert_ne!(fields.own_mark(), plain);
            fields.mark = fields.own_mark();
            assert!(fields.is_as_checked());
        }
        let lines = |text: &str| Fields {
            script: text.to_owned(),
            ..Fields::default()
        };
        assert_eq!(lines("a\nb").own_mark(), lines("a\r\nb").own_mark());
        assert!(!Fields::default().is_as_checked(), "nothing was checked");
    }
}
