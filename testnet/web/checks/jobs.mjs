// Jobs: they appear by themselves, show what they write, and end by a form.

import { ensure, until } from '../report.mjs';

export async function run({ report, market, browsing }) {
	await report.check('a job appears, runs and is cancelled by its page', () =>
		browsing.signedIn('b1', {}, async (page) => {
			await page.goto(new URL('/jobs', page.url()).href);
			const script = 'echo it runs; exec sleep 120';
			const words = ['run', '--buy', '--class', 'small', '--name', 'page-job', '--detach'];
			market.gridbay('b1', ...words, '--', 'sh', '-c', script);
			const link = page.locator('a[href^="/jobs/"]', { hasText: 'page-job' });
			await link.first().waitFor({ timeout: 10_000 });
			await link.first().click();
			await page.getByText('it runs').first().waitFor({ timeout: 30_000 });
			const live = await page.locator('[data-live-state]').first().textContent();
			ensure(/live/i.test(live), `the page is not live: ${live}`);
			await page.locator('a[href$="/cancel"]').first().click();
			await page.locator('form[action$="/cancel"] button').click();
			await until('the ledger ends it', 20, () =>
				/cancel/i.test(JSON.stringify(market.gridbay('b1', 'job', 'describe', 'page-job').state)));
		}));
}
