// Every form of the pages, filled in by the names of its fields, and what the node and its ledger
// say then. The last check goes through all pages for a form that nobody has sent.

import { kind, pages } from '../browsing.mjs';
import { choose, pick, press, write } from '../keys.mjs';
import { ensure, until } from '../report.mjs';

const WAYS = ['Auction', 'Buy now', 'Hire'];
const AHEAD = 7;
const OPEN = 8;
const BOOKING = 'page-booking';

export async function run({ report, market, browsing }) {
	const at = (node, name, check) =>
		report.check(name, () => browsing.signedIn(node, {}, (page) => check(page, market)));
	const found = new Set();
	const look = async (page) => {
		const all = page.locator('form[method=post]');
		const actions = await all.evaluateAll((all) => all.map((form) => form.action));
		for (const action of actions) found.add(kind(new URL(action).pathname));
	};
	const search = (page) => pages(page, page.url(), look).then((all) => `${all.length} pages`);
	await at('b1', 'a job is submitted by keys alone', submitted);
	await at('b1', 'a job with a file is sent to the auction', brought);
	await at('b1', 'credits are transferred once they were reviewed', transferred);
	await at('v1', 'offers are set by their form', set);
	await at('b1', 'nodes are booked ahead', booked);
	await at('b1', 'the bounds and members of a project are changed', ruled);
	await at('b1', 'forms of a buyer are looked for, while it holds nodes', search);
	await at('v1', 'forms of a seller are looked for', search);
	await at('b1', 'nodes are given up', givenUp);
	await at('v1', 'offers are withdrawn', withdrawn);
	await at('v1', 'a node drains and resumes', drained);
	await at('b1', 'who signs out is out', left);
	await report.check('there is no form that no check sends', () => {
		const missed = [...found].filter((action) => !browsing.sent.has(action));
		ensure(found.has('/clusters/*/end') && found.has('/seller/drain'), `only ${[...found]}`);
		ensure(!missed.length, `nobody sends ${missed}`);
		return [...found].join(' ');
	});
}

const open = (page, path) => page.goto(new URL(path, page.url()).href);
const fill = async (page, fields) => {
	for (const [label, text] of Object.entries(fields)) {
		await page.getByLabel(label, { exact: true }).fill(text);
	}
};
const button = (page, name) =>
	page.locator('main').getByRole('button', { name, exact: true }).click();
const own = (market, wanted) =>
	market.gridbay('v1', 'offer', 'list').find(({ own, label }) => own && label === wanted);
const job = (market, id) => market.gridbay('b1', 'job', 'describe', id);
const held = (market) =>
	market.gridbay('b1', 'cluster', 'list', '--all').find(({ name }) => name === BOOKING)?.state;
const same = (seen, wanted) => {
	for (const [name, value] of Object.entries(wanted)) {
		const [is, should] = [JSON.stringify(seen[name]), JSON.stringify(value)];
		ensure(is === should, `${name} is ${is} and not ${should}`);
	}
};

// From the overview to an order on the ledger without a mouse, and its end by its form.
async function submitted(page, market) {
	const before = market.gridbay('b1', 'job', 'list', '--all').length;
	await press(page, 'Submit');
	await write(page, 'Command', "sh -c 'echo by keys; exec sleep 300'");
	await choose(page, 'Class', 'small');
	await write(page, 'Nodes', '1');
	await write(page, 'Time, at most', '6m');
	await write(page, 'Name', 'by-keys');
	await pick(page, WAYS, 'Buy now');
	await press(page, 'Check');
	ensure(market.gridbay('b1', 'job', 'list', '--all').length === before, 'a check sent it');
	const most = await page.locator('.sums dt:text-is("At most") + dd').textContent();
	await press(page, 'Submit by-keys');
	const id = /\/jobs\/([0-9a-f]{16})$/.exec(page.url())?.[1];
	ensure(id, `it leads to ${page.url()}`);
	same(job(market, id), {
		name: 'by-keys', class: 'small', nodes: 1, seconds: 360,
		argv: ['sh', '-c', 'echo by keys; exec sleep 300'],
	});
	ensure(job(market, id).how.mechanism === 'buy', 'it is not bought');
	await until('it runs', 30, () => job(market, id).state === 'running');
	await press(page, /^Cancel/);
	await press(page, 'Cancel by-keys');
	const ended = await until('it ends', 20, () => {
		const record = job(market, id);
		return record.state === 'cancelled' && record;
	});
	ensure(Number(ended.paid) > 0, 'it ran for nothing');
	ensure(Number(ended.paid) <= Number(most), `it paid ${ended.paid}, told were ${most}`);
}

// The way that is chosen before anybody chooses one, with a file that the job prints.
async function brought(page, market) {
	const [file, text] = ['page-data.txt', `brought along at ${Date.now()}`];
	const before = market.gridbay('b1', 'job', 'list', '--all').length;
	await open(page, '/submit');
	ensure(await page.getByRole('radio', { name: /^Auction/ }).isChecked(), 'it is no auction');
	await fill(page, { Command: `cat ${file}`, Nodes: '1', 'Time, at most': '1m' });
	await fill(page, { Name: 'by-auction', 'Most per node-hour': '9' });
	await page.getByLabel('Class', { exact: true }).selectOption('small');
	const data = { name: file, mimeType: 'text/plain', buffer: Buffer.from(text) };
	await page.getByLabel('File', { exact: true }).setInputFiles(data);
	await button(page, 'Check');
	await page.getByText(`Goes along: ${file}`).waitFor();
	ensure(market.gridbay('b1', 'job', 'list', '--all').length === before, 'a check sent it');
	await button(page, 'Submit by-auction');
	await page.waitForURL(/\/jobs\/[0-9a-f]{16}$/);
	const id = page.url().slice(-16);
	same(job(market, id), { name: 'by-auction', class: 'small', seconds: 60, argv: ['cat', file] });
	const { mechanism } = job(market, id).how;
	ensure(mechanism === 'ausubel', `it is sold by ${mechanism}`);
	const ended = await until('it is done', 60, () => {
		const record = job(market, id);
		return record.state === 'done' && record;
	});
	await page.reload();
	await page.getByRole('log').getByText(text).waitFor();
	ensure(Number(ended.paid) > 0, 'it ran for nothing');
}

async function transferred(page, market) {
	const amount = '1.234567';
	const moved = () => market.gridbay('b1', 'ledger', 'history')
		.filter((line) => line.reason === 'transfer' && line.amount === `-${amount}`);
	const before = moved().length;
	await open(page, '/ledger');
	await fill(page, { To: 'v1', Credits: amount, Note: 'by a page' });
	await button(page, 'Review the transfer');
	await page.getByRole('heading', { name: /^Transfer 1\.23/ }).waitFor();
	ensure(moved().length === before, 'it moved before anybody was sure');
	await button(page, /^Transfer/);
	await page.getByText('credits are transferred').waitFor();
	const [line, ...more] = await until('the ledger has it', 10, () => {
		const lines = moved();
		return lines.length > before && lines;
	});
	const { account } = market.gridbay('v1', 'ledger', 'balance');
	ensure(line.other.endsWith(account), `it went to ${line.other}`);
	ensure(more.length === before, 'it moved more than once');
}

// One for reservations, which is booked later, and one with all that an offer can say.
async function set(page, market) {
	const offer = async (fields, sold) => {
		await open(page, '/seller');
		await fill(page, fields);
		await page.getByLabel('Class', { exact: true }).selectOption('small');
		await page.getByLabel('Sold by', { exact: true }).selectOption(sold);
		await button(page, 'Set the offer');
		return until(`offer ${fields.Number}`, 10, () => own(market, Number(fields.Number)));
	};
	const ahead = { Units: '1', 'Least price': '4.5', Number: `${AHEAD}` };
	same(await offer(ahead, 'Reservation'), {
		class: 'small', units: 1, reserve: '4.5', buy: null, notice_seconds: null,
		mechanism: 'reservation', withdrawn: false,
	});
	const plain = { ...ahead, 'Buy now': '33', Notice: '30', Number: `${OPEN}` };
	same(await offer(plain, 'Auction'), {
		class: 'small', units: 1, reserve: '4.5', buy: '33', notice_seconds: 30,
		mechanism: 'ausubel', withdrawn: false,
	});
}

async function booked(page, market) {
	await until('the calendar has the offer', 20, () =>
		market.gridbay('b1', 'market', 'calendar').some(({ offers }) => offers.length));
	await open(page, '/reservations');
	await page.getByLabel('Class', { exact: true }).selectOption('small');
	const fields = { Nodes: '1', Time: '3m', 'Not before': '10s', 'Not after': '100s' };
	await fill(page, { ...fields, Name: BOOKING });
	await button(page, 'Look at it');
	const sure = page.getByRole('heading', { name: 'Book these nodes?' });
	await sure.waitFor();
	const all = market.gridbay('b1', 'cluster', 'list');
	ensure(!all.some(({ name }) => name === BOOKING), 'it booked before anybody was sure');
	await button(page, /^Book for/);
	const id = /\/jobs\/([0-9a-f]{16})$/.exec(page.url())?.[1];
	ensure(id, `it leads to ${page.url()}`);
	same(job(market, id), { name: BOOKING, class: 'small', nodes: 1, seconds: 180 });
	await until('its time comes', 60, () => held(market) === 'running');
	ensure(Number(job(market, id).paid) > 0, 'the ledger has taken nothing for it');
}

async function ruled(page, market) {
	const [name, user] = ['by-page', 'ann'];
	market.gridbay('b1', 'project', 'create', name, '--budget', '5');
	market.gridbay('b1', 'user', 'add', user);
	const now = () => market.gridbay('b1', 'project', 'show', name);
	await open(page, `/projects/${name}`);
	await fill(page, { Budget: '7.5', Jobs: '3' });
	await button(page, 'Review the bounds');
	await page.getByRole('heading', { name: `Change the bounds of ${name}?` }).waitFor();
	ensure(now().limits.budget === '5', 'it changed before anybody was sure');
	await button(page, 'Change them');
	await until('the bounds are changed', 10, () => now().limits.budget === '7.5');
	ensure(now().limits.jobs === 3, `jobs: ${now().limits.jobs}`);
	await open(page, `/projects/${name}`);
	await page.getByLabel('User', { exact: true }).selectOption(user);
	await page.getByLabel('Role', { exact: true }).selectOption('manager');
	await button(page, 'Review the change');
	await button(page, 'Change it');
	await until('it has a manager', 10, () =>
		now().members.some((member) => member.user === user && member.role === 'manager'));
}

async function givenUp(page, market) {
	await open(page, '/leases');
	await page.locator('main a[href^="/leases/"]', { hasText: BOOKING }).first().click();
	await page.locator('main a[href$="/end"]').click();
	await button(page, /^Give up/);
	await until('it ends', 30, () => /cancel|end/.test(held(market)));
}

async function withdrawn(page, market) {
	for (const label of [AHEAD, OPEN]) {
		await open(page, '/seller');
		await page.getByRole('link', { name: `Withdraw offer ${label}`, exact: true }).click();
		ensure(!own(market, label)?.withdrawn, 'it was withdrawn before anybody was sure');
		await button(page, 'Withdraw it');
		await until(`no offer ${label}`, 20, () => own(market, label)?.withdrawn !== false);
	}
}

async function drained(page, market) {
	const state = () => market.gridbay('v1', 'node', 'status').state;
	const onSale = () => market.gridbay('v1', 'offer', 'list')
		.filter(({ own, on_sale, withdrawn }) => own && on_sale && !withdrawn).length;
	const before = onSale();
	ensure(before > 0, 'it sells nothing');
	await open(page, '/seller');
	await page.getByRole('link', { name: 'Drain…' }).click();
	ensure(state() === 'ready', `asking makes it ${state()}`);
	await button(page, 'Drain this node');
	await until('it drains', 20, () => state() === 'draining' && !onSale());
	await page.getByRole('link', { name: 'Resume…' }).click();
	await button(page, 'Resume');
	await until('it is back, and its offers', 20, () => state() === 'ready' && onSale() === before);
}

// The node writes down who came and went.
async function left(page, market) {
	const told = (what) => market.gridbay('b1', 'audit').lines
		.filter((line) => line.what === what && line.outcome === 'done').length;
	const before = told('page POST /logout');
	ensure(told('session begins') > 0, 'no session has begun');
	const home = page.url();
	await page.getByRole('button', { name: 'Sign out' }).click();
	await page.getByRole('heading', { name: 'Signed out' }).waitFor();
	ensure(told('page POST /logout') === before + 1, 'the node does not know');
	const answer = await page.goto(home);
	ensure(answer.status() === 401, `the session still opens its page: ${answer.status()}`);
}
