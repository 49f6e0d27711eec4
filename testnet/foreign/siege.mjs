// An attacker: goes on under a fresh identity whenever it is shut out, until it is told to stop.

import { multiaddr } from '@multiformats/multiaddr'
import { PATIENCE, sleep, start } from './client.mjs'

/// Milliseconds before one that was shut out comes again.
const REST = 500
/// Deeds on their way at a time.
const AT_ONCE = 64

/// Runs `deed(connection, client, n)` about `rate` times a second while `running()`, and reports
/// what came of it.
export async function siege ({ network, address }, running, rate, deed) {
  const report = { identities: 0, shut_out: 0, refused: 0, done: 0, failed: 0 }
  while (running()) {
    const made = await start(network)
    try {
      const signal = AbortSignal.timeout(PATIENCE)
      const connection = await made.client.dial(multiaddr(address), { signal })
      await made.client.services.identify.identify(connection, { signal })
      report.identities += 1
      const open = () => connection.status === 'open'
      await paced(rate, () => running() && open(), async () => {
        try {
          await deed(connection, made, report.done + report.failed)
          report.done += 1
        } catch {
          report.failed += 1
        }
      })
      if (!open()) report.shut_out += 1
    } catch {
      report.refused += 1
    } finally {
      await made.client.stop().catch(() => {})
    }
    if (running()) await sleep(REST)
  }
  return report
}

async function paced (rate, running, deed) {
  let due = performance.now()
  const busy = new Set()
  while (running()) {
    const now = performance.now()
    if (now < due) {
      await sleep(due - now)
      continue
    }
    // Deeds that were missed are not made up for.
    due = Math.max(due + 1000 / rate, now - 100)
    while (busy.size >= AT_ONCE) await Promise.race(busy)
    const one = deed().finally(() => busy.delete(one))
    busy.add(one)
    if (busy.size % 8 === 0) await sleep(0)
  }
}
