// Every page works without this.
(() => {
	const doc = document, root = doc.documentElement;
	const all = (s) => doc.querySelectorAll(s), one = (s) => doc.querySelector(s);
	const id = (s) => doc.getElementById(s);
	const themes = ['auto', 'light', 'dark'];
	const theme = (v) => {
		try { if (v) localStorage.theme = v; v = localStorage.theme; } catch { /* no storage */ }
		return root.dataset.theme = themes.includes(v) ? v : 'auto';
	};
	root.classList.add('js');
	theme();

	// Seconds left are the server's: a wrong clock here does no harm.
	const ends = new WeakMap();
	const tick = () => all('[data-countdown]').forEach((el) => {
		if (!ends.has(el)) ends.set(el, performance.now() + 1000 * el.dataset.countdown);
		const s = Math.max(0, Math.ceil((ends.get(el) - performance.now()) / 1000));
		if ('max' in el) el.value = el.max - s;
		else el.textContent = Math.floor(s / 60) + ':' + `${s % 60}`.padStart(2, 0);
	});

	// Of an output, the last lines are of interest.
	const toEnd = (el) => el.querySelectorAll('.log').forEach((log) => {
		log.scrollTop = log.scrollHeight;
	});

	// Not while it has focus or selection.
	const late = new Map();
	const put = (el, html) => {
		const sel = getSelection();
		if (!el) return;
		const chosen = !sel.isCollapsed && sel.containsNode(el, true);
		if (el.contains(doc.activeElement) || chosen) late.set(el, html);
		else { late.delete(el); el.innerHTML = html; tick(); toEnd(el); }
	};

	addEventListener('DOMContentLoaded', () => {
		const button = one('[data-theme-toggle]'), live = one('[data-live-state]');
		if (button) {
			const name = button.lastChild;
			const next = () => themes[(themes.indexOf(theme()) + 1) % 3];
			name.textContent = theme();
			button.onclick = () => { name.textContent = theme(next()); };
		}
		doc.addEventListener('click', ({ target }) => {
			const copy = target.closest('[data-copy]');
			if (!copy) return;
			getSelection().selectAllChildren(id(copy.dataset.copy));
			navigator.clipboard?.writeText(`${getSelection()}`);
			copy.textContent = 'Copied';
		});
		toEnd(doc);
		tick();
		setInterval(() => { tick(); late.forEach((html, el) => put(el, html)); }, 1000);

		// data: the element's id on the first line, then its HTML
		if (!doc.body.dataset.events) return;
		const es = new EventSource(doc.body.dataset.events);
		es.onopen = es.onerror = ({ type }) => {
			const { liveWord: word } = live.dataset;
			live.dataset.liveState = type === 'open' ? (word === 'Live' ? 'on' : 'frame') : 'lost';
			live.textContent = type === 'open' ? word : 'Reconnecting';
		};
		es.addEventListener('fragment', ({ data }) => {
			const [first] = data.split('\n', 1);
			put(id(first), data.slice(first.length + 1));
		});
	});
})();
