import { capRaw, capText } from '../../../base/cap-text.ts';
import { number, text, type Wire } from '../../../base/wire.ts';
import { createLastMessage } from '../last-message.ts';
import { TOLD_OUTPUT } from '../launch.ts';
import type { RunEvent, RunResult, Usage } from '../provider.ts';
import { addUsage } from '../usage.ts';

type Call = Extract<RunEvent, { type: 'tool_call' }>['data'];

/** What a program's output comes to, put together line by line: told as it comes, and the result when it has ended. */
export interface OutputReading {
  message(text: string): void;
  thought(text: string): void;
  /** A tool call, new or further on; what is not given again stays as it was. */
  call(id: string, call: Partial<Omit<Call, 'tool_call_id'>>): void;
  plan(entries: { content: string; status: string }[]): void;
  /** A line whose meaning is not known: never dropped. */
  other(kind: string, raw: unknown): void;
  /** Adds up; what is no number the program does not tell. */
  use(input_tokens: unknown, output_tokens: unknown, cost_usd?: unknown): void;
  /** The program says itself that it failed. */
  fail(error: string): void;
  /** The text after the last tool call: in Plan mode, the plan. */
  lastMessage(): string;
  /** It is longer than a plan may be. */
  planTooLong(): boolean;
  /** The program was ended: tells that its calls were, that went on. */
  killed(): void;
  result(): Pick<RunResult, 'usage' | 'error'>;
}

/** What the lines of one program's output mean, by their `type`. */
export type Lines = Readonly<Record<string, (told: OutputReading, line: Wire) => void>>;

export const createTold = (tell: (event: RunEvent) => void): OutputReading => {
  const calls = new Map<string, Call>();
  const last = createLastMessage();
  let usage: Usage | null = null;
  let error: string | undefined;
  return {
    message: (text) => {
      last.add(text);
      tell({ type: 'message', data: { text } });
    },
    thought: (text) => tell({ type: 'thought', data: { text } }),
    call: (id, { output, ...call }) => {
      last.clear();
      const known = calls.get(id) ?? { ...UNTOLD, tool_call_id: id };
      const told = { ...known, ...call, ...(output !== undefined && capText(output, TOLD_OUTPUT)) };
      calls.set(id, { ...known, ...call });
      tell({ type: 'tool_call', data: told });
    },
    plan: (entries) => tell({ type: 'plan', data: { entries } }),
    other: (kind, raw) => tell({ type: 'agent_event', data: { kind, raw: capRaw(raw) } }),
    use: (input_tokens, output_tokens, cost_usd) => {
      usage = addUsage(usage, {
        input_tokens: number(input_tokens) ?? null,
        output_tokens: number(output_tokens) ?? null,
        cost_usd: number(cost_usd) ?? null,
      });
      tell({ type: 'usage', data: usage });
    },
    fail: (text) => {
      error ??= text;
    },
    lastMessage: last.read,
    planTooLong: last.tooLong,
    killed: () => {
      for (const call of calls.values())
        if (isOpen(call)) tell({ type: 'tool_call', data: { ...call, status: 'killed' } });
    },
    result: () => ({
      ...(usage !== null && { usage }),
      ...(error !== undefined && { error }),
    }),
  };
};

const isOpen = ({ status }: Call): boolean => status === 'pending' || status === 'in_progress';

const UNTOLD = { title: '', kind: 'other', status: 'pending' } as const;

/** A tool call that begins, told by the tool's name and its input. */
export const begunCall = (name: string, { command, file_path }: Wire): Partial<Call> => {
  const path = text(file_path);
  return {
    title: text(command) ?? (path === undefined ? name : `${name} ${path}`),
    kind: toolKind(name),
    status: 'in_progress',
    ...(path !== undefined && { locations: [path] }),
  };
};

/** What kind of tool a name stands for, as far as names tell. */
export const toolKind = (name: string): string =>
  KINDS.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other';

const KINDS: readonly (readonly [string, RegExp])[] = [
  ['execute', /bash|shell|exec|command|terminal/i],
  ['edit', /edit|write|patch|replace/i],
  ['search', /grep|glob|search|find/i],
  ['fetch', /fetch|web/i],
  ['read', /read|view|list|ls/i],
  ['think', /think|todo|plan/i],
];
