import { randomUUID } from 'node:crypto';
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

/** Anthropic's messages. */
export const messages: Format = {
  path: /\/messages$/,
  read: (body) => ({
    entries: list(body.messages).flatMap(entriesOf),
    tools: list(body.tools).map(({ name, input_schema }) => toolOf(name, input_schema)),
  }),
  begin: () => [
    frame('message_start', {
      // Claude takes two messages with one id for one.
      message: { ...MESSAGE, id: `msg_${randomUUID()}`, usage: tokens(1) },
    }),
  ],
  say: (said, index) => [
    frame('content_block_start', { index, content_block: isCall(said) ? use(said) : TEXT }),
    frame('content_block_delta', {
      index,
      delta: isCall(said)
        ? { type: 'input_json_delta', partial_json: JSON.stringify(said.call.args) }
        : { type: 'text_delta', text: said.text },
    }),
    frame('content_block_stop', { index }),
  ],
  end: (all) => [
    frame('message_delta', {
      delta: { stop_reason: all.some(isCall) ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: tokens(USED.output),
    }),
    frame('message_stop', {}),
  ],
};

// Results come as a user's message, one or more, and what the agent reminds of beside them is no prompt.
const entriesOf = ({ role, content }: Json): Entry[] => {
  if (role !== 'user') return [{ role: 'agent', text: textOf(content) }];
  const results = list(content).filter(({ type }) => type === 'tool_result');
  if (results.length === 0) return [{ role: 'user', text: textOf(content) }];
  return results.map((result) => ({ role: 'result', text: textOf(result.content) }));
};

const MESSAGE = {
  type: 'message',
  role: 'assistant',
  model: 'scripted',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

const TEXT = { type: 'text', text: '' };

const use = ({ call, id }: { call: { name: string }; id: string }): Json => ({
  type: 'tool_use',
  id: `toolu_${id}`,
  name: call.name,
  input: {},
});

const tokens = (output_tokens: number): Json => ({
  input_tokens: USED.input,
  output_tokens,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
});

const frame = (type: string, rest: Json): Frame => ({ event: type, data: { type, ...rest } });
