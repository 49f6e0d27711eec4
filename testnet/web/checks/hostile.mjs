// Names chosen by strangers, as a browser meets them.

import { Browsing, pages } from '../browsing.mjs';
import { ensure, until } from '../report.mjs';
import { NAMES, Strangers } from '../strangers.mjs';

const NAME = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>';
const NAMED = Object.keys(NAMES);
// What none of the pages has of its own.
const MARKUP = '[onload], [onerror], main img, main script';

export async function run({ report, market, browsing, browser, out }) {
	await report.check('names and words of jobs are text', () =>
		browsing.signedIn('b1', {}, async (page, seen) => {
			const words = ['run', '--buy', '--class', 'small', '--name', NAME, '--detach'];
			market.gridbay('b1', ...words, '--', 'sh', '-c', `echo '${NAME.replaceAll("'", '')}'`);
			await page.goto(new URL('/jobs', page.url()).href);
			const link = page.locator('main a[href^="/jobs/"]', { hasText: 'onerror' });
			await link.first().waitFor({ timeout: 10_000 });
			await plain(page, seen);
			await link.first().click();
			await until('its output', 30, () => page.getByText('alert(2)').count());
			await plain(page, seen);
		}));
	const strangers = new Strangers(process.env.TESTNET, out);
	try {
		await report.check('a network founds itself with names that are markup', async () => {
			await strangers.start();
		});
		const theirs = new Browsing(browser, strangers);
		for (const node of ['buyer', 'seller']) {
			await report.check(`names of networks, peers and offers are text at a ${node}`, () =>
				theirs.signedIn(node, {}, async (page, seen) => {
					if (node === 'buyer') await trade(page, strangers);
					const met = new Set();
					const all = await pages(page, page.url(), async () => {
						await plain(page, seen);
						const text = await page.locator('body').textContent();
						for (const name of NAMED) if (text.includes(NAMES[name])) met.add(name);
					});
					const missed = NAMED.filter((name) => !met.has(name));
					ensure(!missed.length, `no page shows the name of ${missed}`);
					return `${all.length} pages`;
				}));
		}
	} finally {
		strangers.end();
	}
}

async function plain(page, seen) {
	const made = await page.locator(MARKUP).evaluateAll((all) => all.map((one) => one.outerHTML));
	ensure(!made.length, `${page.url()}: a name became ${made}`);
	ensure(!seen.errors.length, `${page.url()}: ${seen.errors}`);
}

// A job of theirs, for pages that show what was sold to whom.
async function trade(page, strangers) {
	const words = ['run', '--buy', '--class', NAMES.class, '--name', NAMES.class, '--time', '5m'];
	await until('an offer is for sale', 30, () =>
		strangers.gridbay('buyer', 'offer', 'list').some(({ on_sale }) => on_sale));
	const { id } = strangers.gridbay('buyer', ...words, '--detach', '--', 'sleep', '200');
	await until('their job runs', 30, () =>
		strangers.gridbay('buyer', 'job', 'describe', id).state === 'running');
}
