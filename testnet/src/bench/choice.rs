//! The choice of the attacks of a member and of the foreign client: those named, or all.

use super::spender;
use crate::foreign::Foreign;
use anyhow::ensure;

/// Attacks that are to be run.
pub(super) struct Choice {
    /// Their names, in turn.
    pub(super) names: Vec<String>,
    /// The client that carries out those from outside.
    pub(super) foreign: Option<Foreign>,
    /// Why attacks from outside that are wanted cannot be run.
    pub(super) missing: Option<String>,
    /// Whether no attack was left out by name.
    pub(super) is_all: bool,
}

impl Choice {
    /// The attacks named, or all of them if none is.
    pub(super) async fn of(only: &[String]) -> anyhow::Result<Choice> {
        let (foreign, outside) = match Foreign::find().await {
            Ok(foreign) => {
                let attacks = foreign.attacks().await?;
                (Some(foreign), Ok(attacks))
            }
            Err(missing) => (None, Err(missing)),
        };
        let (names, missing) = choose(only, outside)?;
        Ok(Choice {
            names,
            foreign,
            missing,
            is_all: only.is_empty(),
        })
    }
}

/// Names of the attacks to run, out of the member's and those from outside; and why attacks from
/// outside are wanted and missing.
fn choose(
    only: &[String],
    outside: Result<Vec<String>, String>,
) -> anyhow::Result<(Vec<String>, Option<String>)> {
    let wanted = |name: &String| only.is_empty() || only.contains(name);
    let mut all = vec![spender::NAME.to_owned()];
    let missing = match outside {
        Ok(outside) => {
            all.extend(outside);
            let unknown: Vec<&str> = only
                .iter()
                .filter(|name| !all.contains(name))
                .map(String::as_str)
                .collect();
            ensure!(
                unknown.is_empty(),
                "there is no attack {}; there are {}",
                unknown.join(", "),
                all.join(", ")
            );
            None
        }
        Err(why) => {
            let member_only = !only.is_empty() && only.iter().all(|name| all.contains(name));
            (!member_only).then_some(why)
        }
    };
    all.retain(wanted);
    Ok((all, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn attacks_from_outside_are_missed_unless_only_a_members_are_named() {
        let outside = || Ok(names(&["junk", "mute"]));
        let chosen = choose(&[], outside()).unwrap();
        assert_eq!(chosen, (names(&["member", "junk", "mute"]), None));
        let chosen = choose(&names(&["mute"]), outside()).unwrap();
        assert_eq!(chosen, (names(&["mute"]), None));
        let absent = || Err("no Node.js".to_owned());
        let why = absent().err();
        let chosen = choose(&[], absent()).unwrap();
        assert_eq!(chosen, (names(&["member"]), why.clone()));
        let chosen = choose(&names(&["junk"]), absent()).unwrap();
        assert_eq!(chosen, (Vec::new(), why.clone()));
        let chosen = choose(&names(&["junk", "member"]), absent()).unwrap();
        assert_eq!(chosen, (names(&["member"]), why));
        let chosen = choose(&names(&["member"]), absent()).unwrap();
        assert_eq!(chosen, (names(&["member"]), None));
    }

    #[test]
    fn an_attack_that_there_is_not_is_named() {
        let error = choose(&names(&["jank"]), Ok(names(&["junk"]))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no attack jank; there are member, junk"
        );
    }
}
