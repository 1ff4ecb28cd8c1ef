import { capRaw, capText } from '../cap-text.ts';
import { TOLD_OUTPUT } from '../launch.ts';
import type { RunEvent, RunResult, Usage } from '../provider.ts';
import type { Wire } from '../wire.ts';

type Call = Extract<RunEvent, { type: 'tool_call' }>['data'];

/** What a program's output comes to, put together line by line: told as it comes, and the result when it has ended. */
export interface Told {
  message(text: string): void;
  thought(text: string): void;
  /** A tool call, new or further on; what is not given again stays as it was. */
  call(id: string, call: Partial<Omit<Call, 'tool_call_id'>>): void;
  plan(entries: { content: string; status: string }[]): void;
  /** A line whose meaning is not known: never dropped. */
  other(kind: string, raw: unknown): void;
  /** Adds up; null where the program does not tell. */
  use(usage: Partial<Usage>): void;
  /** The program says itself that it failed. */
  fail(error: string): void;
  /** The text after the last tool call: in Plan mode, the plan. */
  lastMessage(): string;
  result(): Pick<RunResult, 'usage' | 'error'>;
}

/** What the lines of one program's output mean, by their `type`. */
export type Lines = Readonly<Record<string, (told: Told, line: Wire) => void>>;

export const createTold = (tell: (event: RunEvent) => void): Told => {
  const calls = new Map<string, Call>();
  let last = '';
  let usage: Usage | undefined;
  let error: string | undefined;
  return {
    message: (text) => {
      last = `${last}${text}`.slice(-LONGEST_PLAN);
      tell({ type: 'message', data: { text } });
    },
    thought: (text) => tell({ type: 'thought', data: { text } }),
    call: (id, { output, ...call }) => {
      last = '';
      const known = calls.get(id) ?? { ...UNTOLD, tool_call_id: id };
      const told = { ...known, ...call, ...(output !== undefined && capText(output, TOLD_OUTPUT)) };
      calls.set(id, { ...known, ...call });
      tell({ type: 'tool_call', data: told });
    },
    plan: (entries) => tell({ type: 'plan', data: { entries } }),
    other: (kind, raw) => tell({ type: 'agent_event', data: { kind, raw: capRaw(raw) } }),
    use: (more) => {
      usage = sum(usage, more);
      tell({ type: 'usage', data: usage });
    },
    fail: (text) => {
      error ??= text;
    },
    lastMessage: () => last.trim(),
    result: () => ({
      ...(usage !== undefined && { usage }),
      ...(error !== undefined && { error }),
    }),
  };
};

const LONGEST_PLAN = 1_048_576;

const UNTOLD = { title: '', kind: 'other', status: 'pending' } as const;

const sum = (usage: Usage | undefined, more: Partial<Usage>): Usage => ({
  input_tokens: add(usage?.input_tokens, more.input_tokens),
  output_tokens: add(usage?.output_tokens, more.output_tokens),
  cost_usd: add(usage?.cost_usd, more.cost_usd),
});

const add = (a: number | null = null, b: number | null = null): number | null =>
  a === null && b === null ? null : (a ?? 0) + (b ?? 0);

/** What kind of tool a name stands for, as far as names tell. */
export const kindOf = (name: string): string =>
  KINDS.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other';

const KINDS: readonly (readonly [string, RegExp])[] = [
  ['execute', /bash|shell|exec|command|terminal/i],
  ['edit', /edit|write|patch|replace/i],
  ['search', /grep|glob|search|find/i],
  ['fetch', /fetch|web/i],
  ['read', /read|view|list|ls/i],
  ['think', /think|todo|plan/i],
];
