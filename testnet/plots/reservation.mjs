// Reservations that won: each has all its nodes together, at one of its times.

import { grid } from './chart.mjs';
import { solve } from './solve.mjs';

const NODES = [0, 1, 2, 3, 4, 5];
const SLOTS = 12;
// What is bid, the first and last slot to start in, slots, nodes.
const BIDS = [[40, 0, 4, 4, 3], [30, 0, 6, 3, 4], [25, 2, 8, 4, 2], [22, 0, 8, 2, 6], [9, 0, 9, 3, 1]];

export function draw() {
	const bids = BIDS.map(([value, s, t, d, nodes], i) => ({
		id: i + 1, time: 0, value: `${value}`, s, t, d, classes: [[nodes, NODES]], freq: null,
	}));
	const input = { kind: 'clear', T: SLOTS, S: SLOTS, nodes: NODES, k: 10, busy: [], busy_f: [], bids };
	const [{ won, total }] = solve('reservation', [input]);
	const boxes = won.flatMap(([id, start, groups]) =>
		groups.flat().map((node) => ({
			column: start, row: node, width: BIDS[id - 1][3], name: `${BIDS[id - 1][0]} for bid ${id}`,
		})));
	return grid({
		title: `${won.length} of ${BIDS.length} reservations on six nodes, for ${total}`,
		x: 'slot',
		y: 'node',
		columns: SLOTS,
		rows: NODES.length,
		boxes,
	});
}
