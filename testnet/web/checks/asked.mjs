// Pages that no link leads to: answers to questions, by address or by a form, and failures. The
// node works most for these. `says` is what tells that the page is the one that is meant.

import { until } from '../report.mjs';

const ORDER = { argv: "sh -c 'sleep 9'", class: 'small', nodes: '1', time: '2m', how: 'ausubel' };
const query = (path, fields) => `${path}?${new URLSearchParams(fields)}`;

export const MORE = {
	b1: [
		{ path: query('/submit', ORDER), as: 'checked', says: 'Can be spent' },
		{ path: query('/submit', { ...ORDER, nodes: '200' }), as: 'hopeless', says: 'comes to nothing' },
		{ path: query('/submit', { ...ORDER, time: 'soon' }), as: 'mistaken', says: 'Time', status: 400 },
		{ path: '/submit', form: { ...ORDER, do: 'check' }, as: 'checked by a form', says: 'Submit' },
		{ path: query('/market', { class: 'small', q: 'cpus >= 1' }), as: 'asked', says: 'cpus >= 1' },
		{ path: query('/market', { class: 'small', q: 'cpus >= 99' }), as: 'none', says: 'cpus >= 99' },
		{ path: query('/market', { class: 'small', q: '((' }), as: 'mistaken', says: '((' },
		{ path: query('/market', { class: 'large', span: '1d' }), as: 'of a day' },
		{ path: '/ledger/ask', form: { to: 'v1', amount: '1' }, as: 'sure', says: 'Transfer 1 credits' },
		{ path: '/ledger/ask', form: { to: 'nobody', amount: '1' }, as: 'mistaken', says: 'nobody' },
		{
			path: '/reservations/ask',
			form: { class: 'small', nodes: '1', time: '1m', from: '10s' },
			as: 'sure',
			says: 'Book these nodes?',
		},
		{
			path: '/reservations/ask',
			form: { class: 'small', nodes: 'many' },
			as: 'mistaken',
			says: 'Nodes',
		},
		{ path: '/jobs/0000000000000000', as: 'unknown', status: 404, says: 'overview' },
		{ path: '/auctions/0000000000000000', as: 'unknown', status: 404, says: 'overview' },
		{ path: '/nowhere', as: 'unknown', status: 404, says: 'overview' },
	],
	v1: [
		{
			path: '/seller/set',
			form: { class: 'small', units: 'four', reserve: '1' },
			as: 'mistaken',
			status: 400,
			says: 'four',
		},
	],
};

// An offer ahead of time, so that the calendar has something to show and to ask about.
export async function ahead(market) {
	const words = ['--class', 'small', '--units', '1', '--reserve', '4.5', '--label', '9'];
	market.gridbay('v1', 'offer', 'set', ...words, '--mechanism', 'reservation');
	await until('the calendar has an offer', 20, () =>
		market.gridbay('b1', 'market', 'calendar').some(({ offers }) => offers.length));
}
