//! A node acts: one input through its process, the effects one after the other.

use super::World;
use super::queue::Event;
use crate::check::Sight;
use crate::fault::Leaves;
use crate::liar::Puppet;
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;

/// Milliseconds between two whims of a liar.
const WHIM_MS: u64 = 500;

impl World {
    /// Gives an input to the life of a node that it was meant for.
    pub(super) fn give(&mut self, node: usize, life: u64, input: Box<Input>) {
        let machine = &self.machines[node];
        if machine.life != life || !machine.is_up() {
            return;
        }
        if machine.paused_until > self.now {
            let at = machine.paused_until;
            self.queue.push(at, Event::Input { node, life, input });
            return;
        }
        self.trace.input(self.now, node, &input);
        self.cover.input(&input);
        self.note_liar(node, &input);
        let Some(input) = self.bend_input(node, *input) else {
            return;
        };
        let machine = &mut self.machines[node];
        let now = machine.clock.read(self.now);
        let Some(core) = &mut machine.core else {
            return;
        };
        let before = core.state().height();
        let effects = match core.step(now, input) {
            Ok(effects) => effects,
            Err(fault) => return self.stopped(node, &fault),
        };
        let effects = self.bend_effects(node, effects);
        self.show(&Sight::Step {
            node,
            before,
            effects: &effects,
        });
        self.perform_all(node, life, effects);
    }
    /// Shows the checkers what an honest node is told by a liar.
    fn note_liar(&mut self, node: usize, input: &Input) {
        let Input::Host { from, bytes } = input else {
            return;
        };
        let liar = self.node_of(from.as_bytes());
        let liar = liar.filter(|n| !self.machines[*n].is_honest());
        if let Some(liar) = liar.filter(|_| self.machines[node].is_honest()) {
            self.show(&Sight::Heard { node, liar, bytes });
        }
    }
    /// A process that ends by itself: right only if its disk is broken.
    fn stopped(&mut self, node: usize, fault: &gridbay_host::Fault) {
        let machine = &self.machines[node];
        if machine.disk_broken {
            self.cover.count("node stopped by its disk");
            self.die(node, Leaves::Some);
            self.queue.push(self.now + 2_000, Event::Retry(node));
        } else if machine.is_honest() {
            let what = format!("node {node} stopped by itself: {fault:?}");
            self.break_now("I13", what);
        } else {
            self.die(node, Leaves::All);
        }
    }
    fn perform_all(&mut self, node: usize, life: u64, effects: Vec<Effect>) {
        for effect in effects {
            let machine = &mut self.machines[node];
            if machine.life != life || !machine.is_up() {
                return;
            }
            if let Some((left, leaves)) = machine.doomed {
                let Some(left) = left.checked_sub(1) else {
                    return self.die(node, leaves);
                };
                machine.doomed = Some((left, leaves));
            }
            self.cover.effect(&effect);
            self.trace.effect(node, &effect);
            self.perform(node, effect);
        }
    }

    /// A liar's own deeds.
    pub(super) fn whim(&mut self, node: usize) {
        self.queue.push(self.now + WHIM_MS, Event::Whim(node));
        let life = self.machines[node].life;
        let effects = self.with_lie(node, |lie, puppet| lie.whim(puppet));
        self.perform_all(node, life, effects.unwrap_or_default());
    }
    fn bend_input(&mut self, node: usize, input: Input) -> Option<Input> {
        if self.machines[node].lie.is_none() {
            return Some(input);
        }
        let kept = input.clone();
        match self.with_lie(node, |lie, puppet| lie.input(puppet, input)) {
            Some(bent) => bent,
            None => Some(kept),
        }
    }
    fn bend_effects(&mut self, node: usize, effects: Vec<Effect>) -> Vec<Effect> {
        if self.machines[node].lie.is_none() {
            return effects;
        }
        let bent = self.with_lie(node, |lie, puppet| lie.effects(puppet, effects));
        bent.unwrap_or_default()
    }
    /// Lets a node's lie look at its own process; `None` if there is no lie, or no process.
    fn with_lie<T>(
        &mut self,
        node: usize,
        act: impl FnOnce(&mut dyn crate::liar::Lie, &mut Puppet<'_>) -> T,
    ) -> Option<T> {
        let machine = &mut self.machines[node];
        let mut lie = machine.lie.take()?;
        let done = machine.core.as_ref().map(|core| {
            let mut puppet = Puppet {
                node,
                plan: &self.plan,
                core,
                now: self.now,
                clock: machine.clock,
                rng: &mut self.rng,
            };
            act(&mut *lie, &mut puppet)
        });
        machine.lie = Some(lie);
        done
    }
}
