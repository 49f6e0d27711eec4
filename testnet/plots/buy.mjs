// What a buyer pays a slot for units at once, by the price that the seller asks for a unit: never
// less than the bids that give way were worth. The bids are cleared with and without the units.

import { lines } from './chart.mjs';
import { range, solve } from './solve.mjs';

const MICRO = 1_000_000;
const UNITS = 4;
const BIDS = [12, 9, 7, 4];
const ASKED = range(0, 16);
const BOUGHT = [1, 2];

// What the bids that win are worth, where so many units are for them.
function worth(units) {
	const [{ exact }] = solve('ausubel', [{
		m: units,
		reserve: '0',
		bidders: BIDS.map((credits, i) => ({
			id: i + 1, time: i + 1, min: 1, prices: [`${credits * MICRO}`],
		})),
	}]);
	return Number(exact.welfare) / MICRO;
}

export function draw() {
	const all = worth(UNITS);
	const pays = (bought) => {
		const displaced = all - worth(UNITS - bought);
		return ASKED.map((asked) => [asked, Math.max(asked * bought, displaced)]);
	};
	return lines({
		title: 'A buy pays what sellers ask, or what it displaces if that is more',
		x: 'asked for a unit, credits a slot; bids hold all four',
		y: 'pays, credits a slot',
		lines: BOUGHT.map((bought) => ({
			name: bought === 1 ? '1 unit' : `${bought} units`, points: pays(bought),
		})),
	});
}
