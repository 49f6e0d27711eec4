// The pictures of the mechanisms' pages, drawn from markets that are really solved.
//
//   node testnet/plots/main.mjs           writes docs/pictures/*.svg
//   node testnet/plots/main.mjs --check   fails where one of them would change
//
// Needs Node.js 20 or later, and `gridbay` on the path (or GRIDBAY=/path/of/it).

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ausubel from './ausubel.mjs';
import * as buy from './buy.mjs';
import * as contract from './contract.mjs';
import * as deadline from './deadline.mjs';
import * as posted from './posted.mjs';
import * as reservation from './reservation.mjs';
import * as share from './share.mjs';

const PLOTS = { ausubel, buy, contract, deadline, posted, reservation, share };
const FOLDER = join(import.meta.dirname, '../../docs/pictures');

let stale = 0;
for (const [name, { draw }] of Object.entries(PLOTS)) {
	const file = join(FOLDER, `${name}.svg`);
	const drawn = draw();
	if (!process.argv.includes('--check')) {
		writeFileSync(file, drawn);
	} else if (!existsSync(file) || readFileSync(file, 'utf8') !== drawn) {
		console.error(`docs/pictures/${name}.svg is stale: node testnet/plots/main.mjs`);
		stale += 1;
	}
}
console.log(`${Object.keys(PLOTS).length - stale} passed, ${stale} failed`);
process.exit(stale ? 1 : 0);
