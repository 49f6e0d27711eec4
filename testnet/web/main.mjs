// The command behind `test`: starts market and browser, runs every check, ends both.

import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Browsing, launch } from './browsing.mjs';
import { Market } from './market.mjs';
import { Report } from './report.mjs';
import * as auctions from './checks/auctions.mjs';
import * as doors from './checks/doors.mjs';
import * as forms from './checks/forms.mjs';
import * as hostile from './checks/hostile.mjs';
import * as jobs from './checks/jobs.mjs';
import * as leases from './checks/leases.mjs';
import * as live from './checks/live.mjs';
import * as looks from './checks/looks.mjs';
import * as origins from './checks/origins.mjs';
import * as pictures from './checks/pictures.mjs';

const CHECKS = {
	doors, pictures, looks, auctions, jobs, live, leases, forms, hostile, origins,
};

const { values } = parseArgs({
	options: {
		out: { type: 'string', default: 'target/web' },
		only: { type: 'string' },
		page: { type: 'string', default: '' },
		quick: { type: 'boolean', default: false },
		keep: { type: 'boolean', default: false },
		market: { type: 'string' },
	},
});

const wanted = values.only ? values.only.split(',') : Object.keys(CHECKS);
const unknown = wanted.filter((name) => !CHECKS[name]);
if (unknown.length) {
	console.error(`no checks named ${unknown}; there are ${Object.keys(CHECKS)}`);
	process.exit(2);
}

const out = resolve(values.out);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const report = new Report();
const past = values.quick ? { payments: 5_000, bids: 1_000 } : { payments: 100_000, bids: 10_000 };
let market, still, browser;
const end = async () => {
	await browser?.close();
	if (!values.keep) [market, still].forEach((one) => one?.end());
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
	process.on(signal, () => end().then(() => process.exit(130)));
}
try {
	const running = values.market && resolve(values.market);
	market = new Market(process.env.TESTNET, out, past, running);
	const what = `with ${past.payments} payments and ${past.bids} standing bids`;
	report.tell(running ? 'a market that runs already' : `a market ${what}`);
	browser = await launch();
	const browsing = new Browsing(browser, market);
	const { quick, page: named } = values;
	// A market with a class in which no bids stand: both classes of a whole past have thousands.
	const quiet = () => {
		if (running || quick) return { market, browsing };
		still ??= new Market(process.env.TESTNET, out, { name: 'web-quiet' });
		return { market: still, browsing: new Browsing(browser, still) };
	};
	const all = { market, report, out, quick, named, browser, browsing, quiet };
	for (const name of wanted) await CHECKS[name].run(all);
} catch (error) {
	report.failed('the test itself', error);
} finally {
	await end();
}
process.exit(report.close());
