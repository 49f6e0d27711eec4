// A page used by keys alone, as somebody does who has no mouse: what has the focus is known by the
// name that it has for people, and no selector puts the focus anywhere.

import { ensure } from './report.mjs';

const STEPS = 200;

// What has the focus: the words that name it, and its role as far as it matters here.
const focus = (page) => page.evaluate(() => {
	const at = document.activeElement;
	const label = at.labels?.[0];
	const strong = label?.querySelector('strong');
	const name = (strong ?? label ?? at).textContent.replace(/\s+/g, ' ').trim();
	return { name, kind: at.type ?? at.localName };
});

// Presses the tab key until the element of this name has the focus.
export async function tabTo(page, name) {
	const met = [];
	for (let n = 0; n < STEPS; n++) {
		await page.keyboard.press('Tab');
		const at = await focus(page);
		if (typeof name === 'string' ? at.name === name : name.test(at.name)) return at;
		met.push(at.name.slice(0, 30));
	}
	throw new Error(`the tab key does not reach ${name}; it met ${met.slice(0, 60)}`);
}

// Writes into the field of this name, over what is there.
export async function write(page, name, text) {
	await tabTo(page, name);
	await page.keyboard.press('Control+A');
	await page.keyboard.type(text);
}

// Chooses in a list by its first letters.
export async function choose(page, name, word) {
	const { kind } = await tabTo(page, name);
	ensure(kind === 'select-one', `${name} is no list to choose from: ${kind}`);
	await page.keyboard.type(word);
}

// Goes into a group of choices, whichever of them the tab key meets, and on to the one of this name
// with the arrows.
export async function pick(page, names, name) {
	await tabTo(page, new RegExp(`^(${names.join('|')})$`));
	for (let n = 0; n < names.length; n++) {
		if ((await focus(page)).name === name) return page.keyboard.press('Space');
		await page.keyboard.press('ArrowDown');
	}
	throw new Error(`the arrows do not reach ${name}`);
}

// Presses the button or follows the link of this name.
export async function press(page, name) {
	await tabTo(page, name);
	const gone = page.waitForNavigation();
	await page.keyboard.press('Enter');
	await gone;
}
