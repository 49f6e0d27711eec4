// Charts as SVG: lines over two axes, and boxes in a grid. Sizes and colours are the same in all.

const WIDTH = 640;
const HEIGHT = 320;
const LEFT = 60;
const RIGHT = 150;
const TOP = 54;
const BOTTOM = 46;
const COLOURS = ['#1a56b8', '#c2500a', '#0a7d4f', '#8a3ab9', '#b3123b', '#5d6b7a'];
const STYLE = 'text{font:13px sans-serif;fill:#24292f}.t{font-weight:bold}.g{stroke:#d0d7de}';

const safe = (text) => `${text}`.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const number = (value) => `${+value.toFixed(2)}`;

function text(x, y, words, more = '') {
	return `<text x="${number(x)}" y="${number(y)}"${more}>${safe(words)}</text>`;
}

function picture(title, height, inner) {
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}">`,
		`<style>${STYLE}</style><rect width="${WIDTH}" height="${height}" rx="6" fill="#fff"/>`,
		text(LEFT, 20, title, ' class="t"'),
		...inner,
		'</svg>',
		'',
	].join('\n');
}

// The least round number of which four reach `most`.
function step(most) {
	const least = most / 4;
	const power = 10 ** Math.floor(Math.log10(least));
	return [1, 2, 2.5, 5, 10].find((round) => round * power >= least) * power;
}

// `lines`: name and points of each. Both axes begin at 0.
export function lines({ title, x, y, lines: all }) {
	const points = all.flatMap((line) => line.points);
	const [right, high] = [0, 1].map((at) => 4 * step(Math.max(...points.map((p) => p[at]))));
	const across = (value) => LEFT + (value / right) * (WIDTH - LEFT - RIGHT);
	const up = (value) => HEIGHT - BOTTOM - (value / high) * (HEIGHT - TOP - BOTTOM);
	const inner = [text(8, TOP - 12, y)];
	for (let part = 0; part <= 4; part += 1) {
		const [height, value] = [(high * part) / 4, (right * part) / 4];
		const at = up(height);
		inner.push(`<path class="g" d="M${LEFT} ${number(at)}H${WIDTH - RIGHT}"/>`);
		inner.push(text(LEFT - 8, at + 4, number(height), ' text-anchor="end"'));
		inner.push(text(across(value), HEIGHT - BOTTOM + 18, number(value), ' text-anchor="middle"'));
	}
	inner.push(text(WIDTH - RIGHT, HEIGHT - 8, x, ' text-anchor="end"'));
	all.forEach((line, i) => {
		const path = line.points.map(([a, b]) => `${number(across(a))} ${number(up(b))}`).join('L');
		inner.push(`<path d="M${path}" fill="none" stroke="${COLOURS[i]}" stroke-width="2"/>`);
		const key = TOP + 14 + 20 * i;
		inner.push(`<path d="M${WIDTH - RIGHT + 10} ${key}h18" stroke="${COLOURS[i]}" stroke-width="3"/>`);
		inner.push(text(WIDTH - RIGHT + 34, key + 4, line.name));
	});
	return picture(title, HEIGHT, inner);
}

// `boxes`: in a grid of so many columns and rows; each has a column, a row, a width and who has it.
export function grid({ title, x, y, columns, rows, boxes }) {
	const [wide, high] = [(WIDTH - LEFT - RIGHT) / columns, 26];
	const names = [...new Set(boxes.map((box) => box.name))].sort();
	const bottom = TOP + rows * high;
	const inner = [];
	for (let row = 0; row <= rows; row += 1) {
		inner.push(`<path class="g" d="M${LEFT} ${TOP + row * high}H${WIDTH - RIGHT}"/>`);
		if (row < rows) inner.push(text(LEFT - 8, TOP + row * high + 18, row, ' text-anchor="end"'));
	}
	for (let column = 0; column <= columns; column += 1) {
		const at = number(LEFT + column * wide);
		inner.push(`<path class="g" d="M${at} ${TOP}V${bottom}"/>`);
		if (column < columns) {
			const middle = LEFT + (column + 0.5) * wide;
			inner.push(text(middle, bottom + 16, column, ' text-anchor="middle"'));
		}
	}
	for (const { column, row, width, name } of boxes) {
		const [left, above] = [number(LEFT + column * wide + 1), TOP + row * high + 1];
		inner.push(`<rect x="${left}" y="${above}" width="${number(width * wide - 2)}"`
			+ ` height="${high - 2}" rx="3" fill="${COLOURS[names.indexOf(name)]}"/>`);
	}
	names.forEach((name, i) => {
		const at = TOP + 4 + 20 * i;
		inner.push(`<rect x="${WIDTH - RIGHT + 10}" y="${at}" width="14" height="14" fill="${COLOURS[i]}"/>`);
		inner.push(text(WIDTH - RIGHT + 30, at + 12, name));
	});
	inner.push(text(WIDTH - RIGHT, bottom + 34, x, ' text-anchor="end"'));
	inner.push(text(8, TOP - 12, y));
	return picture(title, bottom + 44, inner);
}
