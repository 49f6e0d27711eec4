// Connections to the API that say nothing, half of a request, or nothing more after an answer.
// Closed ones are made anew.

import { connect } from 'node:net'
import { sleep } from '../client.mjs'

/// Connections at a time.
const HELD = 300

/// `api`: path of the API's socket, or HOST:PORT.
export async function idleHttp ({ api }, running) {
  const report = { identities: 0, shut_out: 0, refused: 0, done: 0, failed: 0 }
  const held = new Set()
  while (running()) {
    while (held.size < HELD && running()) held.add(hold(api, held, report))
    await sleep(20)
  }
  for (const socket of held) socket.destroy()
  return report
}

function hold (api, held, report) {
  const [host, port] = api.split(':')
  const socket = api.startsWith('/') ? connect(api) : connect(Number(port), host)
  const kind = report.identities % 4
  report.identities += 1
  socket.on('connect', () => {
    report.done += 1
    if (kind === 1) socket.write('GET /healthz HT')
    if (kind === 2) socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n')
    if (kind === 3) socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  })
  socket.on('error', () => { report.failed += 1 })
  socket.on('close', () => {
    if (held.delete(socket)) report.shut_out += 1
  })
  socket.resume()
  return socket
}
