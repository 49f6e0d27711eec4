// Clusters: they show with their lease and its network, and are given up by a form.

import { until } from '../report.mjs';

const NAME = 'page-cluster';

// A cluster of the buyer that runs; the one that there is, if there is one. It is of the class that
// has room for another order: the whole past fills the other one with bids of invited accounts.
export async function held(market) {
	const words = ['cluster', 'new', '--buy', '--class', 'small', '--nodes', '1', '--time', '30m'];
	const own = market.gridbay('b1', 'cluster', 'list').find(({ name }) => name === NAME);
	const { id } = own ?? market.gridbay('b1', ...words, '--name', NAME, '--detach');
	const state = () => market.gridbay('b1', 'cluster', 'show', id).state;
	await until('a cluster runs', 60, () => state() === 'running');
	return state;
}

export async function run({ report, market, browsing }) {
	await report.check('a cluster shows its lease, its network, and is given up by its page', () =>
		browsing.signedIn('b1', {}, async (page) => {
			const state = await held(market);
			await page.goto(new URL('/leases', page.url()).href);
			await page.locator('main a[href^="/leases/"]', { hasText: NAME }).click();
			const ways = page.getByRole('group', { name: 'Ways between members' });
			await until('a way to its member', 60, async () => {
				await page.reload();
				return ways.getByText('owner').count();
			});
			await page.locator('main a[href$="/end"]').click();
			await page.locator('form[action$="/end"] button').click();
			await until('the ledger ends it', 30, () => /cancel|end/.test(state()));
		}));
}
