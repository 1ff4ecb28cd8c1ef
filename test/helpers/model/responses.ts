import {
  type Entry,
  type Format,
  type Frame,
  isCall,
  type Json,
  list,
  type Said,
  type Tool,
  textOf,
  toolOf,
  USED,
} from './format.ts';

/** OpenAI's responses. */
export const responses: Format = {
  path: /\/responses$/,
  read: (body) => ({
    entries: list(body.input).map(entryOf),
    tools: list(body.tools).flatMap(toolsOf),
  }),
  begin: () => [frame('response.created', { response: answer('in_progress', []) })],
  say: (said, output_index) => [
    frame('response.output_item.added', { output_index, item: itemOf(said, output_index, true) }),
    ...(isCall(said) ? [] : spoken(said.text, output_index)),
    frame('response.output_item.done', { output_index, item: itemOf(said, output_index) }),
  ],
  end: (all) => [
    frame('response.completed', {
      response: {
        ...answer(
          'completed',
          all.map((said, at) => itemOf(said, at)),
        ),
        usage: USAGE,
      },
    }),
  ],
};

const toolsOf = (tool: Json): Tool[] => {
  const { name, type, parameters } = tool;
  if (type !== 'namespace') return [toolOf(name ?? type, parameters, type === 'custom')];
  return list(tool.tools)
    .flatMap(toolsOf)
    .map((inner) => ({ ...inner, namespace: String(name) }));
};

const entryOf = ({ type, role, content, output }: Json): Entry => {
  if (String(type).endsWith('call_output')) return { role: 'result', text: textOf(output) };
  return { role: role === 'user' ? 'user' : 'agent', text: textOf(content) };
};

const itemOf = (said: Said, index: number, begun = false): Json => {
  const status = begun ? 'in_progress' : 'completed';
  if (!isCall(said)) {
    const content = begun ? [] : [{ type: 'output_text', text: said.text, annotations: [] }];
    return { id: `msg_${index}`, type: 'message', role: 'assistant', status, content };
  }
  const { call, id: call_id } = said;
  const { args, ...named } = call;
  const item = { id: `item_${call_id}`, call_id, ...named, status };
  if (typeof args === 'string') return { ...item, type: 'custom_tool_call', input: args };
  return { ...item, type: 'function_call', arguments: JSON.stringify(args) };
};

const spoken = (text: string, output_index: number): Frame[] => {
  const at = { item_id: `msg_${output_index}`, output_index, content_index: 0 };
  return [
    frame('response.content_part.added', {
      ...at,
      part: { type: 'output_text', text: '', annotations: [] },
    }),
    frame('response.output_text.delta', { ...at, delta: text }),
    frame('response.output_text.done', { ...at, text }),
  ];
};

const answer = (status: string, output: Json[]): Json => ({
  id: 'resp_scripted',
  object: 'response',
  status,
  model: 'scripted',
  output,
});

const USAGE = {
  input_tokens: USED.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: USED.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: USED.input + USED.output,
};

const frame = (type: string, rest: Json): Frame => ({ event: type, data: { type, ...rest } });
