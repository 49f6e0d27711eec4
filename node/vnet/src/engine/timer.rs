//! What happens as time passes: probes, new handshakes, keepalives. One thread for all leases.

use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Shared, held};

/// Between looks at the paths, in milliseconds.
const STEP: u16 = 100;
/// Steps between looks at the sessions.
const SESSIONS: u32 = 2;

/// Ticks until the engine stops.
pub(super) fn run(shared: &Shared) {
    let mut reset = Duration::ZERO;
    for step in 0_u32.. {
        let mut fds = [PollFd::new(shared.wake(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::from(STEP)).ok();
        if shared.is_stopped() {
            return;
        }
        let now = shared.now();
        let second = now >= reset;
        if second {
            reset = now + Duration::from_secs(1);
        }
        let leases: Vec<_> = held(shared.leases.read()).values().cloned().collect();
        for lease in leases {
            if second {
                lease.limiter.reset_count();
            }
            for pair in &lease.members().pairs {
                pair.path(shared, |path| path.tick(now));
                if step % SESSIONS == 0 {
                    pair.tick(shared);
                }
            }
        }
    }
}
