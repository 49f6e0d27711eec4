// Every page that a link leads to, with something on it, and those behind questions and of auctions
// of each kind: how fast, how large, how still, how usable, at three widths, in light and dark.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asked, pages, tokenOf } from '../browsing.mjs';
import { ensure } from '../report.mjs';
import { MORE, ahead } from './asked.mjs';
import { held } from './leases.mjs';
import { ASKED, SAYS, clinched, ended, kinds, traded } from './traded.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const BYTES = 150_000;
const ANSWER_MS = 200;
const ROUNDS = 5;
const SHIFT = 0.01;
const SHORT = ['boundary', 'share'];
const WIDTHS = [390, 1280, 1920];

export async function run(all) {
	const { market, report } = all;
	await report.check('there is something of everything to look at', async () => {
		await held(market);
		await ahead(market);
		await traded(market);
	});
	let few = [];
	await report.check('there are auctions of each kind, and a small one', async () => {
		few = await auctions(all);
	});
	for (const [{ browsing }, ask] of few) await named({ ...all, browsing }, 'b1', ask);
	for (const node of ['b1', 'v1']) {
		let asks = [];
		await report.check(`${node}: every link leads to a page`, async () => {
			asks = await linked(all, node);
			return `${asks.length} pages`;
		});
		for (const ask of [...asks, ...MORE[node], ...ASKED[node]]) await named(all, node, ask);
	}
	await report.check('what was traded ends', () => ended(market));
}

// Looks at a page, if it is one of those that are wanted.
async function named(all, node, ask) {
	const path = ask.path.replace(/[0-9a-f]{8,}/g, '*');
	const how = `${node} ${ask.form ? 'POST ' : ''}${path}`;
	const name = ask.as ? `${how}, ${ask.as}` : how;
	if (name.includes(all.named)) await all.report.check(name, () => looks(all, node, ask));
}

// The pages that links lead to, with what they must say.
async function linked({ browsing }, node) {
	const paths = await browsing.signedIn(node, {}, (page) => pages(page, page.url()));
	const missed = Object.keys(SAYS[node]).filter((path) => !paths.includes(path));
	ensure(!missed.length, `no link leads to ${missed}`);
	return paths.map((path) => ({ path, says: SAYS[node][path] }));
}

// Where auctions of each kind are, and one of few bidders. In short, kinds whose pages differ.
async function auctions({ market, browsing, quick, quiet }) {
	const plain = (id, kind, says) => ({ path: `/auctions/${id}`, as: kind, says });
	const verified = (id, kind) =>
		({ path: `/auctions/${id}?verify=1`, as: `${kind}, verified`, says: 'computed anew' });
	const all = [];
	for (const [kind, id] of kinds(market)) {
		if (quick && !SHORT.includes(kind)) continue;
		all.push([{ browsing }, plain(id, kind)], [{ browsing }, verified(id, kind)]);
	}
	const still = quiet();
	const id = await clinched(still.market);
	const few = 'of few bidders';
	all.push([still, plain(id, few, ['Price/h', 'Wanted'])], [still, verified(id, few)]);
	return all;
}

async function looks({ browsing, out, quick }, node, ask) {
	const told = [];
	const themes = quick ? ['light'] : ['light', 'dark'];
	for (const colorScheme of themes) {
		for (const width of quick ? WIDTHS.slice(0, ask.as ? 1 : 2) : WIDTHS) {
			const options = { viewport: { width, height: 900 }, colorScheme };
			await browsing.signedIn(node, options, async (page, seen) => {
				const token = await tokenOf(page);
				await page.addInitScript(watchShifts);
				await open(page, ask, token);
				const first = width === WIDTHS[0] && colorScheme === themes[0];
				if (first) told.push(await budgets(page, ask, token, quick ? 3 * ANSWER_MS : ANSWER_MS));
				await still(page, width);
				await axe(page);
				const file = [node, ask.path, ask.as].join('-').replace(/[^a-z0-9]+/gi, '-');
				const shot = join(out, `${file}-${width}-${colorScheme}.png`);
				await page.screenshot({ path: shot, fullPage: true });
				if (first) told.push(await keyboard(page, () => open(page, ask, token)));
				const errors = seen.errors.filter((text) => !expected(text, ask));
				ensure(!errors.length, `errors: ${errors}`);
			});
		}
	}
	return told.join(', ');
}

// Opens a page by its address, or by sending a form as a page of this session does.
async function open(page, { path, form, status = 200, says }, token) {
	const url = new URL(path, page.url()).href;
	let answer;
	if (form) {
		// From a page that stands still, for what a page loads may not come between.
		await page.goto(new URL('/', url).href);
		[answer] = await Promise.all([
			page.waitForNavigation(),
			page.evaluate(send, { url, fields: { ...form, token } }),
		]);
	} else {
		answer = await page.goto(url);
	}
	ensure(answer.status() === status, `it answers ${answer.status()} and not ${status}`);
	for (const text of [says ?? []].flat()) {
		const seen = page.locator('main').getByText(text).locator('visible=true').first();
		await seen.waitFor({ timeout: 5_000 });
	}
}

function send({ url, fields }) {
	const form = Object.assign(document.createElement('form'), { method: 'post', action: url });
	for (const [name, value] of Object.entries(fields)) {
		form.append(Object.assign(document.createElement('input'), { name, value }));
	}
	document.body.append(form);
	form.submit();
}

// A browser notes that a page came with a status of a failure, where that is what is looked at.
const expected = (text, { status = 200 }) =>
	status >= 400 && text.startsWith('Failed to load resource') && text.includes(`${status}`);

// Median of the time to the last byte, as a program on this machine sees it; bytes of all it loads.
async function budgets(page, { path, form, status = 200 }, token, limit) {
	const body = form && `${new URLSearchParams({ ...form, token })}`;
	const times = [];
	let length;
	for (let n = 0; n < ROUNDS; n++) {
		const began = performance.now();
		const answer = await asked(page, path, body);
		length = answer.body.length;
		times.push(performance.now() - began);
		ensure(answer.status === status, `it answers ${answer.status}`);
	}
	const ms = times.sort((a, b) => a - b)[ROUNDS >> 1];
	ensure(ms <= limit, `it takes ${ms.toFixed(0)} ms, more than ${limit}`);
	const files = await page.evaluate(() =>
		performance.getEntriesByType('resource').filter((one) => one.initiatorType !== 'other')
			.reduce((sum, one) => sum + one.decodedBodySize, 0));
	const bytes = length + files;
	ensure(bytes <= BYTES, `${bytes} bytes, more than ${BYTES}`);
	return `${ms.toFixed(0)} ms, ${Math.round(bytes / 1000)} kB`;
}

function watchShifts() {
	window.shifted = 0;
	new PerformanceObserver((list) => {
		for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
	}).observe({ type: 'layout-shift', buffered: true });
}

// Nothing moves by itself, and nothing is wider than the window.
async function still(page, width) {
	await page.waitForTimeout(300);
	const { shifted, wide } = await page.evaluate(() => ({
		shifted: window.shifted,
		wide: document.documentElement.scrollWidth,
	}));
	ensure(shifted <= SHIFT, `its parts move: ${shifted}`);
	ensure(wide <= width, `${wide} pixels wide in a window of ${width}`);
}

// The tab key reaches all that can be used, and shows where it is: on a page that nothing changes
// meanwhile, since what is put there anew has not been reached yet.
async function keyboard(page, again) {
	await page.addInitScript(() => { window.EventSource = EventTarget; });
	await again();
	const usable = 'a[href], button, input:not([type=hidden]), select, textarea, summary';
	// The key leads to one radio button of a group; the arrows lead to the others.
	const wanted = new Map(await page.locator(usable).evaluateAll((all) =>
		all.filter((el) => el.checkVisibility() && !el.disabled).map((el, n) => {
			const group = `radio ${[...document.forms].indexOf(el.form)} ${el.name}`;
			el.dataset.reached = el.type === 'radio' ? group : `${n}`;
			return [el.dataset.reached, el.outerHTML.slice(0, 80)];
		})));
	const reached = new Set();
	for (let n = 0; n < 3 * wanted.size + 10 && reached.size < wanted.size; n++) {
		await page.keyboard.press('Tab');
		const at = await page.evaluate(() => {
			const el = document.activeElement, style = getComputedStyle(el);
			const seen = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
			return { n: el.dataset?.reached, seen, html: el.outerHTML.slice(0, 80) };
		});
		if (at.n === undefined) continue;
		ensure(at.seen, `focus does not show: ${at.html}`);
		reached.add(at.n);
	}
	const missed = [...wanted].filter(([one]) => !reached.has(one)).map(([, html]) => html);
	ensure(!missed.length, `the tab key does not reach ${missed}`);
	return `${reached.size} by keyboard`;
}

async function axe(page) {
	// The page's policy forbids other scripts, so this one comes by the browser's own way.
	await page.evaluate(AXE);
	const { violations } = await page.evaluate(() => window.axe.run());
	const grave = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
	const text = grave.map(({ id, nodes }) => `${id}: ${nodes.map((n) => n.html).slice(0, 3)}`);
	ensure(!grave.length, `axe: ${text.join('\n')}`);
}
