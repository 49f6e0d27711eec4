//! `federation`: members, validators and rules of the network.

use super::context::Context;
use super::error::{CliError, During as _};
use super::text;
use crate::api::types::{Federation, FederationRules, FederationValidator};
use crate::ui::Table;
use clap::Args;

/// Show the members of the network, who signs its blocks, and its rules
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct FederationArgs {
    /// Show it again every two seconds
    #[arg(long)]
    watch: bool,
}

impl FederationArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            let look = async || {
                let federation = client.get("/federation").await;
                let federation: Federation = federation.during("no federation")?;
                at.tell(&federation, screen)
            };
            at.shown(self.watch, look).await
        })
    }
}

fn screen(federation: &Federation) -> String {
    let all = federation.validators.iter();
    let up = all.filter(|v| v.signed.is_some()).map(|v| v.power);
    let interval = federation.interval_ms.map(text::span);
    let head = text::fields(&[
        ("network", federation.network.to_hex()),
        ("height", federation.height.to_string()),
        ("last block", text::moment(federation.block_ms)),
        (
            "interval",
            format!(
                "{} on average of {} blocks",
                text::or_dash(interval),
                federation.blocks
            ),
        ),
        (
            "power",
            format!(
                "{} of {} signed lately, {} decide",
                up.sum::<u64>(),
                federation.power,
                federation.quorum
            ),
        ),
        ("accounts", federation.accounts.to_string()),
    ]);
    let rules: Vec<(&str, String)> = told(&federation.rules).into();
    [
        head,
        members(federation),
        validators(&federation.validators, federation.blocks),
        text::fields(&rules),
    ]
    .join("\n")
}

fn members(federation: &Federation) -> String {
    Table::of(
        &federation.members,
        &[
            ("MEMBER", &|m| m.name.clone()),
            ("ACCOUNT", &|m| m.account.to_string()),
            (">POWER", &|m| m.power.to_string()),
            (">GUESTS", &|m| m.guests.to_string()),
            (">CREDIT LINE", &|m| m.credit_line.to_string()),
        ],
    )
}

fn validators(all: &[FederationValidator], blocks: u64) -> String {
    Table::of(
        all,
        &[
            ("VALIDATOR", &|v| v.validator.to_string()),
            ("MEMBER", &|v| text::or_dash(v.name.clone())),
            (">POWER", &|v| v.power.to_string()),
            (">LAST SIGNED", &|v| text::or_dash(v.signed)),
            (">SIGNED", &|v| format!("{} of {blocks}", v.signatures)),
        ],
    )
}

/// The rules, each by its name.
pub(crate) fn told(rules: &FederationRules) -> [(&'static str, String); 15] {
    let seconds = |ms: u64| format!("{} s", text::thousandths(ms));
    let percent = text::thousandths(u64::from(rules.surcharge_ppm) / 10);
    let line = rules.credit_limit.map(|line| format!("at most {line}"));
    [
        ("block", seconds(rules.block_interval_ms)),
        ("block at rest", seconds(rules.heartbeat_ms)),
        (
            "proposal",
            format!("within {}", seconds(rules.propose_timeout_ms)),
        ),
        ("round", format!("{} blocks", rules.round_heights)),
        (
            "slot",
            format!("{} rounds, {}", rules.slot_rounds, seconds(rules.slot_ms)),
        ),
        ("auction", rules.auction_rule.clone()),
        (
            "switch cost",
            format!("{} per node-hour", rules.switch_cost),
        ),
        (
            "eviction",
            match rules.surcharge_ppm {
                0 => "never".to_owned(),
                _ => format!("for {percent} % on top of the remainder"),
            },
        ),
        ("prepaid", format!("at most {} slots", rules.max_firm_slots)),
        (
            "reservation",
            format!(
                "{} slots ahead, from the first {}",
                rules.reservation_slots, rules.reservation_starts
            ),
        ),
        (
            "delivery",
            format!("within {} blocks", rules.delivery_heights),
        ),
        ("complaint", format!("within {} slots", rules.dispute_slots)),
        (
            "credit line",
            line.unwrap_or_else(|| "any that was voted for".to_owned()),
        ),
        (
            "invitations",
            format!(
                "{} steps, each {} accounts a member, {} an epoch, {} by a guest",
                rules.invitation_depth,
                rules.accounts_per_member,
                rules.invitations_per_epoch,
                rules.invitations_per_user
            ),
        ),
        (
            "entries",
            format!(
                "{} by a member and {} by others in an epoch of {} blocks",
                rules.member_entries, rules.user_entries, rules.epoch_heights
            ),
        ),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A federation of which one validator signs and one does not.
    pub(crate) fn sample() -> Federation {
        let id = "11".repeat(32);
        let key = gridbay_protocol::keys::SecretKey::from_seed(&[7; 32]).public();
        let validator = |name: &str, signed: Option<u64>| {
            json!({
                "validator": id, "name": name, "node": key.to_hex(), "own": false, "power": 2,
                "signed": signed, "signatures": signed.map_or(0, |_| 9),
            })
        };
        let rules = json!({
            "block_interval_ms": 250, "heartbeat_ms": 10_000, "propose_timeout_ms": 400,
            "round_heights": 4, "slot_rounds": 2, "slot_ms": 2_000, "auction_rule": "exact",
            "switch_cost": "0", "surcharge_ppm": 25_000, "max_firm_slots": 9,
            "reservation_slots": 104, "reservation_starts": 72, "delivery_heights": 40,
            "dispute_slots": 1, "credit_limit": null, "invitation_depth": 2,
            "accounts_per_member": 1_000, "invitations_per_epoch": 500,
            "invitations_per_user": 8, "epoch_heights": 1_200, "member_entries": 1,
            "user_entries": 2,
        });
        serde_json::from_value(json!({
            "network": id, "height": 40, "block_ms": 0, "blocks": 16, "interval_ms": 1_250,
            "accounts": 7, "power": 4, "quorum": 3,
            "members": [{
                "account": id, "name": "uni-a", "own": true, "credit_line": "5", "guests": 3,
                "power": 2,
            }],
            "validators": [validator("uni-a", Some(40)), validator("uni-b", None)],
            "rules": rules,
        }))
        .unwrap()
    }

    #[test]
    fn the_screen_tells_who_signs_and_who_does_not() {
        let screen = screen(&sample());
        for told in [
            "1.2s on average of 16 blocks",
            "2 of 4 signed lately, 3 decide",
            "9 of 16",
            "0 of 16",
            "for 2.5 % on top",
            "any that was voted for",
        ] {
            assert!(screen.contains(told), "{told}: {screen}");
        }
    }
}
