/**
 * A model that says what a script tells it to, for tests with real agents. It serves the streaming forms of four
 * vendors' interfaces on loopback, and keeps every request it was sent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';
import { chat } from './model/chat.ts';
import type { Asked, Call, Entry, Format, Frame, Json, Said } from './model/format.ts';
import { gemini } from './model/gemini.ts';
import { callFor, type Intent } from './model/intents.ts';
import { messages } from './model/messages.ts';
import { responses } from './model/responses.ts';

/**
 * One thing the model does: speak, call a tool of the agent by its name, have something done by whatever tool the agent
 * offers for it, never finish, drop the connection in the middle, or answer with an HTTP error.
 */
export type Part =
  | { text: string }
  | { tool: string; args: Record<string, unknown> }
  | Intent
  | { hang: true }
  | { drop: true }
  | { status: number };

export interface Rule {
  /** The rule is for turns whose newest user text holds this. */
  when: string;
  /** Step N answers the request that already carries the results of N steps; the last one is repeated. */
  steps: Part[][];
}

export interface ModelRequest {
  /** The newest text of the user: the prompt of the turn. */
  prompt: string;
  /** What the agent sent back from its tools in this turn, in order. */
  results: string[];
  tools: string[];
  /** What the user said before the prompt, in the same conversation. */
  earlier: string[];
  /** Which model was asked, and how long it was to think. */
  model: string;
  effort: string | undefined;
}

export interface ScriptedModel {
  /** With `/v1`, as OpenAI's clients want it. */
  url: string;
  /** Without a path, as the other vendors' clients want it. */
  origin: string;
  requests: ModelRequest[];
  /** All that was sent with each of them, as text. */
  bodies: string[];
  /** Where the relative paths of intents begin: the worktree. */
  root: string;
}

const FORMATS: readonly Format[] = [chat, responses, messages, gemini];

/** Starts the model; it is stopped at the end of the test. A turn that no rule is for is answered with "ok". */
export const startScriptedModel = async (t: TestContext, rules: Rule[]): Promise<ScriptedModel> => {
  const requests: ModelRequest[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://model');
    const format = FORMATS.find(({ path }) => path.test(pathname));
    if (format === undefined) return answerRest(response, pathname);
    void readJson(request).then((body) => {
      const asked = format.read(body);
      const told = { ...readRequest(asked), ...readChoice(pathname, body) };
      requests.push(told);
      bodies.push(JSON.stringify(body));
      answer(response, format, scripted(stepFor(rules, told), asked, model.root));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const model: ScriptedModel = { url: `${origin}/v1`, origin, requests, bodies, root: '/' };
  return model;
};

// What agents ask besides: which models there are, and how long a text is.
const answerRest = (response: ServerResponse, pathname: string): void => {
  const models = { object: 'list', data: [], models: [], has_more: false };
  const counted = { input_tokens: 100, totalTokens: 100 };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(/count_?tokens$/i.test(pathname) ? counted : models));
};

const readJson = async (request: IncomingMessage): Promise<Json> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}');
};

const readChoice = (pathname: string, body: Json): Pick<ModelRequest, 'model' | 'effort'> => {
  const { model, reasoning, reasoning_effort, output_config } = body as Record<string, string>;
  const inside = [reasoning, output_config].map((one) => Object(one).effort as string | undefined);
  const [, inPath = ''] = /models\/([^:]+):/.exec(pathname) ?? [];
  return { model: model ?? inPath, effort: reasoning_effort ?? inside.find(Boolean) };
};

const readRequest = ({ entries, tools }: Asked): Omit<ModelRequest, 'model' | 'effort'> => {
  const newest = entries.findLastIndex(isPrompt);
  return {
    prompt: entries[newest]?.text ?? '',
    results: entries
      .slice(newest + 1)
      .filter(({ role }) => role === 'result')
      .map(({ text }) => text),
    tools: tools.map(({ name }) => name),
    earlier: entries
      .slice(0, Math.max(0, newest))
      .filter(isPrompt)
      .map(({ text }) => text),
  };
};

// Agents put reminders of their own into the conversation as user messages: those begin no turn.
const isPrompt = ({ role, text }: Entry): boolean =>
  role === 'user' && text.replace(REMINDER, '').trim() !== '';

const REMINDER = /<(system-reminder|environment_context)>[\s\S]*?<\/\1>/g;

const stepFor = (rules: Rule[], { prompt, results }: ModelRequest): Part[] => {
  const steps = rules.find(({ when }) => prompt.includes(when))?.steps ?? [];
  return steps[Math.min(results.length, steps.length - 1)] ?? [{ text: 'ok' }];
};

interface Answer {
  said: Said[];
  hangs: boolean;
  drops: boolean;
  status?: number;
}

let calls = 0;

const scripted = (parts: Part[], { tools }: Asked, root: string): Answer => {
  const said: Said[] = [];
  const has = (what: string): boolean => parts.some((part) => what in part);
  const answered: Answer = { said, hangs: has('hang'), drops: has('drop') };
  for (const part of parts) {
    if ('status' in part) answered.status = part.status;
    else if ('text' in part) said.push(part);
    else if (!('hang' in part || 'drop' in part)) said.push(done(callOf(part, tools, root), part));
  }
  return answered;
};

const callOf = (
  part: Intent | { tool: string; args: Json },
  tools: Asked['tools'],
  root: string,
): Call | undefined =>
  'tool' in part ? { name: part.tool, args: part.args } : callFor(part, tools, root);

const done = (call: Call | undefined, part: Part): Said => {
  calls += 1;
  return call === undefined
    ? { text: `No tool is offered for ${JSON.stringify(part)}` }
    : { call, id: `call_${calls}` };
};

const answer = (
  response: ServerResponse,
  format: Format,
  { said, hangs, drops, status }: Answer,
): void => {
  if (status !== undefined) {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'scripted error' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = ({ event, data }: Frame): boolean =>
    response.write(
      `${event === undefined ? '' : `event: ${event}\n`}data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`,
    );
  for (const frame of [...format.begin(), ...said.flatMap((each, at) => format.say(each, at))])
    send(frame);
  if (hangs) return;
  if (drops) {
    response.destroy();
    return;
  }
  for (const frame of format.end(said)) send(frame);
  response.end();
};
