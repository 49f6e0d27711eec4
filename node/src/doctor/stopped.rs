//! The facts that a folder tells, with a running node or without.

use super::{Finding, Kind};

/// Facts that need no node.
#[derive(Clone, Debug, Default)]
pub struct Stopped {
    /// The data folder.
    pub folder: String,
    /// Why the settings cannot be used.
    pub settings: Option<String>,
    /// Whether the folder belongs to a network.
    pub member: bool,
    /// Why no node answers, if none does.
    pub silent: Option<String>,
    /// Addresses to listen on that cannot be opened, with the reason; looked at only while no node
    /// answers.
    pub closed: Vec<(String, String)>,
    /// Names of hosts in the settings that cannot be resolved.
    pub unresolved: Vec<String>,
}

/// The findings from these facts.
pub fn stopped(facts: &Stopped) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(error) = &facts.settings {
        found.push(Finding::new(
            Kind::Settings,
            "the settings cannot be used",
            error,
            "gridbay config show tells each setting and where it comes from",
        ));
    }
    if !facts.member {
        found.push(Finding::new(
            Kind::NoNetwork,
            "this folder belongs to no network",
            format!("{} holds neither a genesis nor an invitation", facts.folder),
            "gridbay join --file INVITATION; ask any member for one, or name another folder with --data",
        ));
    }
    if let Some(why) = facts.silent.as_ref().filter(|_| facts.member) {
        found.push(Finding::new(
            Kind::NotRunning,
            "the node does not run",
            why,
            "gridbay node up; if it ends at once, its last lines tell why",
        ));
    }
    for (address, why) in &facts.closed {
        found.push(Finding::new(
            Kind::PortInUse,
            format!("the node cannot listen on {address}"),
            why,
            "end the program that has the port (ss -tulpn shows it), or choose another one with the setting `listen`",
        ));
    }
    for name in &facts.unresolved {
        found.push(Finding::new(
            Kind::NameUnresolved,
            format!("the name {name} cannot be resolved"),
            "it stands in `bootstrap` or `external`, and the name service knows no address of it",
            "see to the name service of this machine, correct the name, or give the address in numbers",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fact_has_its_finding() {
        let well = Stopped {
            member: true,
            ..Stopped::default()
        };
        let some = || Some("why".to_owned());
        let closed = vec![("/ip4/0.0.0.0/tcp/1".to_owned(), "in use".to_owned())];
        let table: [(Stopped, &[Kind]); 6] = [
            (well.clone(), &[]),
            (Stopped::default(), &[Kind::NoNetwork]),
            (
                Stopped {
                    settings: some(),
                    ..well.clone()
                },
                &[Kind::Settings],
            ),
            (
                Stopped {
                    silent: some(),
                    closed,
                    ..well.clone()
                },
                &[Kind::NotRunning, Kind::PortInUse],
            ),
            (
                Stopped {
                    silent: some(),
                    ..Stopped::default()
                },
                &[Kind::NoNetwork],
            ),
            (
                Stopped {
                    unresolved: vec!["a.example".to_owned()],
                    ..well
                },
                &[Kind::NameUnresolved],
            ),
        ];
        for (facts, kinds) in table {
            let found: Vec<Kind> = stopped(&facts).iter().map(|f| f.kind).collect();
            assert_eq!(found, kinds, "{facts:?}");
        }
    }
}
