"use strict";
// What is called how. The first of the files that make the page's one script (server/admin/page.c).

const CLASSES = ["overload", "transient", "reset", "refresh", "rotate", "hop"];
const MEANINGS = {
	upstream_reset_replay_refused: "The connection was reset after the request was sent: it may have run",
	upstream_closed_before_response: "The provider closed the connection without an answer: it may have run",
	upstream_no_response: "No answer in time: it may have run",
	upstream_response_truncated: "The answer broke off before its first output",
	upstream_response_invalid: "The answer was none of its kind",
	request_send_budget_exhausted: "All sends of the budget are used",
	rate_limit_shared: "Another request waits for the same limit",
	upstream_blacklisted: "The URL is listed",
	combo_unavailable: "No target of the combo is in service",
	upstream_unreachable: "No connection to the provider",
	upstream_credential_rejected: "The provider rejects the configured key",
	access_token_wait_expired: "No access token came in time",
	logical_request_in_flight: "The same request is still running",
	model_not_found: "No such model",
};
const OUTCOMES = { error: "Error shown to the client", refused: "Refused", cut: "Broke off on the way", bad: "Bad request" };

const DOING = {
	receiving: "Its request arrives", joining: "Waits for the same request before it", connecting: "Connects to the provider",
	sending: "Sent, no answer yet", holding: "Holds an answer that is not complete", streaming: "Streams the answer",
};
const WAITING = {
	overload: "Waits: the provider is busy", transient: "Waits after a server error", reset: "Waits after a reset",
	rate_limit: "Waits for a rate limit that others met", capacity: "Waits in the provider's queue",
	cooldown: "Waits for a target of its combo", token: "Waits for an access token",
};

// ---- words

const count = (n) => Math.round(n).toLocaleString("en");
const plural = (n, one, many) => count(n) + " " + (n === 1 ? one : many || one + "s");
const percent = (part) => {
	const p = part * 100;
	return (p === 100 || p === 0 ? p : p > 99.9 ? 99.9 : p.toFixed(1)) + " %";
};
const lasting = (s) => {
	if (s < 10) return s.toFixed(1) + " s";
	if (s < 60) return Math.round(s) + " s";
	s = Math.round(s);
	if (s < 3600) return Math.floor(s / 60) + " min " + String(s % 60).padStart(2, "0") + " s";
	if (s < 86400) return Math.floor(s / 3600) + " h " + String(Math.floor((s % 3600) / 60)).padStart(2, "0") + " min";
	return Math.floor(s / 86400) + " d " + Math.floor((s % 86400) / 3600) + " h";
};
const clock = (date) => date.toLocaleTimeString("en-GB");
