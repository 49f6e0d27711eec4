// A terminal as a picture: commands, and what they print when they print it, in an SVG whose lines
// come as they came. Nothing in it is written by hand.

import { spawn } from 'node:child_process';

const COLUMNS = 120;
const LINE = 20;
const LETTER = 8.4;
const EDGE = 16;
// Pauses longer than this are shown as long as this.
const PAUSE_S = 2;
// How long the last picture stands before it begins anew.
const REST_S = 6;

// Runs commands one after the other; each line with its time. `env` is all of their environment,
// and `folder` their home.
export async function record(commands, env, folder) {
	const lines = [];
	let now = 0.5;
	for (const command of commands) {
		lines.push({ at: now, text: `$ ${command}`, typed: true });
		now += 1;
		const began = performance.now();
		let last = began;
		const add = (chunk) => {
			const seen = performance.now();
			now += Math.min((seen - last) / 1000, PAUSE_S);
			last = seen;
			const text = `${chunk}`.replaceAll(folder, '~').replace(/\n$/, '');
			for (const line of text.split('\n')) {
				for (const text of wrapped(line)) lines.push({ at: now, text });
			}
		};
		const child = spawn('bash', ['-c', `exec 2>&1; ${command}`], { cwd: folder, env });
		child.stdout.on('data', add);
		const code = await new Promise((end) => child.on('close', end));
		if (code) throw new Error(`\`${command}\` ended with ${code}: ${lines.map((l) => l.text)}`);
		now += 1;
	}
	return { lines, seconds: now + REST_S };
}

function wrapped(line) {
	const parts = [];
	for (let rest = line; ; rest = rest.slice(COLUMNS)) {
		parts.push(rest.slice(0, COLUMNS));
		if (rest.length <= COLUMNS) return parts;
	}
}

const safe = (text) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

// The picture. A reader that knows no animations shows all lines.
export function svg({ lines, seconds }) {
	const width = Math.ceil(COLUMNS * LETTER + 2 * EDGE);
	const height = (lines.length + 1) * LINE + EDGE;
	const styles = lines.map(({ at }, i) => {
		const from = (100 * at) / seconds;
		return `@keyframes l${i}{0%,${from.toFixed(2)}%{opacity:0}${(from + 0.01).toFixed(2)}%,`
			+ `100%{opacity:1}}#l${i}{animation:l${i} ${seconds.toFixed(1)}s infinite}`;
	});
	const texts = lines.map(({ text, typed }, i) =>
		`<text id="l${i}" x="${EDGE}" y="${EDGE + (i + 1) * LINE - 6}"`
		+ `${typed ? ' fill="#7ee787"' : ''}>${safe(text)}</text>`);
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}">`,
		'<style>text{font:14px monospace;white-space:pre}',
		'@media (prefers-reduced-motion:no-preference){',
		...styles,
		'}</style>',
		`<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
		'<g fill="#e6edf3">',
		...texts,
		'</g></svg>',
		'',
	].join('\n');
}
