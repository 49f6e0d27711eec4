// A network whose every name is markup: of the network, its members, their nodes, its class. A
// founder is a stranger to everybody who joins, so its words are too.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { until } from './report.mjs';

// Each ends a text, an attribute and a tag, and is a name: printable, without blanks.
const name = (n) => `"'><svg/onload=alert(${n})>`;
export const NAMES = { network: name(1), seller: name(2), buyer: name(3), class: name(4) };

const port = () => new Promise((go) => {
	const server = createServer().listen(0, '127.0.0.1', () => {
		const { port } = server.address();
		server.close(() => go(port));
	});
});

export class Strangers {
	#testnet;
	#folder;
	#nodes = [];

	constructor(testnet, folder) {
		this.#testnet = testnet;
		this.#folder = join(folder, 'strangers');
		mkdirSync(this.#folder);
	}
	#run(node, ...words) {
		return execFileSync(this.#testnet, ['__gridbay', ...words], {
			cwd: this.#folder,
			env: { ...process.env, GRIDBAY_DATA: this.#data(node) },
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'pipe'],
			timeout: 60_000,
		});
	}
	#data(node) {
		return join(this.#folder, node);
	}
	async #describe(node, more, offers) {
		mkdirSync(this.#data(node), { mode: 0o700 });
		const at = await port();
		const [tcp, udp] = [`/ip4/127.0.0.1/tcp/${at}`, `/ip4/127.0.0.1/udp/${at}/quic-v1`];
		writeFileSync(join(this.#data(node), 'gridbay.toml'), [
			`name = ${JSON.stringify(NAMES[node])}`,
			`listen = ["${udp}", "${tcp}"]`,
			'grace = "2s"',
			'cluster.port = 0',
			'api.listen = "127.0.0.1:0"',
			...offers,
		].join('\n'));
		const words = ['--name', NAMES[node], '--address', udp, '--out', `${node}.json`, ...more];
		this.#run(node, 'found', 'member', ...words);
	}
	// Founds it and starts its two nodes, of which one sells.
	async start() {
		const offer = ['', '[[offers]]', `class = ${JSON.stringify(NAMES.class)}`, 'units = 2'];
		await this.#describe('seller', [], [...offer, 'reserve = "4"', 'buy = "30"']);
		await this.#describe('buyer', ['--no-validator'], []);
		const is = `name=${NAMES.class},vcpu=1,memory=512MiB,disk=1GiB,gpu=0,price=5`;
		const words = ['--name', NAMES.network, '--policy', 'local', '--class', is];
		this.#run('seller', 'found', ...words, '--member', 'seller.json', '--member', 'buyer.json');
		for (const node of ['seller', 'buyer']) {
			this.#run(node, 'join', 'genesis.cbor');
			const env = { ...process.env, GRIDBAY_DATA: this.#data(node) };
			const options = { cwd: this.#folder, env, stdio: 'ignore' };
			this.#nodes.push(spawn(this.#testnet, ['__gridbay', 'node', 'up'], options));
		}
		for (const node of ['seller', 'buyer']) {
			await until(`${node} is ready`, 60, () => {
				try {
					return this.gridbay(node, 'node', 'status').state === 'ready';
				} catch {
					return false;
				}
			});
		}
	}
	gridbay(node, ...words) {
		return JSON.parse(this.#run(node, '-o', 'json', ...words));
	}
	link(node, scope = 'admin') {
		return this.gridbay(node, 'web', '--scope', scope).url;
	}
	end() {
		for (const node of this.#nodes) node.kill('SIGTERM');
	}
}
