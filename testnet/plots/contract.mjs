// What a contract of ten jobs of 12 credits pays by how many are done, by the exponent beta.

import { lines } from './chart.mjs';
import { range, solve } from './solve.mjs';

const MICRO = 1_000_000;
const JOBS = 10;
const DONE = range(0, JOBS);

export function draw() {
	const of = (sixteenths) =>
		solve('contract', DONE.map((completed) => ({
			kind: 'payout', alpha_ppm: 1_400_000, beta16: sixteenths, completed, total: JOBS,
			payments: Array(completed).fill(`${12 * MICRO}`),
		}))).map(({ payout }, i) => [DONE[i], Number(payout) / MICRO]);
	return lines({
		title: 'A contract pays for having most of it done (alpha 1.4)',
		x: 'jobs done, of ten at 12 credits',
		y: 'credits paid',
		lines: [0, 16, 32, 64].map((sixteenths) => ({
			name: `beta ${sixteenths / 16}`, points: of(sixteenths),
		})),
	});
}
