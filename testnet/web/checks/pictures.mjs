// The picture of the front page shows the navigation that the pages have: its words lie beside it,
// with the hash of the picture that they were written down with.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { navigation } from '../browsing.mjs';
import { ensure } from '../report.mjs';

const PICTURES = new URL('../../../docs/pictures/', import.meta.url);
const AGAIN = 'make them anew: testnet/web/pictures';

// What lies beside a picture.
export const words = (picture, navigation) =>
	[`sha256 ${createHash('sha256').update(picture).digest('hex')}`, ...navigation, ''].join('\n');

export async function run({ report, browsing }) {
	await report.check('the picture of the front page shows the navigation of today', () =>
		browsing.signedIn('b1', {}, async (page) => {
			const told = readFileSync(new URL('market.txt', PICTURES), 'utf8');
			const [hash, ...drawn] = told.trim().split('\n');
			const now = await navigation(page);
			ensure(now.length > 5, `the navigation has only ${now}`);
			ensure(`${drawn}` === `${now}`, `${drawn} in market.png, now ${now}; ${AGAIN}`);
			const [is] = words(readFileSync(new URL('market.png', PICTURES)), []).split('\n');
			ensure(is === hash, `market.txt does not belong to this market.png; ${AGAIN}`);
		}));
}
