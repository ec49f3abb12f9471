// The last hour, in charts and as a table.

const MINUTES = 60;
const MINUTE = 0, AGE = 1; // of a sample: how many minutes ago, and its age in seconds
const SVG = "http://www.w3.org/2000/svg";

// ---- sums become what was added in each minute, the latest last

function hour(history) {
	const names = history.values, bins = [];
	for (let i = 0; i < MINUTES; i++) bins.push({ known: false });
	for (let i = 1; i < history.samples.length; i++) {
		const from = history.samples[i - 1], to = history.samples[i];
		// one interval spans several minutes when nobody was there to take samples
		const at = MINUTES - 1 - from[MINUTE], span = Math.max(1, from[MINUTE] - to[MINUTE]);
		for (let k = 0; k < span; k++) {
			const bin = bins[at + k];
			if (!bin) continue;
			bin.known = true;
			names.forEach((name, v) => {
				if (v > AGE) bin[name] = (bin[name] || 0) + Math.max(0, to[v] - from[v]) / span;
			});
		}
	}
	for (const bin of bins) {
		bin.failed = (bin.error || 0) + (bin.refused || 0) + (bin.cut || 0);
		bin.ended = bin.failed + (bin.ok || 0);
		bin.again = CLASSES.slice(0, 5).reduce((sum, c) => sum + (bin["sends_" + c] || 0), 0);
	}
	return bins;
}
const total = (bins, name) => bins.reduce((sum, bin) => sum + (bin[name] || 0), 0);

// ---- charts

const charts = {};
function chart(id, title) {
	if (charts[id]) return charts[id];
	const svg = document.createElementNS(SVG, "svg");
	const c = (charts[id] = {
		svg, top: make("span", "top"), sum: make("span", "total"), key: make("ul", "key"),
	});
	put(svg, "viewBox", "0 0 600 84");
	put(svg, "preserveAspectRatio", "none");
	put(svg, "role", "img");
	const figure = make("figure", "chart",
		make("figcaption", "", make("h3", "", title), c.sum),
		make("div", "plot", svg, c.top, make("span", "zero", "0")),
		make("div", "axis", make("span", "", "60 min ago"), make("span", "", "now")), c.key);
	$("charts").append(figure);
	c.title = title;
	return c;
}
function shape(tag, name, attributes) {
	const node = document.createElementNS(SVG, tag);
	put(node, "class", name);
	for (const key in attributes) put(node, key, String(attributes[key]));
	return node;
}
// a round number that is not below, nor below `least`
function ceiling(value, least) {
	if (value <= least) return least;
	const power = 10 ** Math.floor(Math.log10(value));
	return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((n) => n * power).find((n) => n >= value * 0.999);
}
function lines() {
	return [0.5, 42, 83.5].map((y) => shape("line", "grid", { x1: 0, x2: 600, y1: y, y2: y }));
}
function bars(c, bins, layers, top, unit, sum) {
	const nodes = lines();
	bins.forEach((bin, i) => {
		let y = 84;
		for (const layer of layers) {
			const n = layer.of(bin);
			if (!(n > 0)) continue;
			const h = Math.max(1.5, (n / top) * 84);
			y -= h;
			const bar = shape("rect", layer.name, { x: i * 10 + 1, width: 8, y: y.toFixed(2), height: h.toFixed(2) });
			const told = document.createElementNS(SVG, "title");
			told.textContent = ago(i) + ": " + unit(n) + (layer.label ? " " + layer.label : "");
			bar.append(told);
			nodes.push(bar);
		}
	});
	show(c, nodes, unit(top), sum);
}
function show(c, nodes, top, sum) {
	c.svg.replaceChildren(...nodes);
	text(c.top, top);
	text(c.sum, sum);
	put(c.svg, "aria-label", c.title + ", last hour: " + sum);
}
function key(c, entries) {
	keep(c.key, entries.map((e) => ({ key: e.label, ...e })), (e) => make("li", e.name, make("span")),
		(li, e) => text(li.firstChild, e.label + (e.sum === undefined ? "" : " " + count(e.sum))));
}
const ago = (i) => (i === MINUTES - 1 ? "this minute" : plural(MINUTES - 1 - i, "minute") + " ago");

function drawHour(bins) {
	const ended = total(bins, "ended"), failed = total(bins, "failed");
	let c = chart("requests", "Requests a minute");
	const layers = [
		{ name: "f-ok", label: "succeeded", of: (b) => b.ok, sum: total(bins, "ok") },
		{ name: "f-bad", label: "failed", of: (b) => b.failed, sum: failed },
	];
	bars(c, bins, layers, ceiling(Math.max(...bins.map((b) => b.ended)), 5), count, plural(total(bins, "turns"), "request"));
	key(c, layers);

	c = chart("success", "Success");
	const nodes = lines();
	let run = [];
	const flush = () => {
		if (run.length === 1) run.push([run[0][0] + 6, run[0][1]]);
		if (run.length) nodes.push(shape("polyline", "curve", { points: run.map((p) => p.join(",")).join(" ") }));
		run = [];
	};
	bins.forEach((bin, i) => {
		if (bin.ended > 0) run.push([i * 10 + 5, (83 - (bin.ok / bin.ended) * 82).toFixed(1)]);
		else flush();
	});
	flush();
	show(c, nodes, "100 %", ended > 0 ? percent((ended - failed) / ended) + " of " + count(ended) : "no requests");
	const good = total(bins, "retried_ok"), lost = total(bins, "retried_failed");
	key(c, [{ name: "plain", label: good + lost > 0 ? "Of those sent more than once " + percent(good / (good + lost)) : "No request was sent more than once" }]);

	c = chart("again", "Sent again, by reason");
	const reasons = CLASSES.map((name, i) => (
		{ name: "f" + i, label: name, of: (b) => b["sends_" + name], sum: total(bins, "sends_" + name) }));
	const most = Math.max(...bins.map((b) => b.again + (b.sends_hop || 0)));
	const sent = reasons.reduce((sum, r) => sum + r.sum, 0);
	bars(c, bins, reasons, ceiling(most, 5), count, sent > 0 ? plural(sent, "send") : "none");
	key(c, reasons.filter((r) => r.sum > 0));

	c = chart("waits", "Mean wait before a send");
	const mean = (b) => (b.waits > 0 ? b.wait_us / b.waits / 1e6 : 0);
	const waits = total(bins, "waits");
	bars(c, bins, [{ name: "f-ok", of: mean }], ceiling(Math.max(...bins.map(mean)), 0.2), (s) => lasting(s).replace(".0", ""),
		waits > 0 ? plural(waits, "wait") + ", " + lasting(total(bins, "wait_us") / waits / 1e6) + " on average" : "none");

	keep($("minutes"), bins.map((b, i) => ({ key: i, b, i })).reverse(), (item) => row(Array(6).fill(["", ""]), item), (tr, { b, i }) => {
		const cells = [ago(i), count(b.turns || 0), count(b.ok || 0), count(b.failed), count(b.again), b.waits > 0 ? lasting(mean(b)) : "–"];
		cells.forEach((value, n) => text(tr.children[n], b.known || n === 0 ? value : "–"));
	});
}
