// Sessions in the browser. Every request is watched: none may leave the machine.

import { request } from 'node:http';
import { chromium } from 'playwright-core';
import { ensure } from './report.mjs';

// Pages followed at the most.
const MOST = 60;

// The browser; `more` are further words of its command line.
export const launch = (...more) => chromium.launch({
	executablePath: process.env.CHROMIUM,
	// The pages are ours, and root has no sandbox of its own.
	args: ['--no-sandbox', '--disable-gpu', ...more],
});

export class Browsing {
	#browser;
	#market;
	// Addresses to which pages have sent forms, by their kinds.
	sent = new Set();

	constructor(browser, market) {
		this.#browser = browser;
		this.#market = market;
	}
	// A fresh profile that is signed in at a node; `work` gets its page.
	async signedIn(node, options, work) {
		const { scope = 'admin', ...context } = options;
		return this.fresh(context, async (page, seen) => {
			await enter(page, this.#market.link(node, scope));
			return work(page, seen);
		});
	}
	// A fresh profile. Errors of scripts and requests to elsewhere fail it.
	async fresh(options, work) {
		const context = await this.#browser.newContext(options);
		const seen = { errors: [], outside: [], dialogs: 0 };
		context.on('request', (request) => {
			const { hostname, protocol, pathname } = new URL(request.url());
			if (request.method() === 'POST') this.sent.add(kind(pathname));
			const own = hostname === '127.0.0.1' || hostname.endsWith('.localhost');
			const inside = own || protocol === 'data:';
			if (!inside) seen.outside.push(request.url());
		});
		try {
			const page = await context.newPage();
			page.on('pageerror', (error) => seen.errors.push(`${error}`));
			page.on('console', (line) => line.type() === 'error' && seen.errors.push(line.text()));
			page.on('dialog', (dialog) => { seen.dialogs += 1; dialog.dismiss(); });
			const done = await work(page, seen);
			ensure(!seen.outside.length, `asked elsewhere: ${seen.outside}`);
			ensure(!seen.dialogs, 'a script of somebody else ran');
			return done;
		} finally {
			await context.close();
		}
	}
}

// Follows a link; the page behind it goes on to the overview by itself.
export async function enter(page, link) {
	await page.goto(link);
	await page.locator('nav').first().waitFor({ state: 'attached', timeout: 10_000 });
	await page.waitForLoadState();
}

// What the forms of the page's session carry.
export const tokenOf = (page) =>
	page.locator('form[action="/logout"] input[name=token]').inputValue();

// The words of the navigation, from top to bottom, without the figures beside them.
export const navigation = (page) => page.locator('#nav h2, #nav li a').evaluateAll((all) =>
	all.map((one) => one.firstChild.textContent.trim()));

// Asks as the page would, without the browser: with its cookies, and for its host name, which only
// browsers look for on this machine. A form is sent by POST.
export async function asked(page, path, form) {
	const url = new URL(path, page.url());
	const cookies = await page.context().cookies(url.href);
	const headers = {
		host: url.host,
		cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
		...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
	};
	const to = { host: '127.0.0.1', port: url.port, path: url.pathname + url.search, headers };
	const method = form === undefined ? 'GET' : 'POST';
	return new Promise((go, fail) => {
		const sent = request({ ...to, method }, (answer) => {
			const pieces = [];
			answer.on('data', (piece) => pieces.push(piece)).on('error', fail);
			answer.on('end', () => go({ status: answer.statusCode, body: Buffer.concat(pieces) }));
		});
		sent.on('error', fail).end(form);
	});
}

// The kind of an address: `/jobs/<id>` is one, and so are `/seller/offers/<n>/withdraw` and the
// questions about any project.
export const kind = (path) => path.replace(/[0-9a-f]{8,}/g, '*').replace(/\/\d+(?=\/)/g, '/*')
	.replace(/^\/projects\/[^/]+(?=\/(bounds|members))/, '/projects/*');

// Addresses of all pages that links lead to, a few of each kind: `/jobs/<id>` is one kind.
// `look` gets each of them while it is open.
export async function pages(page, home, look = () => {}) {
	const found = new Map([['/', '/']]);
	for (const path of found.values()) {
		const answer = await page.goto(new URL(path, home).href);
		ensure(answer.ok(), `${path} answers ${answer.status()}`);
		if (!/html/.test(answer.headers()['content-type'])) continue;
		await look(page);
		const links = await page.$$eval('a[href]', (all) => all.map((a) => a.href));
		for (const link of links.map((link) => new URL(link))) {
			const one = kind(link.pathname);
			const same = link.origin === new URL(home).origin;
			const file = /\.(csv|json|cbor|txt)$/.test(one) || one === '/logout';
			if (same && !file && !found.has(one) && found.size < MOST) {
				found.set(one, link.pathname + link.search);
			}
		}
	}
	return [...found.values()];
}
