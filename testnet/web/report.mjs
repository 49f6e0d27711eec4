// Checks, one line each, and how they ended.

const began = performance.now();

export class Report {
	#passed = 0;
	#failed = 0;

	tell(text) {
		const s = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
		console.log(`[${s}s] ${text}`);
	}
	failed(name, error) {
		this.#failed += 1;
		this.tell(`FAILED  ${name}: ${error?.stack ?? error}`);
	}
	// Runs `check`, which fails by an exception; what it returns is told.
	async check(name, check) {
		try {
			const seen = await check();
			this.#passed += 1;
			this.tell(`passed  ${name}${seen ? `: ${seen}` : ''}`);
		} catch (error) {
			this.failed(name, error);
		}
	}
	// The last line; the code to end with.
	close() {
		console.log(`${this.#passed} passed, ${this.#failed} failed`);
		return this.#failed || !this.#passed ? 1 : 0;
	}
}

export function ensure(holds, otherwise) {
	if (!holds) throw new Error(otherwise);
}

// Waits until `holds` gives something true, at most so many seconds.
export async function until(what, seconds, holds) {
	const end = performance.now() + 1000 * seconds;
	for (;;) {
		const seen = await holds();
		if (seen) return seen;
		if (performance.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
		await new Promise((go) => setTimeout(go, 100));
	}
}
