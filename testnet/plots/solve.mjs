// Markets solved by `gridbay market solve`, with the functions that the ledger clears by.

import { execFileSync } from 'node:child_process';

// Results of inputs, in their order.
export function solve(mechanism, inputs) {
	const cases = inputs.map((input, i) => ({ name: `${i}`, input }));
	const words = ['market', 'solve', '--cases', '-', '-o', 'json'];
	const told = execFileSync(process.env.GRIDBAY ?? 'gridbay', words, {
		input: JSON.stringify({ mechanism, cases }),
		encoding: 'utf8',
	});
	return JSON.parse(told).cases.map(({ expect }) => {
		if (!expect || expect.error) throw new Error(`${mechanism}: ${JSON.stringify(expect)}`);
		return expect;
	});
}

// The whole numbers from `from` to `to`, in steps.
export function range(from, to, step = 1) {
	return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);
}
