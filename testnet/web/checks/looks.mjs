// Every page that a link leads to: how fast, how large, how still, how usable, at three widths, in
// light and dark.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asked, pages } from '../browsing.mjs';
import { ensure } from '../report.mjs';
import { held } from './leases.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const BYTES = 150_000;
const ANSWER_MS = 200;
const ROUNDS = 5;
const SHIFT = 0.01;
const WIDTHS = [390, 1280, 1920];

export async function run(all) {
	await all.report.check('there is a lease to look at', () => held(all.market).then(() => ''));
	for (const node of ['b1', 'v1']) {
		let paths = [];
		await all.report.check(`${node}: every link leads to a page`, () =>
			all.browsing.signedIn(node, {}, async (page) => {
				paths = await pages(page, page.url());
				return `${paths.length} pages`;
			}));
		for (const path of paths) {
			const name = `${node} ${path.replace(/[0-9a-f]{8,}/g, '*')}`;
			await all.report.check(name, () => looks(all, node, path));
		}
	}
}

async function looks({ browsing, out, quick }, node, path) {
	const told = [];
	const themes = quick ? ['light'] : ['light', 'dark'];
	for (const colorScheme of themes) {
		for (const width of quick ? [390, 1280] : WIDTHS) {
			const options = { viewport: { width, height: 900 }, colorScheme };
			await browsing.signedIn(node, options, async (page, seen) => {
				await page.addInitScript(watchShifts);
				await page.goto(new URL(path, page.url()).href);
				const first = width === WIDTHS[0] && colorScheme === themes[0];
				if (first) told.push(await budgets(page, path, quick ? 3 * ANSWER_MS : ANSWER_MS));
				await still(page, width);
				await axe(page);
				const file = `${node}${path.replace(/[^a-z0-9]+/gi, '-')}`;
				const shot = join(out, `${file}-${width}-${colorScheme}.png`);
				await page.screenshot({ path: shot, fullPage: true });
				ensure(!seen.errors.length, `errors: ${seen.errors}`);
				if (first) told.push(await keyboard(page));
			});
		}
	}
	return told.join(', ');
}

// Median of the time to the last byte, as a program on this machine sees it; bytes of all it loads.
async function budgets(page, path, limit) {
	const times = [];
	let body;
	for (let n = 0; n < ROUNDS; n++) {
		const began = performance.now();
		const answer = await asked(page, path);
		body = answer.body;
		times.push(performance.now() - began);
		ensure(answer.status === 200, `it answers ${answer.status}`);
	}
	const ms = times.sort((a, b) => a - b)[ROUNDS >> 1];
	ensure(ms <= limit, `it takes ${ms.toFixed(0)} ms, more than ${limit}`);
	const files = await page.evaluate(() =>
		performance.getEntriesByType('resource').filter((one) => one.initiatorType !== 'other')
			.reduce((sum, one) => sum + one.decodedBodySize, 0));
	const bytes = body.length + files;
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
async function keyboard(page) {
	await page.addInitScript(() => { window.EventSource = EventTarget; });
	await page.reload();
	const usable = 'a[href], button, input:not([type=hidden]), select, textarea, summary';
	const wanted = await page.locator(usable).evaluateAll((all) =>
		all.filter((el) => el.checkVisibility() && !el.disabled).map((el, n) => {
			el.dataset.reached = `${n}`;
			return `${n} ${el.outerHTML.slice(0, 80)}`;
		}));
	const reached = new Set();
	for (let n = 0; n < 3 * wanted.length + 10 && reached.size < wanted.length; n++) {
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
	const radios = new Set(await page.locator('input[type=radio]').evaluateAll((all) =>
		all.map((el) => el.dataset.reached)));
	const missed = wanted.filter((one) => {
		const n = one.split(' ')[0];
		return !reached.has(n) && !radios.has(n);
	});
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
