// A plan: three jobs by their deadlines on three units, interval by interval.

import { grid } from './chart.mjs';
import { solve } from './solve.mjs';

const UNITS = 3;
const job = (id, r, soft, hard, pmax) => ({
	id, r, elapsed: 0, soft, hard, pmax: `${pmax}`, pmin: `${pmax / 2}`, shape: 'linear',
});
const JOBS = [job(1, 7, 4, 6, 70), job(2, 9, 5, 7, 90), job(3, 6, 7, 9, 40)];

export function draw() {
	const [{ plan }] = solve('deadline', [{ K: UNITS, jobs: JOBS }]);
	const used = new Map();
	const boxes = plan.order.flatMap((id) => {
		const [, intervals] = plan.allocation.find(([other]) => other === id);
		return intervals.flatMap(([interval, units]) => Array.from({ length: units }, () => {
			const row = used.get(interval) ?? 0;
			used.set(interval, row + 1);
			return { column: interval, row, width: 1, name: `job ${id}` };
		}));
	});
	return grid({
		title: `Three jobs on three units: all in time, for ${plan.revenue}`,
		x: 'interval',
		y: 'unit',
		columns: Math.max(...used.keys()) + 1,
		rows: UNITS,
		boxes,
	});
}
