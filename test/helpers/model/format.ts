/** What the wire formats of the scripted model have in common. */
export type Json = Record<string, unknown>;

/** A tool that an agent offers: its name and what it takes. `free`: one text instead of named arguments. */
export interface Tool {
  name: string;
  properties: string[];
  free: boolean;
  /** The group it is offered in, where a format has groups; a call names it, too. */
  namespace?: string;
}

/** One entry of the conversation that an agent sends. */
export interface Entry {
  role: 'user' | 'agent' | 'result';
  text: string;
}

export interface Asked {
  entries: Entry[];
  tools: Tool[];
}

export interface Call {
  name: string;
  /** A text where the tool takes one. */
  args: Json | string;
  namespace?: string;
}

/** What the model says, as every format can write it. */
export type Said = { text: string } | { call: Call; id: string };

/** One server-sent event. */
export interface Frame {
  event?: string;
  data: unknown;
}

/** How a vendor's models are asked and answer, in the streaming form that agents use. */
export interface Format {
  path: RegExp;
  read(body: Json): Asked;
  begin(): Frame[];
  say(said: Said, index: number): Frame[];
  end(all: Said[]): Frame[];
}

/** What every answer is said to have cost. */
export const USED = { input: 100, output: 10 };

export const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** The text of a message's content, which is a text or a list of parts. */
export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => (typeof part.text === 'string' ? part.text : ''))
        .join('\n');

export const toolOf = (name: unknown, schema: unknown, free = false): Tool => ({
  name: String(name),
  properties: Object.keys((schema as { properties?: object } | undefined)?.properties ?? {}),
  free,
});

export const isCall = (said: Said): said is Extract<Said, { call: Call }> => 'call' in said;
