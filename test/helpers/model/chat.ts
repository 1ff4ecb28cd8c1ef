import {
  type Entry,
  type Format,
  type Frame,
  isCall,
  type Json,
  list,
  textOf,
  toolOf,
  USED,
} from './format.ts';

/** OpenAI's chat completions. */
export const chat: Format = {
  path: /\/chat\/completions$/,
  read: (body) => ({
    entries: list(body.messages).map(
      ({ role, content }): Entry => ({
        role: ROLES[String(role)] ?? 'agent',
        text: textOf(content),
      }),
    ),
    tools: list(body.tools).map((tool) => {
      const { name, parameters } = tool.function as Json;
      return toolOf(name, parameters);
    }),
  }),
  begin: () => [frame({ role: 'assistant', content: '' })],
  say: (said, index) => {
    if (!isCall(said)) return [frame({ content: said.text })];
    const { name, args } = said.call;
    const call = { name, arguments: JSON.stringify(args) };
    return [frame({ tool_calls: [{ index, id: said.id, type: 'function', function: call }] })];
  },
  end: (all) => [
    frame({}, all.some(isCall) ? 'tool_calls' : 'stop'),
    { data: { ...chunk([]), usage: USAGE } },
    { data: '[DONE]' },
  ],
};

const ROLES: Record<string, Entry['role']> = { user: 'user', tool: 'result' };

const USAGE = {
  prompt_tokens: USED.input,
  completion_tokens: USED.output,
  total_tokens: USED.input + USED.output,
};

const frame = (delta: Json, finish_reason: string | null = null): Frame => ({
  data: chunk([{ index: 0, delta, finish_reason }]),
});

const chunk = (choices: Json[]): Json => ({
  id: 'scripted',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'scripted',
  choices,
});
