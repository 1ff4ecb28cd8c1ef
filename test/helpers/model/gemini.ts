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

/** Google's streamGenerateContent. */
export const gemini: Format = {
  path: /:streamGenerateContent$/,
  read: (body) => ({
    entries: list(body.contents).flatMap(entriesOf),
    tools: list(body.tools)
      .flatMap(({ functionDeclarations }) => list(functionDeclarations))
      .map((tool) => toolOf(tool.name, tool.parametersJsonSchema ?? tool.parameters)),
  }),
  begin: () => [],
  say: (said) => {
    if (!isCall(said)) return [frame({ text: said.text })];
    const { name, args } = said.call;
    return [frame({ functionCall: { id: said.id, name, args } })];
  },
  end: () => [frame({ text: '' }, { finishReason: 'STOP' }, { usageMetadata: USAGE })],
};

const entriesOf = ({ role, parts }: Json): Entry[] => {
  if (role === 'model') return [{ role: 'agent', text: textOf(parts) }];
  const results = list(parts).flatMap(({ functionResponse }) =>
    list([functionResponse ?? []].flat()),
  );
  if (results.length === 0) return [{ role: 'user', text: textOf(parts) }];
  return results.map(({ response }) => ({ role: 'result', text: JSON.stringify(response) }));
};

const USAGE = {
  promptTokenCount: USED.input,
  candidatesTokenCount: USED.output,
  totalTokenCount: USED.input + USED.output,
};

const frame = (part: Json, candidate: Json = {}, rest: Json = {}): Frame => ({
  data: {
    candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...candidate }],
    modelVersion: 'scripted',
    ...rest,
  },
});
