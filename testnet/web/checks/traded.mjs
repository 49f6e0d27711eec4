// What a market has besides auctions of thousands: a project with a member, jobs and an invoice, a
// pool, a plan of deadlines, a contract, sales of each kind, and an auction of few bidders. Without
// them their pages say only that there is nothing.

import { ensure, until } from '../report.mjs';

const PROJECT = 'lab';
const USER = 'eve';
const BATCH = 'batch';
const JOBS = ['by-time', 'claimed', BATCH];
// Labels of the offers, and a price above all standing bids, which are not to win their units.
const [PLAN, POOL, POSTED] = [21, 22, 23];
const RESERVE = '4.5';
// Nodes and most per node-hour of bids that meet: the last two would not be served by two units.
const BIDS = [[1, 9], [2, 8], [2, 6]];
const KINDS = ['boundary', 'free', 'buy', 'share', 'reservation', 'posted'];

// What pages that links lead to must say, or they show nothing of what is traded.
export const SAYS = {
	b1: {
		'/contracts': [/^Signed$/, 'Planned jobs', 'by-time'],
		'/pools': ['Claims on the pool', 'claimed'],
		[`/projects/${PROJECT}`]: [/^1 members?$/],
		[`/projects/${PROJECT}/invoice`]: ['project-job'],
	},
	v1: {
		'/contracts': ['provider, small', /^Signed$/, 'Planned jobs'],
		'/pools': ['Claims on the pool'],
	},
};

// Questions about the project, with and without a mistake.
const asks = (what, fields, says, more) =>
	({ path: `/projects/${PROJECT}/${what}/ask`, form: fields, says, ...more });
export const ASKED = {
	b1: [
		asks('bounds', { budget: '7', jobs: '3' }, 'Change the bounds of', { as: 'sure' }),
		asks('bounds', { budget: 'much' }, 'much', { as: 'mistaken' }),
		asks('members', { user: USER, role: 'manager' }, 'manager', { as: 'sure' }),
		asks('members', { user: 'nobody', role: 'manager' }, 'nobody', { as: 'mistaken' }),
	],
	v1: [],
};

const run = (market, name, ...words) =>
	market.gridbay('b1', 'run', '--class', 'small', '--name', name, '--detach', ...words);
const state = (market, name) => market.gridbay('b1', 'job', 'describe', name).state;

// Jobs that go on. One of a contract ends when the contract does: when all that it asked for is
// decided, which nobody waits for.
const going = (market) => market.gridbay('b1', 'job', 'list').filter(({ name, state }) =>
	JOBS.includes(name) && !(name === BATCH && state === 'ending'));

// Makes all of it, to last for an hour; what is there already stays. The reservation is booked on
// the offer that the calendar has.
export async function traded(market) {
	if (going(market).length) return;
	if (!market.gridbay('b1', 'project', 'list').some(({ name }) => name === PROJECT)) {
		market.gridbay('b1', 'project', 'create', PROJECT, '--budget', '50', '--jobs', '20');
		market.gridbay('b1', 'user', 'add', USER);
		market.gridbay('b1', 'project', 'member', 'add', PROJECT, USER, '--role', 'member');
	}
	await offered(market);
	const project = ['--project', PROJECT];
	const short = { 'project-job': ['--buy', ...project], hired: ['--posted'] };
	short['booked-ahead'] = ['--reserve', '--from', '5s'];
	for (const [name, how] of Object.entries(short)) {
		run(market, name, ...how, '--time', '1m', '--', 'true');
	}
	const [planned, claimed] = JOBS;
	const deadlines = ['--soft', '50m', '--hard', '60m', '--pay', '8', '--late-pay', '4'];
	const tasks = ['--time', '2s', '--array', '1400', '--', 'sleep', '1'];
	run(market, planned, ...project, ...deadlines, ...tasks);
	const share = ['--share', '--rate', '6', '--array', '2', '--time', '40m'];
	run(market, claimed, ...share, '--', 'sleep', '2400');
	const worth = ['--value', '1', '--penalty', '0.1', '--hold', '1h', '--window', '1h'];
	const jobs = ['--provider', 'v1', '--jobs', '3', '--time', '2m', ...worth];
	run(market, BATCH, ...jobs, '--', 'sleep', '60');
	await signed(market);
	await until('its jobs run, and the short ones are done', 60, () =>
		[planned, claimed].every((name) => state(market, name) === 'running')
		&& Object.keys(short).every((name) => state(market, name) === 'done'));
}

// Offers of units for a plan, for a pool, and at a posted price.
async function offered(market) {
	const set = (label, units, ...how) => market.gridbay('v1', 'offer', 'set', '--class', 'small',
		'--units', units, '--reserve', RESERVE, '--label', `${label}`, '--mechanism', ...how);
	set(PLAN, '2', 'deadline', '--min-gain', '0.2');
	set(POOL, '2', 'share');
	set(POSTED, '1', 'posted');
	await until('the buyer sees the offers', 20, () => {
		const open = market.gridbay('b1', 'offer', 'list').filter(({ on_sale }) => on_sale);
		const labels = open.map(({ label }) => label);
		return [PLAN, POOL, POSTED].every((one) => labels.includes(one));
	});
}

// The provider signs what the buyer has proposed.
async function signed(market) {
	const { contract } = await until('the provider has a proposal', 20, () =>
		market.gridbay('v1', 'contract', 'list').find(({ signed, closed }) => !signed && !closed));
	market.gridbay('v1', 'contract', 'sign', contract);
	await until('the buyer sees it signed', 20, () =>
		market.gridbay('b1', 'contract', 'list').find((one) => one.contract === contract)?.signed);
}

// Ends what goes on, so that units are free for other checks.
export async function ended(market) {
	for (const { id } of going(market)) market.gridbay('b1', 'job', 'cancel', id);
	for (const label of [PLAN, POOL, POSTED]) market.gridbay('v1', 'offer', 'withdraw', `${label}`);
	await until('they end', 60, () => !going(market).length);
}

// An auction that is small enough to be explained price by price. The class has no other bids.
export async function clinched(market) {
	const few = () => market.gridbay('b1', 'auction', 'list', '--limit', '200').find((one) =>
		one.class === 'small' && one.bids === BIDS.length && one.winners > 1);
	const there = few();
	if (there) return there.id;
	const bids = BIDS.map(([nodes, most]) => run(market, `bid-${most}`, '--array', `${nodes}`,
		'--max-price', `${most}`, '--anyway', '--time', '10m', '--', 'sleep', '600'));
	const { id } = await until('three bids meet in an auction', 60, few);
	for (const bid of bids) market.gridbay('b1', 'job', 'cancel', bid.id);
	await until('the bids end', 30, () =>
		!market.gridbay('b1', 'job', 'list').some((one) => bids.some((bid) => bid.id === one.id)));
	return id;
}

// The largest auction of each kind: the kinds with their ids.
export function kinds(market) {
	const found = new Map();
	for (const one of market.gridbay('b1', 'auction', 'list', '--limit', '2000')) {
		if (!(found.get(one.kind)?.bids >= one.bids)) found.set(one.kind, one);
	}
	const missed = KINDS.filter((kind) => !found.has(kind));
	ensure(!missed.length, `no auctions of the kinds ${missed}`);
	return KINDS.map((kind) => [kind, found.get(kind).id]);
}
