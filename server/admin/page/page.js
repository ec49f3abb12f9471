// What is asked for, shown and changed.

const EVERY_MS = 2000;

// ---- figures

function drawFigures(s, bins) {
	const span = Math.min(300, s.history.samples[0][AGE]);
	const recent = bins.slice(-5), ended = total(recent, "ended"), queued = Object.values(s.providers).reduce((n, p) => n + (p.queued || 0), 0);
	const rate = (total(recent, "turns") / Math.max(span, 60)) * 60;
	const figures = [
		["Requests a minute, last 5 min", rate < 10 ? rate.toFixed(1) : count(rate)],
		["Succeeded, last 5 min", ended > 0 ? percent((ended - total(recent, "failed")) / ended) : "–"],
		["In flight", count(s.gauges.sends || 0)],
		["Waiting to send again", count(s.gauges.waiting || 0)],
		["Queued for capacity", count(queued)],
		["Refused by the send budget", count(s.refusals.request_send_budget_exhausted || 0)],
		["Possibly billed for nothing", count(s.counters.possibly_billed || 0)],
	];
	keep($("figures"), figures.map((f) => ({ key: f[0], f })), ({ f }) => make("div", "", make("dt", "", f[0]), make("dd")), (div, { f }) => text(div.lastChild, f[1]));
}

// ---- providers and what is out of service

const CAUSES = { connection: "no connection could be made", status: "it answered with server errors" };
function troubles(s) {
	const list = [];
	for (const b of s.blacklist) list.push({
		key: "l " + b.provider + " " + b.url, of: b.provider, name: b.url + (b.whole_base ? "/…" : ""), url: b.url, whole: b.whole_base, kind: "bad",
		word: b.probing ? "Listed, a probe is under way" : "Listed",
		more: CAUSES[b.why] + ", " + lasting(b.listed_for) + " ago" + (b.failed_probes ? "; " + plural(b.failed_probes, "probe") + " failed" : ""),
		left: b.next_probe_in, over: "next request", label: "Probe in",
	});
	for (const c of s.cooldowns) list.push({
		key: "c " + c.kind + c.name, of: c.name.split(/[/ ]/)[0], name: c.name, kind: "warn",
		word: c.kind === "wait" ? "Waits for all" : c.probing ? "Cooling, one request asks" : "Cooling",
		more: (c.told ? "the provider told how long" : "the provider told no time") + (c.cause > 0 && c.cause < 200 ? ", status " + (400 + c.cause) : ""),
		left: c.left, over: "now", label: "For",
	});
	for (const f of s.failing) list.push({
		key: "f " + f.provider + " " + f.url, of: f.provider, name: f.url + (f.whole_base ? "/…" : ""), kind: "idle",
		word: "In service", more: plural(f.failures, "failure") + " in a row",
	});
	const seen = new Map(); // clients with keys of their own cool apart, under one name
	for (const t of list) {
		const n = seen.get(t.key) || 0;
		seen.set(t.key, n + 1);
		t.key += " " + n;
	}
	return list;
}
const MOST = 50; // of one provider
function drawProviders(s, list) {
	const rows = [];
	const known = new Map(s.setup.providers.map((p) => [p.name, p.url]));
	for (const t of list) if (!known.has(t.of)) known.set(t.of, "not configured");
	for (const [name, url] of known) {
		const own = list.filter((t) => t.of === name), numbers = s.providers[name] || {}, sends = numbers.sends || {};
		const out = own.filter((t) => t.kind === "bad").length, cool = own.filter((t) => t.kind === "warn").length;
		rows.push({
			key: "p " + name, name, url, numbers, kind: out ? "bad" : cool ? "warn" : "good",
			word: out ? plural(out, "URL") + " out of service" : cool ? "Partly waiting" : "In service",
			sends: Object.values(sends).reduce((a, b) => a + b, 0),
			again: CLASSES.slice(0, 5).reduce((sum, c) => sum + (sends[c] || 0), 0),
		});
		for (const t of own.slice(0, MOST)) rows.push({ ...t, sub: true });
		if (own.length > MOST) rows.push({ key: "m " + name, name: "and " + count(own.length - MOST) + " more", kind: "", word: "", sub: true });
	}
	const heads = [["", ""], ["State", ""], ["Until", "n"], ["In flight", "n"], ["Queued", "n"], ["Sends", "n"], ["Of these again", "n"]];
	keep($("providers"), rows, (item) => {
		const tr = row(heads, item), th = tr.firstChild;
		th.append(item.sub ? make("span", "code", item.name) : make("b", "", item.name));
		if (!item.sub) th.append(make("span", "code quiet"));
		if (item.sub) {
			tr.children[2].dataset.label = item.label || "";
			const cell = tr.children[3];
			cell.colSpan = 4;
			while (cell.nextSibling) cell.nextSibling.remove();
			delete cell.dataset.label;
			if (item.url) {
				const button = make("button", "", "Clear");
				button.type = "button";
				button.setAttribute("aria-label", "Clear the listing of " + item.url);
				button.addEventListener("click", () => change(button, "/blacklist/clear", { url: item.url }, "Listing cleared: " + item.url));
				cell.append(button);
			}
		}
		return tr;
	}, (tr, item) => {
		state(tr.children[1], item.kind, item.word, item.more);
		if (item.sub) {
			if (item.left === undefined) put(tr.children[2], "class", "n none");
			else until(tr.children[2], item.left, item.over);
			const button = tr.querySelector("button");
			if (button) button.hidden = !mayChange(s);
			return;
		}
		text(tr.firstChild.lastChild, item.url);
		put(tr.children[2], "class", "n none");
		[item.numbers.inflight || 0, item.numbers.queued || 0, item.sends, item.again].forEach((n, i) => text(tr.children[i + 3], count(n)));
	});
}
function drawCombos(s, list) {
	$("combos-section").hidden = s.setup.combos.length === 0;
	const bad = new Map(list.filter((t) => t.kind !== "idle").map((t) => [t.name, t]));
	const listed = new Set(list.filter((t) => t.kind === "bad").map((t) => t.of));
	keep($("combos"), s.setup.combos.map((c) => ({ key: c.name, c })), (item) => {
		const tr = row([["", ""], ["", ""], ["Hops", "n"]], item);
		tr.firstChild.append(make("b", "", item.c.name));
		tr.children[1].append(make("ul"));
		return tr;
	}, (tr, { c }) => {
		keep(tr.children[1].firstChild, c.targets.map((t, i) => ({ key: i + t, t })), (item) => make("li", "", make("span", "sign"), make("span", "code", item.t), " ", make("span", "word")), (li, { t }) => {
			const trouble = bad.get(t), away = listed.has(t.split("/")[0]);
			put(li, "class", trouble ? "warn" : away ? "bad" : "good");
			text(li.lastChild, trouble ? "cooling" : away ? "a URL of its provider is listed" : "");
		});
		text(tr.children[2], count(s.hops[c.name] || 0));
	});
}

// ---- lists

function drawOpen(s) {
	nothing("open", 7, s.open_turns.length ? "" : "None is open for more than a second.");
	const heads = [["", ""], ["State", ""], ["Until", "n"], ["Sends", "n"], ["Open for", "n"], ["Logical", ""], ["Request", ""]];
	keep($("open"), s.open_turns.map((t) => ({ key: t.id, t })), (item) => {
		const tr = row(heads, item);
		tr.firstChild.append(make("span", "code"));
		tr.children[5].append(make("span", "code"));
		tr.children[6].append(make("span", "code", item.t.id));
		return tr;
	}, (tr, { t }) => {
		const waits = t.state === "waiting", endless = t.left === null;
		text(tr.firstChild.firstChild, [t.provider, t.model].filter(Boolean).join("/") || t.family);
		state(tr.children[1], waits || t.state === "joining" ? "warn" : "good",
			waits ? WAITING[t.waits_for] || "Waits: " + t.waits_for : DOING[t.state] || t.state);
		put(tr.children[2], "class", endless ? "n none" : "n");
		countdowns.delete(tr.children[2]);
		if (endless) text(tr.children[2], "");
		else until(tr.children[2], t.left, "now");
		text(tr.children[3], count(t.sends));
		text(tr.children[4], lasting(t.age));
		text(tr.children[5].firstChild, t.logical || "–");
	});
}
function drawRefusals(s) {
	const rows = Object.entries(s.refusals).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
	nothing("refusals", 3, rows.length ? "" : "None.");
	keep($("refusals"), rows.map(([code, n]) => ({ key: code, code, n })), (item) => {
		const tr = row([["", ""], ["", ""], ["Answers", "n"]], item);
		tr.firstChild.append(make("span", "code", item.code));
		tr.children[1].append(MEANINGS[item.code] || "");
		return tr;
	}, (tr, item) => text(tr.children[2], count(item.n)));
}
let all = false;
const FEW = 10;
$("more").addEventListener("click", () => {
	all = !all;
	look();
});
function drawFailures(s) {
	$("more").hidden = s.failures.length <= FEW;
	text($("more"), all ? "Show the last " + FEW : "Show all " + s.failures.length);
	put($("more"), "aria-expanded", String(all));
	nothing("failures", 7, s.failures.length ? "" : "None.");
	const heads = [["", ""], ["Provider", ""], ["Status", "n"], ["", ""], ["Sends", "n"], ["Waited", "n"], ["Request", ""]];
	const today = new Date().toDateString();
	keep($("failures"), s.failures.slice(0, all ? 50 : FEW).map((f) => ({ key: f.id + f.at, f })), (item) => {
		const { f } = item, tr = row(heads, item), at = new Date(f.at * 1000);
		const time = make("time", "", (at.toDateString() === today ? "" : at.toLocaleDateString("en-GB") + " ") + clock(at));
		time.dateTime = at.toISOString();
		const what = tr.children[3];
		what.append(make("span", "", OUTCOMES[f.outcome] || f.outcome));
		if (f.code) what.append(": ", make("span", "code", f.code));
		if (f.reason) what.append(make("span", "more", f.reason.replace(/^answer: /, "")));
		[time, f.provider || "–", f.status ? String(f.status) : "–", null, String(f.sends), f.waited > 0 ? lasting(f.waited) : "–",
			make("span", "code", f.id)].forEach((value, i) => value !== null && tr.children[i].append(value));
		return tr;
	}, () => {});
}

// ---- changes

let token = sessionStorage.getItem("turnpike-token") || "";
const mayChange = (s) => s.clearing === "yes" || (s.clearing === "token" && token !== "");
const headers = (more) => (token ? { ...more, Authorization: "Bearer " + token } : more || {});

async function change(button, path, body, done) {
	if (button.ariaDisabled === "true") return;
	button.ariaDisabled = "true"; // a disabled one would lose the focus
	try {
		const answer = await fetch(path, { method: "POST", body: JSON.stringify(body || {}),
			headers: headers({ "Content-Type": "application/json" }) });
		if (answer.status === 401) forget("The token was not accepted.");
		if (!answer.ok) throw new Error((await answer.json()).error);
		tell(done);
		await look();
	} catch (error) {
		tell("Not changed: " + error.message);
	}
	button.ariaDisabled = "false";
}
function forget(why) {
	token = "";
	sessionStorage.removeItem("turnpike-token");
	$("door").hidden = false;
	text($("door-why"), why);
}
function tell(words) {
	text($("news"), words);
	text($("clearing"), words);
	toldUntil = performance.now() + 8000;
}
let toldUntil = 0;

$("door").addEventListener("submit", (event) => {
	event.preventDefault();
	token = $("token").value.trim();
	sessionStorage.setItem("turnpike-token", token);
	$("token").value = "";
	look();
});
$("clear-listings").addEventListener("click", (event) => change(event.target, "/blacklist/clear", {}, "All listings are cleared."));
$("clear-cooldowns").addEventListener("click", (event) => change(event.target, "/cooldown/clear", {}, "All cooldowns and waits have ended."));

function drawDoor(s) {
	const may = mayChange(s);
	$("door").hidden = s.clearing !== "token" || token !== "";
	$("clear-listings").hidden = !may || s.blacklist.length === 0;
	$("clear-cooldowns").hidden = !may || s.cooldowns.length === 0;
	if (performance.now() < toldUntil) return;
	text($("clearing"), s.clearing === "no" ? "Read only: without admin.token nothing is changed over TCP. "
		+ "Use the unix socket, or turnpike blacklist clear and turnpike cooldown clear." : "");
	if (s.clearing === "token" && !token) text($("door-why"), "To clear listings and cooldowns here.");
}

// ---- the whole

let said = "";
function drawSummary(s, list) {
	const ready = s.workers.filter((w) => w.ready).length;
	const out = list.filter((t) => t.kind === "bad");
	const cool = list.filter((t) => t.kind === "warn").length;
	const [kind, words] = s.draining ? ["warn", "Shutting down: no new requests"]
		: ready === 0 ? ["bad", "No worker is ready"]
		: out.length > 1 ? ["bad", count(out.length) + " URLs are out of service"]
		: out.length ? ["bad", (out[0].whole ? "" : "A URL of ") + out[0].of + " is out of service"]
		: cool ? ["warn", plural(cool, "target") + (cool === 1 ? " is cooling or waiting" : " are cooling or waiting")]
		: ["good", "All in service"];
	put($("summary"), "class", "state " + kind);
	text($("summary").lastChild, words);
	document.title = words + " – Turnpike";
	if (said && said !== words) text($("news"), words);
	said = words;
	text($("about"), "Version " + s.setup.version + " · configuration " + count(s.config_generation) + " · "
		+ plural(ready, "worker") + " · up " + lasting(s.uptime));
	$("reload").hidden = !s.reload_error;
	text($("reload-text"), s.reload_error || "");
}
function draw(s) {
	const bins = hour(s.history), list = troubles(s);
	drawDoor(s);
	drawSummary(s, list);
	drawFigures(s, bins);
	drawHour(bins);
	drawProviders(s, list);
	drawCombos(s, list);
	drawOpen(s);
	drawRefusals(s);
	drawFailures(s);
	$("main").hidden = false;
	$("main").classList.remove("stale");
	text($("link"), "");
}

let timer = 0, last = null, number = 0;
async function look() {
	const mine = ++number;
	clearTimeout(timer);
	try {
		const answer = await fetch("/stats?history=1", { headers: headers(), cache: "no-store" });
		if (mine !== number) return; // a later look is under way
		if (answer.status === 401) {
			forget(token ? "The token was not accepted." : "Needed to read here.");
			text($("summary").lastChild, "A token is needed");
			$("main").hidden = true;
			return;
		}
		if (!answer.ok) throw new Error("status " + answer.status);
		draw(await answer.json());
		last = new Date();
	} catch (error) {
		if (mine !== number) return;
		$("main").classList.add("stale");
		put($("summary"), "class", "state idle");
		text($("summary").lastChild, "Turnpike does not answer");
		text($("link"), (last ? "Last seen at " + clock(last) + ". " : "") + "Trying again (" + error.message + ").");
	}
	if (!document.hidden) timer = setTimeout(look, EVERY_MS);
}
document.addEventListener("visibilitychange", () => !document.hidden && look());
look();
