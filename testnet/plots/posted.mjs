// What a seller of three units earns a slot from the same six buyers, by the price that it posts,
// and in the auction with that price as its reserve. The auction is cleared by the program; hires
// take units at the posted price, first come, for as long as there are any.

import { lines } from './chart.mjs';
import { range, solve } from './solve.mjs';

const MICRO = 1_000_000;
const UNITS = 3;
// In the order in which they come.
const WORTH = [5, 12, 3, 9, 7, 10];
const PRICES = range(0, 14, 0.5);

export function draw() {
	const auctions = solve('ausubel', PRICES.map((price) => ({
		m: UNITS,
		reserve: `${price * MICRO}`,
		bidders: WORTH.map((credits, i) => ({
			id: i + 1, time: i + 1, min: 1, prices: [`${credits * MICRO}`],
		})),
	})));
	const hired = PRICES.map((price) => WORTH.filter((worth) => worth >= price).slice(0, UNITS));
	const sum = (values) => values.reduce((all, value) => all + value, 0);
	const credits = (amount) => Number(amount) / MICRO;
	return lines({
		title: 'A posted price earns by being right; the auction finds it',
		x: 'price posted, or reserve of the auction, credits a slot',
		y: 'credits a slot',
		lines: [
			{ name: 'posted: earns', points: hired.map((h, i) => [PRICES[i], PRICES[i] * h.length]) },
			{ name: 'posted: is worth', points: hired.map((h, i) => [PRICES[i], sum(h)]) },
			{
				name: 'auction: earns',
				points: auctions.map(({ exact }, i) => [PRICES[i], credits(exact.revenue)]),
			},
			{
				name: 'auction: is worth',
				points: auctions.map(({ exact }, i) => [PRICES[i], credits(exact.welfare)]),
			},
		],
	});
}
