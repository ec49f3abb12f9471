// One call of a real SDK; prints one JSON line that says what the caller of the SDK saw.
//   node sdk.mjs openai-chat|openai-responses|anthropic-messages MODEL json|stream
// Environment: CLIENTS_DIR (holds node_modules), BASE_URL (ends in /v1), SIM_URL (the simulator),
// MAX_RETRIES (of the SDK; its own default otherwise).
// With a stream the first event that arrives sends POST /__sim/release: a held answer goes on only
// because the client has seen its beginning already.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [client, model, mode] = process.argv.slice(2);
const { CLIENTS_DIR, BASE_URL, SIM_URL, MAX_RETRIES } = process.env;
const stream = mode === 'stream';
const require = createRequire(path.join(CLIENTS_DIR, 'index.js'));
const load = async (name) => (await import(pathToFileURL(require.resolve(name)))).default;
const options = { signal: AbortSignal.timeout(60_000) };
if (MAX_RETRIES) options.maxRetries = Number(MAX_RETRIES);
const messages = [{ role: 'user', content: 'say hello' }];

async function openai() {
  const OpenAI = await load('openai');
  return new OpenAI({ apiKey: 'sk-test', baseURL: BASE_URL });
}

async function anthropic() {
  const Anthropic = await load('@anthropic-ai/sdk');
  return new Anthropic({ apiKey: 'sk-test', baseURL: BASE_URL.replace(/\/v1$/, '') });
}

// For each client: its call, the text of a whole answer, the text in one event.
const clients = {
  'openai-chat': {
    call: async () => (await openai()).chat.completions.create({ model, messages, stream }, options).withResponse(),
    text: (answer) => answer.choices[0].message.content,
    delta: (event) => event.choices[0]?.delta?.content ?? '',
  },
  'openai-responses': {
    call: async () => (await openai()).responses.create({ model, input: 'say hello', stream }, options).withResponse(),
    text: (answer) => answer.output_text,
    delta: (event) => (event.type === 'response.output_text.delta' ? event.delta : ''),
  },
  'anthropic-messages': {
    call: async () =>
      (await anthropic()).messages.create({ model, max_tokens: 64, messages, stream }, options).withResponse(),
    text: (answer) => answer.content[0].text,
    delta: (event) => (event.type === 'content_block_delta' ? event.delta.text : ''),
  },
};

async function drain(events, delta, seen) {
  seen.events = 0;
  seen.text = '';
  for await (const event of events) {
    if (seen.events++ === 0) {
      const answer = await fetch(SIM_URL + '/__sim/release', { method: 'POST' });
      seen.released = (await answer.json()).released;
    }
    seen.text += delta(event);
    seen.last = event.type ?? event.object;
  }
}

const seen = { ok: false };
try {
  const { call, text, delta } = clients[client];
  const { data, response } = await call();
  seen.turnpike_sends = response.headers.get('x-turnpike-sends');
  if (stream) await drain(data, delta, seen);
  else seen.text = text(data);
  seen.ok = true;
} catch (error) {
  seen.error = { name: error.constructor.name, status: error.status, code: error.code, message: error.message };
  seen.error.should_retry = error.headers?.get?.('x-should-retry') ?? null;
}
console.log(JSON.stringify(seen));
