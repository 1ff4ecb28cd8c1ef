/**
 * A model that says what a script tells it to, for tests with real agents. It serves the streaming form of OpenAI's
 * chat completions on loopback, and keeps every request it was sent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** One thing the model does: speak, call a tool of the agent, never finish, or answer with an HTTP error. */
export type Part =
  | { text: string }
  | { tool: string; args: Record<string, unknown> }
  | { hang: true }
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
}

export interface ScriptedModel {
  url: string;
  requests: ModelRequest[];
}

interface Message {
  role: string;
  content: unknown;
}

/** Starts the model; it is stopped at the end of the test. A turn that no rule is for is answered with "ok". */
export const startScriptedModel = async (t: TestContext, rules: Rule[]): Promise<ScriptedModel> => {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    void readJson(request).then((body) => {
      const asked = readRequest(body);
      requests.push(asked);
      answer(response, stepFor(rules, asked));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, requests };
};

const readJson = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}');
};

const readRequest = (body: Record<string, unknown>): ModelRequest => {
  const messages = (body.messages ?? []) as Message[];
  const newest = messages.findLastIndex((message) => isPrompt(message));
  const tools = (body.tools ?? []) as { function: { name: string } }[];
  return {
    prompt: textOf(messages[newest]?.content),
    results: messages
      .slice(newest + 1)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => textOf(content)),
    tools: tools.map((tool) => tool.function.name),
  };
};

// Agents put reminders of their own into the conversation as user messages: those begin no turn.
const isPrompt = ({ role, content }: Message): boolean =>
  role === 'user' &&
  textOf(content)
    .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
    .trim() !== '';

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content : [];
  return parts.map((part: { text?: string }) => part.text ?? '').join('\n');
};

const stepFor = (rules: Rule[], { prompt, results }: ModelRequest): Part[] => {
  const steps = rules.find(({ when }) => prompt.includes(when))?.steps ?? [];
  return steps[Math.min(results.length, steps.length - 1)] ?? [{ text: 'ok' }];
};

const answer = (response: ServerResponse, parts: Part[]): void => {
  const failure = parts.find((part) => 'status' in part);
  if (failure !== undefined) {
    response.writeHead(failure.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'scripted error' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (chunk: unknown): boolean => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  send(chunkWith({ role: 'assistant', content: '' }));
  for (const [index, part] of parts.entries()) send(chunkWith(deltaOf(part, index)));
  if (parts.some((part) => 'hang' in part)) return;
  send(chunkWith({}, parts.some((part) => 'tool' in part) ? 'tool_calls' : 'stop'));
  send({ ...chunkWith({}), choices: [], usage: USAGE });
  response.end('data: [DONE]\n\n');
};

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

const deltaOf = (part: Part, index: number): unknown => {
  if ('tool' in part) return { tool_calls: [toolCall(part, index)] };
  return 'text' in part ? { content: part.text } : {};
};

const chunkWith = (delta: unknown, finish_reason: string | null = null) => ({
  id: 'scripted',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'scripted',
  choices: [{ index: 0, delta, finish_reason }],
});

let calls = 0;

const toolCall = ({ tool, args }: { tool: string; args: unknown }, index: number) => {
  calls += 1;
  return {
    index,
    id: `call_${calls}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  };
};
