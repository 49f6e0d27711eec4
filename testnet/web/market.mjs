// A local market of real nodes: a validator that sells, whose ledger may have a past, and a buyer.

import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export class Market {
	#testnet;
	#folder;
	#name;
	#nodes;
	#ours;

	// `running` is what `up --config-out` wrote of one that runs already.
	constructor(testnet, folder, { name = 'web', payments = 0, bids = 0 }, running) {
		this.#testnet = testnet;
		this.#folder = folder;
		this.#name = name;
		this.#ours = !running;
		const file = running ?? join(folder, `${name}.json`);
		const words = ['up', '--name', name, '--nodes', '1', '--buyers', '1', '--web', '--detach'];
		words.push('--payments', `${payments}`, '--bids', `${bids}`, '--timeout', '600');
		if (this.#ours) this.#run([...words, '--config-out', file]);
		const { nodes } = JSON.parse(readFileSync(file));
		this.#nodes = Object.fromEntries(nodes.map(({ name, data }) => [name, data]));
	}
	#run(words) {
		return execFileSync(this.#testnet, words, {
			cwd: this.#folder,
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'pipe'],
			timeout: 600_000,
		});
	}
	#words(node, words) {
		return ['__gridbay', ...words, '--data', this.#nodes[node]];
	}
	// A command of a node's user, as JSON.
	gridbay(node, ...words) {
		const [before, after] = split(words);
		return JSON.parse(this.#run([...this.#words(node, [...before, '-o', 'json']), ...after]));
	}
	// A command that goes on meanwhile.
	start(node, ...words) {
		const [before, after] = split(words);
		const all = [...this.#words(node, before), ...after];
		return spawn(this.#testnet, all, { cwd: this.#folder, stdio: 'ignore' });
	}
	// A link to the pages of a node, good for one use.
	link(node, scope = 'admin') {
		return this.gridbay(node, 'web', '--scope', scope).url;
	}
	end() {
		if (this.#ours) this.#run(['down', '--name', this.#name]);
	}
}

// Options go before the program that is run.
function split(words) {
	const at = words.indexOf('--');
	return at < 0 ? [words, []] : [words.slice(0, at), words.slice(at)];
}
