//! What founding members may not share.

use crate::cli::member::MemberFile;

/// What two descriptions have in common that each must have of its own.
pub(super) fn repeated(members: &[MemberFile]) -> Option<String> {
    for (at, one) in members.iter().enumerate() {
        for other in members.iter().skip(at + 1) {
            let validator = |m: &MemberFile| m.validator.as_ref().map(|v| v.key);
            let (same, key) = if one.name == other.name {
                return Some(format!("two members have the name {}", one.name));
            } else if one.account_key == other.account_key {
                ("account key", one.account_key)
            } else if one.node == other.node {
                ("transport key", one.node)
            } else if validator(one).is_some() && validator(one) == validator(other) {
                ("validator's key", validator(one)?)
            } else {
                continue;
            };
            let (one, other) = (&one.name, &other.name);
            return Some(format!(
                "members {one} and {other} have the same {same}, {key}"
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::units::Credits;

    fn member(name: &str, account: u8, node: u8) -> MemberFile {
        let key = |n| SecretKey::from_seed(&[n; 32]).public();
        MemberFile {
            name: name.to_owned(),
            account_key: key(account),
            node: key(node),
            addresses: vec![],
            endowment: None,
            credit_line: Credits::ZERO,
            weight: 1,
            validator: None,
        }
    }

    #[test]
    fn what_is_shared_is_named_with_those_who_share_it() {
        let fine = [member("a", 1, 2), member("b", 3, 4)];
        assert_eq!(repeated(&fine), None, "nobody has a validator");
        let [a, b] = fine;
        let of = |c| repeated(&[a.clone(), b.clone(), c]);
        let said = of(member("a", 5, 6)).unwrap();
        assert_eq!(said, "two members have the name a");
        let said = of(member("c", 3, 6)).unwrap();
        assert!(
            said.starts_with("members b and c have the same account key, "),
            "{said}"
        );
        let said = of(member("c", 5, 2)).unwrap();
        assert!(
            said.starts_with("members a and c have the same transport key, "),
            "{said}"
        );
    }
}
