// The command behind `pictures`: a market that trades, its page, and a terminal.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { enter, launch, navigation } from './browsing.mjs';
import { words } from './checks/pictures.mjs';
import { record, svg } from './terminal.mjs';

// A page with pictures is to load at once, and the repository to stay small.
const BYTES = 200_000;
const VIEW = { width: 1280, height: 800 };
const ROUNDS = 5;
const WORTHS = [5, 7, 9, 11, 14];
const COMMANDS = [
	'gridbay run -- echo hi',
	"gridbay run -n 2 -- sh -c 'echo task $GRIDBAY_RANK of $GRIDBAY_SIZE'",
];

const out = resolve(process.argv[2]);
const programs = resolve(process.env.PROGRAMS);
const folder = mkdtempSync(join(tmpdir(), 'pictures-'));
const env = { HOME: folder, PATH: `${programs}:${process.env.PATH}`, LC_ALL: 'C.UTF-8' };
const testnet = (...words) =>
	execFileSync('gridbay-testnet', words, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });

function keep(name, bytes) {
	writeFileSync(join(out, name), bytes);
	const size = statSync(join(out, name)).size;
	console.log(`${name}: ${size} bytes`);
	if (size > BYTES) throw new Error(`${name} has more than ${BYTES} bytes`);
}

// Bids round by round, so that there are prices; at last more are left standing than there are
// units for.
async function trade(data) {
	const bid = (worth, nodes, time) =>
		new Promise((end) => {
			const words = ['-n', `${nodes}`, '--max-price', `${worth}`, '--time', time, '--anyway'];
			const all = ['--data', data, 'run', ...words, '--class', 'small', '--', 'sleep', '20'];
			spawn('gridbay', all, { cwd: folder, env, stdio: 'ignore' }).on('close', end);
		});
	for (let round = 0; round < ROUNDS; round += 1) {
		await Promise.all(WORTHS.map((worth) => bid(worth + (round % 3), 2, '2s')));
	}
	WORTHS.forEach((worth) => bid(worth, 3, '1m'));
	await new Promise((go) => setTimeout(go, 8_000));
}

let browser;
try {
	keep('terminal.svg', svg(await record(COMMANDS, env, folder)));

	const file = join(folder, 'net.json');
	testnet('up', '--name', 'pictures', '-n', '4', '--buyers', '1', '--web', '--detach', '--config-out', file);
	const { nodes } = JSON.parse(readFileSync(file));
	const { data } = nodes.find(({ name }) => name === 'b1');
	await trade(data);
	browser = await launch();
	const page = await browser.newPage({ viewport: VIEW });
	const link = execFileSync('gridbay', ['--data', data, 'web', '-o', 'json'], { env, encoding: 'utf8' });
	await enter(page, JSON.parse(link).url);
	await page.goto(new URL('/market?class=small', page.url()).href);
	const picture = await page.screenshot();
	keep('market.png', picture);
	keep('market.txt', words(picture, await navigation(page)));
} finally {
	await browser?.close();
	try {
		testnet('down', '--name', 'pictures');
	} catch {
		// It was not up.
	}
	rmSync(folder, { recursive: true, force: true });
}
