// Pages that say that they are live: what a command does shows in them by itself.

import { ensure, until } from '../report.mjs';

const AMOUNT = 7;
const LABEL = '31';

export async function run({ report, market, browsing }) {
	await report.check('the ledger shows what is paid to it while it is open', () =>
		browsing.signedIn('b1', {}, async (page) => {
			const { account } = market.gridbay('b1', 'ledger', 'balance');
			return shows(page, '/ledger', 'Free', AMOUNT, () =>
				market.gridbay('v1', 'ledger', 'transfer', account, `${AMOUNT}`));
		}));
	await report.check('the market shows units that are set while it is open', () =>
		browsing.signedIn('b1', {}, async (page) => {
			const words = ['--class', 'small', '--units', '1', '--reserve', '5', '--label', LABEL];
			const told = await shows(page, '/market?class=small', 'Offered', 1, () =>
				market.gridbay('v1', 'offer', 'set', ...words));
			market.gridbay('v1', 'offer', 'withdraw', LABEL);
			return told;
		}));
}

// That a figure of an open page rises by so much once something is done, without a reload. Its
// orders may be paid for meanwhile, which is less than the half of it.
async function shows(page, path, name, rise, act) {
	await page.goto(new URL(path, page.url()).href);
	await page.locator('[data-live-state=on]').first().waitFor({ timeout: 5_000 });
	const place = page.locator(`#stats dt:text-is("${name}") + dd`);
	const figure = async () => parseFloat((await place.textContent()).replaceAll(',', ''));
	const before = await figure();
	await page.evaluate(() => { window.stays = true; });
	act();
	const after = await until(`${name} rises by ${rise} from ${before}`, 20, async () => {
		const now = await figure();
		return Math.abs(now - before - rise) < rise / 2 && now;
	});
	ensure(await page.evaluate(() => window.stays), 'the page was loaded anew');
	return `${name} goes from ${before} to ${after}`;
}
