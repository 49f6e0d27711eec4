// A client that shares no code with gridbay's nodes. `node main.mjs --help` tells what it does.

import './node20.mjs'
import { parseArgs } from 'node:util'
import { foreignTopics } from './attacks/topics.mjs'
import {
  identifyStreams, junk, kadPing, muteStreams, pingStreams, relayStop
} from './attacks/streams.mjs'
import { idleHttp } from './attacks/http.mjs'
import { meet } from './meet.mjs'
import { pushSame, pushVarying } from './attacks/push.mjs'

const ATTACKS = {
  'push-varying': pushVarying,
  'push-same': pushSame,
  'foreign-topics': foreignTopics,
  'kad-ping': kadPing,
  'identify-streams': identifyStreams,
  'ping-streams': pingStreams,
  'relay-stop': relayStop,
  junk,
  'mute-streams': muteStreams,
  'idle-http': idleHttp
}

const HELP = `usage: node main.mjs meet --network HEX --address MULTIADDR --request HEX
       node main.mjs ATTACK --network HEX --address MULTIADDR
       node main.mjs idle-http --api SOCKET|HOST:PORT
       node main.mjs list

meet dials, identifies, pings, sends a request and asks the DHT, as an honest stranger does. An
attack goes on until standard input ends. Each prints one line of JSON.
Attacks: ${Object.keys(ATTACKS).join(' ')}`

/// True until standard input ends, which also happens when whoever started this is gone.
function untilInputEnds () {
  let running = true
  process.stdin.on('end', () => { running = false })
  process.stdin.on('error', () => { running = false })
  process.stdin.resume()
  return () => running
}

async function main () {
  const text = { type: 'string' }
  const help = { type: 'boolean' }
  const options = { network: text, address: text, request: text, api: text, help }
  const { values, positionals: [verb] } = parseArgs({ options, allowPositionals: true })
  if (values.help || verb == null) return HELP
  if (verb === 'list') return JSON.stringify(Object.keys(ATTACKS))
  if (verb === 'meet') return JSON.stringify(await meet(values))
  if (ATTACKS[verb] == null) throw new Error(`no verb ${verb}; see --help`)
  return JSON.stringify(await ATTACKS[verb](values, untilInputEnds()))
}

// A flood of aborted streams leaves promises that nobody waits for; they are the attack, not a
// fault.
process.on('unhandledRejection', () => {})
main().then((line) => {
  process.stdout.write(`${line}\n`, () => process.exit(0))
}, (error) => {
  process.stderr.write(`${error.stack}\n`, () => process.exit(1))
})
