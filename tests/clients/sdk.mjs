// One call of a real SDK at its default settings; prints one JSON line that says what its caller saw.
//   node sdk.mjs CLIENT MODEL json|stream
// Environment: CLIENTS_DIR (holds node_modules), BASE_URL (ends in /v1), SIM_URL (the simulator),
// MAX_RETRIES (of the SDK; its own default otherwise), TIMEOUT_MS (of the whole call).
// With a stream the first event that arrives sends POST /__sim/release: a held answer goes on only
// because the client has seen its beginning already.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [client, model, mode] = process.argv.slice(2);
const { CLIENTS_DIR, BASE_URL, SIM_URL, MAX_RETRIES, TIMEOUT_MS } = process.env;
const stream = mode === 'stream';
const require = createRequire(path.join(CLIENTS_DIR, 'index.js'));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const signal = AbortSignal.timeout(Number(TIMEOUT_MS ?? 60_000));
const retries = MAX_RETRIES ? { maxRetries: Number(MAX_RETRIES) } : {};
const options = { signal, ...retries };
const messages = [{ role: 'user', content: 'say hello' }];
const seen = { ok: false };
globalThis.AI_SDK_LOG_WARNINGS = false; // they would stand on standard output

// ---- what each client is asked; each gives the text of a whole answer, or hands its events to drain()

async function openai() {
  const OpenAI = (await load('openai')).default;
  return new OpenAI({ apiKey: 'sk-test', baseURL: BASE_URL });
}

async function anthropic() {
  const Anthropic = (await load('@anthropic-ai/sdk')).default;
  return new Anthropic({ apiKey: 'sk-test', baseURL: BASE_URL.replace(/\/v1$/, '') });
}

async function stainless(call, text, delta) {
  const { data, response } = await call.withResponse();
  seen.turnpike_sends = response.headers.get('x-turnpike-sends');
  return stream ? drain(data, delta) : text(data);
}

async function vercel(languageModel) {
  const { generateText, streamText } = await load('ai');
  const call = { model: languageModel, prompt: 'say hello', abortSignal: signal, ...retries };
  if (!stream) return (await generateText(call)).text;
  let failure;
  const result = streamText({ ...call, onError: ({ error }) => (failure = error) });
  const text = await drain(result.textStream, (piece) => piece);
  if (failure) throw failure;
  return text;
}

async function langchain(chatModel) {
  if (!stream) return String((await chatModel.invoke('say hello', { signal })).content);
  return drain(await chatModel.stream('say hello', { signal }), (chunk) => String(chunk.content));
}

const clients = {
  'openai-chat': async () =>
    stainless(
      (await openai()).chat.completions.create({ model, messages, stream }, options),
      (answer) => answer.choices[0].message.content,
      (event) => event.choices[0]?.delta?.content ?? '',
    ),
  'openai-responses': async () =>
    stainless(
      (await openai()).responses.create({ model, input: 'say hello', stream }, options),
      (answer) => answer.output_text,
      (event) => (event.type === 'response.output_text.delta' ? event.delta : ''),
    ),
  'anthropic-messages': async () =>
    stainless(
      (await anthropic()).messages.create({ model, max_tokens: 64, messages, stream }, options),
      (answer) => answer.content[0].text,
      (event) => (event.type === 'content_block_delta' ? event.delta.text : ''),
    ),
  'vercel-responses': async () =>
    vercel((await load('@ai-sdk/openai')).createOpenAI({ apiKey: 'sk-test', baseURL: BASE_URL })(model)),
  'vercel-chat': async () =>
    vercel(
      (await load('@ai-sdk/openai-compatible')).createOpenAICompatible({
        name: 'sim', apiKey: 'sk-test', baseURL: BASE_URL,
      })(model),
    ),
  'vercel-messages': async () =>
    vercel((await load('@ai-sdk/anthropic')).createAnthropic({ apiKey: 'sk-test', baseURL: BASE_URL })(model)),
  'langchain-chat': async () => {
    const { ChatOpenAI } = await load('@langchain/openai');
    return langchain(new ChatOpenAI({ model, apiKey: 'sk-test', configuration: { baseURL: BASE_URL }, ...retries }));
  },
};

async function drain(events, delta) {
  let text = '';
  seen.events = 0;
  for await (const event of events) {
    if (seen.events++ === 0) {
      const answer = await fetch(SIM_URL + '/__sim/release', { method: 'POST' });
      seen.released = (await answer.json()).released;
    }
    text += delta(event);
    seen.last = event.type ?? event.object;
  }
  return text;
}

try {
  seen.text = await clients[client]();
  seen.ok = true;
} catch (error) {
  const last = error.lastError ?? error; // of the tries of the Vercel AI SDK
  seen.error = { name: error.constructor.name, code: error.code, message: error.message };
  seen.error.status = last.status ?? last.statusCode;
  seen.error.should_retry = last.headers?.get?.('x-should-retry') ?? last.responseHeaders?.['x-should-retry'] ?? null;
}
console.log(JSON.stringify(seen));
process.exit(0); // kept connections would hold it for a while
