// Auctions: a small one is explained price by price as it was decided, and any is verified by its
// page with the verdict that the command gives.

import { ensure } from '../report.mjs';
import { clinched } from './traded.mjs';

const CHECKED = ['Header signed', 'Record is in the block', 'Winners and payments'];

export async function run({ report, market, browsing, quiet }) {
	const still = quiet();
	await report.check('a small auction shows what each of its bidders clinches, and when', () =>
		still.browsing.signedIn('b1', {}, (page) => explained(page, still.market)));
	await report.check('Verify checks an auction of few bids, and says what it found', async () => {
		const id = await clinched(still.market);
		return still.browsing.signedIn('b1', {}, (page) => verified(page, still.market, id));
	});
	await report.check('Verify checks an auction of many bids', () => {
		const all = market.gridbay('b1', 'auction', 'list', '--limit', '2000');
		const { id, bids } = all.reduce((most, one) => (one.bids > most.bids ? one : most));
		ensure(bids > 500, `the largest has ${bids} bids`);
		return browsing.signedIn('b1', {}, (page) => verified(page, market, id));
	});
}

const open = (page, path) => page.goto(new URL(path, page.url()).href);

// What bidders clinch, price by price, comes to the units that they won: beside each other, by the
// columns of the table.
async function explained(page, market) {
	const id = await clinched(market);
	await open(page, `/auctions/${id}`);
	const rows = await page.locator('.clinch tr').evaluateAll((all) =>
		all.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
	const names = rows.find(([first]) => first === 'Order').slice(1, -2);
	const prices = rows.filter(([first]) => /^\d/.test(first));
	ensure(prices.length > 1, `it has ${prices.length} prices`);
	const { awards } = market.gridbay('b1', 'auction', 'show', id).record.clearing;
	for (const [n, name] of names.entries()) {
		const gains = prices.map((cells) => /\+(\d+)$/.exec(cells[n + 1])?.[1] ?? 0);
		const units = gains.reduce((sum, gain) => sum + Number(gain), 0);
		const won = awards.find(({ order }) => name.startsWith(order.slice(0, 8)))?.units ?? 0;
		ensure(units === won, `${name} clinches ${units} and wins ${won}`);
	}
	ensure(awards.length > 1, 'it has one winner');
	return `${names.length} bidders, ${prices.length} prices, ${awards.length} winners`;
}

// By the button of the page, which says nothing of a check before.
async function verified(page, market, id) {
	await open(page, `/auctions/${id}`);
	const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Verify' }) });
	const checks = panel.locator('.checks li');
	ensure(await checks.count() === 0, 'it tells of a check that nobody asked for');
	await panel.getByRole('link', { name: 'Verify', exact: true }).click();
	await panel.getByText('Checked here in').waitFor();
	const found = await checks.evaluateAll((all) => all.map((one) =>
		`${one.querySelector('[data-tone]').dataset.tone} ${one.textContent}`));
	ensure(found.length === CHECKED.length, `it tells of ${found.length} checks: ${found}`);
	for (const [n, what] of CHECKED.entries()) {
		ensure(found[n].startsWith('ok ') && found[n].includes(what), `${what}: ${found[n]}`);
	}
	const [{ ok, why }] = market.gridbay('b1', 'auction', 'verify', id);
	ensure(ok, `the command finds otherwise: ${why}`);
}
