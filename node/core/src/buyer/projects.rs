//! The use of projects, and whether one more order fits.
//!
//! 1. An order belongs to the time in which it was accepted. While it can still cost something it
//!    counts with the most that it can cost, afterwards with what was charged less what was given
//!    back.
//! 2. The order's own record is the reservation. It is written in the step that checks it, before
//!    anything is sent: a crash can neither lose it nor count it twice.

use super::order::OrderAgent;
use crate::project::{ProjectBounds, ProjectMark};
use crate::reply::{Refused, RefusedKind};
use gridbay_protocol::units::Credits;
use std::ops::Range;

/// The use of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProjectUse {
    /// Charged less refunded for orders of the time that are over.
    pub spent: Credits,
    /// The most that those which are not over can cost.
    pub reserved: Credits,
    /// Orders that are not over, of any time.
    pub jobs: u32,
    /// Their nodes.
    pub nodes: u32,
}

impl ProjectUse {
    /// The use by the orders of a project.
    pub fn of<'a>(
        orders: impl Iterator<Item = &'a OrderAgent>,
        project: &str,
        time_ms: &Range<u64>,
    ) -> ProjectUse {
        let mut used = ProjectUse::default();
        for agent in orders {
            let Some(mark) = agent.project().filter(|mark| mark.project == project) else {
                continue;
            };
            let order = agent.order();
            if agent.finish().is_none() {
                used.jobs = used.jobs.saturating_add(1);
                used.nodes = used.nodes.saturating_add(order.tasks);
            }
            if !time_ms.contains(&order.accepted_ms) {
                continue;
            }
            match agent.is_settled() {
                true => used.spent = plus(used.spent, agent.paid()),
                false => used.reserved = plus(used.reserved, mark.most.max(agent.paid())),
            }
        }
        used
    }
    /// All of the budget that is taken.
    pub fn taken(&self) -> Credits {
        plus(self.spent, self.reserved)
    }

    /// Whether an order of so many nodes fits beside these.
    pub(crate) fn fits(
        &self,
        mark: &ProjectMark,
        nodes: u32,
        bounds: &ProjectBounds,
    ) -> Result<(), Refused> {
        let project = &mark.project;
        let refused = |kind, reason| Refused {
            kind,
            word: "project",
            reason,
            hint: format!("gridbay project show {project} tells what it may and has used"),
        };
        let after = plus(self.taken(), mark.most);
        if let Some(budget) = bounds.budget.filter(|budget| after > *budget) {
            let left = budget.saturating_sub(self.taken());
            let most = mark.most;
            return Err(refused(
                RefusedKind::Unfunded,
                format!(
                    "the order can cost {most}, and project {project} has {left} left of {budget}"
                ),
            ));
        }
        if let Some(most) = bounds.jobs.filter(|most| self.jobs >= *most) {
            return Err(refused(
                RefusedKind::Forbidden,
                format!(
                    "project {project} has {} jobs, and may have {most} at once",
                    self.jobs
                ),
            ));
        }
        let after = self.nodes.saturating_add(nodes);
        if let Some(most) = bounds.nodes.filter(|most| after > *most) {
            return Err(refused(
                RefusedKind::Forbidden,
                format!(
                    "project {project} has {} nodes, asks for {nodes}, and may have {most} at once",
                    self.nodes
                ),
            ));
        }
        Ok(())
    }
}

/// A sum that stops at the largest amount, which no budget reaches.
fn plus(one: Credits, other: Credits) -> Credits {
    one.checked_add(other).unwrap_or(Credits::MAX)
}
