// Who gets in: links, sessions, scopes.

import { asked, enter } from '../browsing.mjs';
import { ensure } from '../report.mjs';

export async function run({ report, market, browsing }) {
	await report.check('a link opens the pages once', async () => {
		const link = market.link('b1');
		await browsing.fresh({}, async (page) => {
			await enter(page, link);
		});
		await browsing.fresh({}, async (page) => {
			const answer = await page.goto(link);
			ensure(answer.status() >= 400, `a used link answers ${answer.status()}`);
			await page.goto(new URL('/', link).href);
			ensure(!(await page.locator('nav').count()), 'the overview shows without a session');
		});
	});
	await report.check('who may read finds no form that acts', async () => {
		await browsing.signedIn('b1', { scope: 'read' }, async (page) => {
			const { status } = await asked(page, '/jobs/none/cancel', '');
			ensure(status === 403, `a form of a reader answers ${status}`);
		});
	});
	await report.check('leaving ends the session', async () => {
		await browsing.signedIn('b1', {}, async (page) => {
			const home = page.url();
			await page.locator('form[action="/logout"] button').click();
			await page.goto(home);
			ensure(!(await page.locator('nav').count()), 'the session lives on');
		});
	});
}
