// The share of a pool that a budget gets beside two others of 100 credits, by the exponent alpha.

import { lines } from './chart.mjs';
import { range, solve } from './solve.mjs';

const MICRO = 1_000_000;
const BUDGETS = range(5, 400, 5);
const WHOLE = 2 ** 32;
const EXPONENTS = [16, 8, 4];

export function draw() {
	const of = (sixteenths) =>
		solve('share', BUDGETS.map((budget) => ({
			kind: 'auction', m: 1, a16: sixteenths, eps: '1000', max_rounds: 200, inner: 5,
			jobs: [budget, 100, 100].map((credits) => ({
				budget: `${credits * MICRO}`, kind: 'linear', w: [1],
			})),
		}))).map(({ s }, i) => [BUDGETS[i], (100 * s[0][0]) / WHOLE]);
	return lines({
		title: 'Below alpha 1 a small budget gets more than its part',
		x: 'budget, credits; two others have 100 each',
		y: 'percent of pool',
		lines: EXPONENTS.map((sixteenths) => ({
			name: `alpha ${sixteenths / 16}`, points: of(sixteenths),
		})),
	});
}
