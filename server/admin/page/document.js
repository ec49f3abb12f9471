// The document: only what has changed is touched, so that the focus stays where it is.

const $ = (id) => document.getElementById(id);

function text(node, value) {
	if (node.textContent !== value) node.textContent = value;
}
function make(tag, name, ...children) {
	const node = document.createElement(tag);
	if (name) node.className = name;
	node.append(...children);
	return node;
}
function put(node, attribute, value) {
	if (node.getAttribute(attribute) !== value) node.setAttribute(attribute, value);
}
// Children of `parent` by key, in the order of `list`; `build` once for each, `fill` each time.
function keep(parent, list, build, fill) {
	const there = parent.kept || (parent.kept = new Map());
	const wanted = new Set(list.map((item) => item.key));
	for (const [key, node] of there)
		if (!wanted.has(key)) {
			if (node.contains(document.activeElement)) $("main").focus();
			node.remove();
			there.delete(key);
		}
	let after = null;
	for (const item of list) {
		let node = there.get(item.key);
		if (!node) there.set(item.key, (node = build(item)));
		fill(node, item);
		const next = after ? after.nextSibling : parent.firstChild;
		if (next !== node) parent.insertBefore(node, next);
		after = node;
	}
}
function row(heads, item) {
	const tr = make("tr", item.sub ? "sub" : "");
	heads.forEach(([label, name], i) => {
		const cell = make(i === 0 ? "th" : "td", name);
		if (i === 0) cell.scope = "row";
		else if (label) cell.dataset.label = label;
		tr.append(cell);
	});
	return tr;
}
function nothing(id, columns, words) {
	const body = $(id);
	if (words && !body.none) {
		const cell = make("td", "empty", words);
		cell.colSpan = columns;
		body.none = make("tr", "", cell);
		body.append(body.none);
	} else if (!words && body.none) {
		body.none.remove();
		body.none = null;
	}
}
function state(node, kind, words, more) {
	if (!node.firstChild)
		node.append(make("span", "sign"), make("span", "word"), make("span", "more"));
	put(node, "class", kind);
	node.children[0].setAttribute("aria-hidden", "true");
	text(node.children[1], words);
	text(node.children[2], more || "");
}

// ---- countdowns: told once, counted here

const countdowns = new Set();
function until(node, seconds, over) {
	node.end = performance.now() + seconds * 1000;
	node.over = over;
	countdowns.add(node);
	tick(node);
}
function tick(node) {
	const left = (node.end - performance.now()) / 1000;
	text(node, left > 0.5 ? lasting(Math.ceil(left)).replace(".0", "") : node.over);
}
setInterval(() => {
	for (const node of countdowns)
		if (node.isConnected) tick(node);
		else countdowns.delete(node);
}, 1000);
