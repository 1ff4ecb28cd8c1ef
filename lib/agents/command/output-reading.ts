import { capRaw, capText } from '../../text/cap-text.ts';
import { number, text, type Wire } from '../../text/unknown-json.ts';
import { createLastMessage } from '../last-message.ts';
import { TOLD_OUTPUT } from '../launch.ts';
import type { RunEvent, RunResult, Usage } from '../provider.ts';
import { addUsage } from '../usage.ts';

type Call = Extract<RunEvent, { type: 'tool_call' }>['data'];

/** What the lines of one program's output mean, by their `type`. */
export type Lines = Readonly<Record<string, (told: OutputReading, line: Wire) => void>>;

/** What a program's output comes to, put together line by line: told as it comes, and the result when it has ended. */
export const createTold = (tell: (event: RunEvent) => void) => {
  const calls = new Map<string, Call>();
  const last = createLastMessage();
  let usage: Usage | null = null;
  let error: string | undefined;
  return {
    message: (text: string): void => {
      last.add(text);
      tell({ type: 'message', data: { text } });
    },
    thought: (text: string): void => tell({ type: 'thought', data: { text } }),
    /** A tool call, new or further on; what is not given again stays as it was. */
    call: (id: string, { output, ...call }: Partial<Omit<Call, 'tool_call_id'>>): void => {
      last.clear();
      const known = calls.get(id) ?? { ...UNTOLD, tool_call_id: id };
      const told = { ...known, ...call, ...(output !== undefined && capText(output, TOLD_OUTPUT)) };
      calls.set(id, { ...known, ...call });
      tell({ type: 'tool_call', data: told });
    },
    plan: (entries: { content: string; status: string }[]): void =>
      tell({ type: 'plan', data: { entries } }),
    /** A line whose meaning is not known: never dropped. */
    other: (kind: string, raw: unknown): void =>
      tell({ type: 'agent_event', data: { kind, raw: capRaw(raw) } }),
    /** Adds up; what is no number the program does not tell. */
    use: (input_tokens: unknown, output_tokens: unknown, cost_usd?: unknown): void => {
      usage = addUsage(usage, {
        input_tokens: number(input_tokens) ?? null,
        output_tokens: number(output_tokens) ?? null,
        cost_usd: number(cost_usd) ?? null,
      });
      tell({ type: 'usage', data: usage });
    },
    /** The program says itself that it failed. */
    fail: (text: string): void => {
      error ??= text;
    },
    /** The text after the last tool call: in Plan mode, the plan. */
    lastMessage: last.read,
    /** It is longer than a plan may be. */
    planTooLong: last.tooLong,
    /** Whether a call goes on. */
    calling: (): boolean => [...calls.values()].some(isOpen),
    /** The program was ended: tells that its calls were, that went on. */
    killed: (): void => {
      for (const call of calls.values())
        if (isOpen(call)) tell({ type: 'tool_call', data: { ...call, status: 'killed' } });
    },
    result: (): Pick<RunResult, 'usage' | 'error'> => ({
      ...(usage !== null && { usage }),
      ...(error !== undefined && { error }),
    }),
  };
};
export type OutputReading = ReturnType<typeof createTold>;

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
