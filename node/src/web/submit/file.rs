//! The file that goes along with an order: its name in the job's folder, and what is kept of it.

use super::fields::Fields;
use super::terms::SCRIPT;
use crate::api::limits::FORM_FILE_BYTES;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::failure::usage;
use crate::content::types::Staged;
use crate::ui::is_unseen;
use crate::web::figures::bytes;
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::job::InputFile;

/// Bytes of a name at the most: as many as file systems take.
const NAME: usize = 255;

/// A name as a browser tells it, if it is one in the job's folder itself.
pub(super) fn name(text: &str) -> Answer<String> {
    let wrong = |why: String, hint: &str| Err(usage(format!("the file’s name {why}"), hint));
    if text.len() > NAME {
        let why = format!("has {} bytes, and {NAME} at the most", text.len());
        return wrong(why, "give it a shorter name");
    }
    if text.contains(['/', '\\']) || matches!(text, "" | "." | "..") {
        let why = "leads to another folder".to_owned();
        return wrong(why, "give it a name without / and \\, and choose it again");
    }
    if text.contains(is_unseen) {
        let why = "has characters that cannot be seen".to_owned();
        return wrong(why, "give it a plain name, and choose it again");
    }
    Ok(text.to_owned())
}

/// A refusal of a file with more bytes.
pub(super) fn too_large(most: u64) -> ApiError {
    let most = most.min(FORM_FILE_BYTES);
    let why = format!("a file of a form has {} at the most", bytes(most));
    ApiError::new(ErrorCode::TooLarge, why, "bring it by gridbay run --input")
}

impl Fields {
    /// Tells of the file that goes along from now on: a new one, or that which was kept before
    /// unless it is to be left out.
    pub(super) fn keep(&mut self, new: Option<(String, Staged)>) {
        if let Some((name, staged)) = new {
            self.file_name = name;
            self.file_id = staged.content.to_hex();
            self.file_bytes = staged.bytes.to_string();
        } else if !self.drop.is_empty() {
            self.forget_file();
        }
        self.drop.clear();
    }
    /// No file goes along.
    pub(super) fn forget_file(&mut self) {
        self.file_name.clear();
        self.file_id.clear();
        self.file_bytes.clear();
    }
}

/// The file that goes along, as the job has it beside a script.
pub(super) fn input(fields: &Fields, beside_script: bool) -> Answer<Option<InputFile>> {
    if fields.file_name.is_empty() {
        return Ok(None);
    }
    let path = name(&fields.file_name)?;
    if beside_script && path == SCRIPT {
        let why = "the file and the script have the same name";
        return Err(usage(why, "give the file another name, or leave one out"));
    }
    let content = fields.file_id.parse::<ContentId>().ok();
    let kept = content.zip(fields.file_bytes.parse().ok());
    let (content, bytes) =
        kept.ok_or_else(|| usage("the form does not tell its file", "choose it again"))?;
    Ok(Some(InputFile {
        path,
        content,
        bytes,
        executable: false,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged(byte: u8) -> Staged {
        Staged {
            content: ContentId([byte; 32]),
            bytes: 11,
        }
    }

    #[test]
    fn a_name_stays_in_its_folder() {
        for good in ["a", "data.csv", ".hidden", "a b'\"$", "naïve", "-n", "..."] {
            assert_eq!(name(good).unwrap(), good);
        }
        let long = "x".repeat(5_000);
        for (bad, told) in [
            ("", "another folder"),
            (".", "another folder"),
            ("..", "another folder"),
            ("../a", "another folder"),
            ("/etc/passwd", "another folder"),
            ("C:\\a", "another folder"),
            ("a\0b", "cannot be seen"),
            ("a\nb", "cannot be seen"),
            ("a\u{202e}b", "cannot be seen"),
            (&long, "5000 bytes"),
        ] {
            let error = name(bad).unwrap_err();
            assert!(
                error.message.contains(told) && !error.hint.is_empty(),
                "{bad:?}: {error:?}"
            );
        }
    }

    #[test]
    fn a_file_is_kept_until_it_is_left_out_or_another_comes() {
        let mut fields = Fields::default();
        assert_eq!(input(&fields, false).unwrap(), None);
        fields.keep(Some(("a".to_owned(), staged(1))));
        fields.keep(None);
        let kept = input(&fields, false).unwrap().unwrap();
        assert_eq!(
            (&kept.path[..], kept.content, kept.bytes),
            ("a", ContentId([1; 32]), 11)
        );
        fields.drop = "yes".to_owned();
        fields.keep(Some(("b".to_owned(), staged(2))));
        assert_eq!(
            input(&fields, true).unwrap().unwrap().path,
            "b",
            "the new one stays"
        );
        fields.drop = "yes".to_owned();
        fields.keep(None);
        assert_eq!(input(&fields, false).unwrap(), None);
    }

    #[test]
    fn fields_that_tell_no_file_are_refused() {
        let mut fields = Fields::default();
        fields.keep(Some((SCRIPT.to_owned(), staged(1))));
        assert!(input(&fields, false).unwrap().is_some());
        assert!(input(&fields, true).is_err(), "the script's own name");
        let wrong: [fn(&mut Fields); 4] = [
            |f| f.file_name = "../x".to_owned(),
            |f| f.file_id = "00".to_owned(),
            |f| f.file_bytes = "-1".to_owned(),
            |f| f.file_bytes.clear(),
        ];
        for change in wrong {
            let mut fields = fields.clone();
            change(&mut fields);
            assert!(input(&fields, false).is_err());
        }
    }
}
