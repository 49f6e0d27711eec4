// What pages of other origins and other host names may not do, though they have all that a session
// has: its host name, its cookie, a token of its forms.

import { createServer } from 'node:http';
import { asked, launch, tokenOf } from '../browsing.mjs';
import { ensure } from '../report.mjs';

// Sums that nothing else moves.
const FORGED = '0.000777';
const OWN = '0.000778';
const REBOUND = 'rebound.example';

export async function run({ report, market, browsing }) {
	await report.check('a page at another port of the session’s host moves no money', () =>
		browsing.signedIn('b1', {}, (page) => forged(page, market)));
	await report.check('a page of another host gets no cookie and reads nothing', () =>
		browsing.signedIn('b1', {}, (page) => foreign(page)));
	await report.check('a name that leads here by DNS is refused, in a browser', () =>
		rebound(market));
	await report.check('a form without its token is refused', () =>
		browsing.signedIn('b1', {}, async (page) => {
			const token = await tokenOf(page);
			for (const form of ['', 'token=00', `token=${token.slice(1)}0`]) {
				const { status, body } = await asked(page, '/logout', form);
				ensure(status === 403, `${form}: it answers ${status}`);
				ensure(/page of this session/.test(body), `${form}: for another reason: ${body}`);
			}
			const { status } = await asked(page, '/logout', `token=${token}`);
			ensure(status === 200, `with its token it answers ${status}`);
		}));
}

async function served(html, work) {
	const cookies = [];
	const server = createServer((request, answer) => {
		cookies.push(...[request.headers.cookie].filter(Boolean));
		answer.setHeader('content-type', 'text/html').end(html);
	});
	await new Promise((go) => server.listen(0, '127.0.0.1', go));
	try {
		return await work(server.address().port, cookies);
	} finally {
		server.close();
	}
}

// Browsers send the cookies of a host to all its ports, also with forms of pages at another: only
// the origin of the form tells the node who asks.
async function forged(page, market) {
	const moved = (amount) => market.gridbay('b1', 'ledger', 'history')
		.filter((line) => line.reason === 'transfer' && line.amount === `-${amount}`).length;
	const home = new URL(page.url());
	const fields = { token: await tokenOf(page), to: 'v1', key: `forged-${Date.now()}` };
	const inputs = Object.entries({ ...fields, amount: FORGED })
		.map(([name, value]) => `<input name="${name}" value="${value}">`);
	const action = new URL('/ledger/transfer', home);
	const html = `<form method=post action="${action}">${inputs}<button>go</button></form>`;
	const own = { ...fields, key: `own-${Date.now()}`, amount: OWN };
	const before = [OWN, FORGED].map(moved);
	await served(html, async (port, cookies) => {
		await page.goto(`http://${home.hostname}:${port}/`);
		ensure(cookies.length, 'no cookie came along, so this shows nothing');
		const read = await page.evaluate((url) => fetch(url, { credentials: 'include' })
			.then((answer) => answer.text()).catch(() => null), home.href);
		ensure(read === null, 'another origin reads the overview');
		const [answer] = await Promise.all([
			page.waitForResponse(action.href),
			page.getByRole('button').click(),
		]);
		ensure(answer.status() === 403, `another origin’s form is answered ${answer.status()}`);
		await page.getByText('page of another address').waitFor();
	});
	// The same form of the page itself is taken: it was refused for where it came from.
	await page.goto(home.href);
	const { status } = await asked(page, '/ledger/transfer', `${new URLSearchParams(own)}`);
	ensure(status === 200 && moved(OWN) === before[0] + 1, `its own form is answered ${status}`);
	ensure(moved(FORGED) === before[1], 'another origin moved money');
}

async function foreign(page) {
	const home = page.url();
	await served('<p>elsewhere', async (port, cookies) => {
		await page.goto(`http://127.0.0.1:${port}/`);
		const read = await page.evaluate((url) => fetch(url, { credentials: 'include' })
			.then((answer) => answer.text()).catch(() => null), home);
		ensure(read === null, 'another origin reads the overview');
		ensure(!cookies.length, `another host was sent ${cookies}`);
	});
}

// A browser that is told by DNS that the name is this machine, as a page of that name can have it.
async function rebound(market) {
	const browser = await launch(`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`);
	try {
		const page = await browser.newPage();
		const link = new URL(market.link('b1'));
		for (const path of ['/', '/gridbay.js', '/api/v1/node', link.pathname + link.search]) {
			const answer = await page.goto(`http://${REBOUND}:${link.port}${path}`);
			ensure(answer.status() === 421, `${path} is answered ${answer.status()}`);
		}
		// The link is still good under its own name.
		const answer = await page.goto(link.href);
		ensure(answer.status() === 200, `its own host is answered ${answer.status()}`);
	} finally {
		await browser.close();
	}
}
