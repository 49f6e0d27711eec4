// Who gets in: links, sessions, scopes.

import { asked, enter, pages, tokenOf } from '../browsing.mjs';
import { ensure, until } from '../report.mjs';

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
	await report.check('who may read finds no form that acts, and none is taken', () =>
		read(market, browsing));
	await report.check('leaving ends the session', async () => {
		await browsing.signedIn('b1', {}, async (page) => {
			const home = page.url();
			await page.locator('form[action="/logout"] button').click();
			await page.goto(home);
			ensure(!(await page.locator('nav').count()), 'the session lives on');
		});
	});
}

// A job that could be cancelled, seen by one who may read; at last by one who may end it, so that
// the form which was refused is one that is taken.
async function read(market, browsing) {
	const words = ['run', '--buy', '--class', 'small', '--time', '5m', '--name', 'page-reader'];
	const { id } = market.gridbay('b1', ...words, '--detach', '--', 'sleep', '280');
	const job = () => market.gridbay('b1', 'job', 'describe', id).state;
	await until('it runs', 60, () => job() === 'running');
	await browsing.signedIn('b1', { scope: 'read' }, async (page) => {
		const acts = async () => {
			const forms = page.locator('form[method=post]:not([action="/logout"]), a[href$="/cancel"]');
			ensure(!(await forms.count()), `${page.url()} has a form that acts`);
		};
		await page.goto(new URL(`/jobs/${id}`, page.url()).href);
		await acts();
		await pages(page, page.url(), acts);
		await page.goto(new URL('/', page.url()).href);
		const token = await tokenOf(page);
		for (const path of [`/jobs/${id}/cancel`, '/seller/drain', '/ledger/ask', '/submit']) {
			const { status, body } = await asked(page, path, `token=${token}`);
			ensure(status === 403, `${path}: a reader is answered ${status}`);
			// What each form itself would ask for is more, or nothing.
			ensure(/--scope trade/.test(body), `${path}: for another reason: ${body}`);
		}
		ensure(job() === 'running', `a reader made it ${job()}`);
	});
	await browsing.signedIn('b1', { scope: 'trade' }, async (page) => {
		const token = await tokenOf(page);
		const { status } = await asked(page, `/jobs/${id}/cancel`, `token=${token}`);
		ensure(status === 303, `a trader is answered ${status}`);
		await until('it ends', 20, () => job() === 'cancelled');
	});
}
