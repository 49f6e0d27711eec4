// What a bidder pays and gains by the bid that it states for two units, of which the first is worth
// 12 to it and the second 9.

import { lines } from './chart.mjs';
import { range, solve } from './solve.mjs';

const WORTH = [12, 9];
const OTHERS = [[10, 6], [8, 5]];
const MICRO = 1_000_000;
// Stated worth, in percent of the true one.
const STATED = range(0, 200, 2);

const prices = (worths) => worths.map((worth) => `${Math.round(worth * MICRO)}`);

export function draw() {
	const results = solve('ausubel', STATED.map((percent) => ({
		m: 3,
		reserve: `${4 * MICRO}`,
		bidders: [WORTH.map((worth) => (worth * percent) / 100), ...OTHERS].map((worths, i) => ({
			id: i + 1, time: i + 1, min: 1, prices: prices(worths),
		})),
	})));
	const outcome = results.map(({ exact }) => {
		const [, units, pay] = exact.alloc.find(([id]) => id === 1) ?? [1, 0, '0'];
		const worth = WORTH.slice(0, units).reduce((sum, value) => sum + value, 0);
		return { pay: Number(pay) / MICRO, gain: worth - Number(pay) / MICRO };
	});
	return lines({
		title: 'Stating the truth (100 %) gains most; stating more changes nothing',
		x: 'stated worth, percent of the true one',
		y: 'credits',
		lines: [
			{ name: 'it gains', points: outcome.map(({ gain }, i) => [STATED[i], gain]) },
			{ name: 'it pays', points: outcome.map(({ pay }, i) => [STATED[i], pay]) },
		],
	});
}
