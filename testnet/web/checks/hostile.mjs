// What pages of other origins and names chosen by others may not do.

import { createServer, request } from 'node:http';
import { asked } from '../browsing.mjs';
import { ensure, until } from '../report.mjs';

const NAME = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>';

export async function run({ report, market, browsing }) {
	await report.check('names of jobs are text', () =>
		browsing.signedIn('b1', {}, async (page, seen) => {
			const words = ['run', '--buy', '--class', 'small', '--name', NAME, '--detach'];
			market.gridbay('b1', ...words, '--', 'sh', '-c', `echo '${NAME.replaceAll("'", '')}'`);
			await page.goto(new URL('/jobs', page.url()).href);
			const link = page.locator('main a[href^="/jobs/"]', { hasText: 'onerror' });
			await link.first().waitFor({ timeout: 10_000 });
			await link.first().click();
			await until('its output', 30, () => page.getByText('alert(2)').count());
			ensure(!(await page.locator('main img, main script').count()), 'it became an element');
			ensure(!seen.errors.length, `errors: ${seen.errors}`);
		}));
	await report.check('a foreign host name is refused', async () => {
		const url = new URL(market.link('b1'));
		const status = await new Promise((got, failed) => {
			const headers = { host: `rebound.example:${url.port}` };
			const sent = request({ host: '127.0.0.1', port: url.port, path: '/', headers }, (answer) => {
				answer.resume();
				got(answer.statusCode);
			});
			sent.on('error', failed).end();
		});
		ensure(status >= 400, `it answers ${status}`);
	});
	await report.check('a page of another origin neither acts nor reads', () =>
		browsing.signedIn('b1', {}, (page) => forged(page, market)));
	await report.check('a form without its token is refused', () =>
		browsing.signedIn('b1', {}, async (page) => {
			const { status } = await asked(page, '/logout', 'token=00');
			ensure(status === 403, `it answers ${status}`);
		}));
}

// A page served at another port posts the form that ends the session, and asks for the overview.
// Browsers send the cookies of a host to all its ports: this one must get none.
async function forged(page, market) {
	const home = page.url();
	const html = `<form method=post action="${new URL('/logout', home)}"><button>go</button></form>`;
	const cookies = [];
	const server = createServer((request, answer) => {
		cookies.push(...[request.headers.cookie].filter(Boolean));
		answer.setHeader('content-type', 'text/html').end(html);
	});
	await new Promise((go) => server.listen(0, '127.0.0.1', go));
	try {
		await page.goto(`http://127.0.0.1:${server.address().port}/`);
		const read = await page.evaluate((url) => fetch(url, { credentials: 'include' })
			.then((answer) => answer.text()).catch(() => null), home);
		ensure(read === null, 'another origin reads the overview');
		await page.getByRole('button').click();
		await page.goto(home);
		ensure(await page.locator('nav').count(), 'another origin ended the session');
		ensure(!cookies.length, `another port was sent ${cookies}`);
	} finally {
		server.close();
	}
	ensure(market.gridbay('b1', 'job', 'list'), 'the node does not answer');
}
