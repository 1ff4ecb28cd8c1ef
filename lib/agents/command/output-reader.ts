import { capRaw, capText } from '../../text/cap-text.ts';
import { text, type Wire } from '../../text/unknown-json.ts';
import { createLastMessage } from '../last-message.ts';
import { TOLD_OUTPUT } from '../launch.ts';
import type { RunEvent, RunResult, Usage } from '../provider.ts';
import { addUsage, cost, tokens } from '../usage.ts';

type Call = Extract<RunEvent, { type: 'tool_call' }>['data'];

/** Readers for the lines of a format, by their `type`. */
export type Lines = Readonly<Record<string, (reader: OutputReader, line: Wire) => void>>;

/** Emits events for a program's output line by line, and collects the result. */
export const createOutputReader = (tell: (event: RunEvent) => void) => {
  const calls = new Map<string, Call>();
  const running = new Set<string>();
  const last = createLastMessage();
  let usage: Usage | null = null;
  let error: string | undefined;
  return {
    message: (text: string): void => {
      last.add(text);
      tell({ type: 'message', data: { text } });
    },
    thought: (text: string): void => tell({ type: 'thought', data: { text } }),
    /** A new or updated tool call; absent fields keep their values. */
    call: (id: string, { output, ...call }: Partial<Omit<Call, 'tool_call_id'>>): void => {
      last.clear();
      const known = calls.get(id) ?? { ...UNTOLD, tool_call_id: id };
      const told = { ...known, ...call, ...(output !== undefined && capText(output, TOLD_OUTPUT)) };
      calls.set(id, { ...known, ...call });
      if (isOpen(told)) running.add(id);
      else running.delete(id);
      tell({ type: 'tool_call', data: told });
    },
    plan: (entries: { content: string; status: string }[]): void =>
      tell({ type: 'plan', data: { entries } }),
    /** A line of unknown meaning, which is kept as an event. */
    other: (kind: string, raw: unknown): void =>
      tell({ type: 'agent_event', data: { kind, raw: capRaw(raw) } }),
    /** Adds usage; a value that cannot be one counts as unreported. */
    use: (input_tokens: unknown, output_tokens: unknown, cost_usd?: unknown): void => {
      usage = addUsage(usage, {
        input_tokens: tokens(input_tokens),
        output_tokens: tokens(output_tokens),
        cost_usd: cost(cost_usd),
      });
      tell({ type: 'usage', data: usage });
    },
    /** The program reports a failure. */
    fail: (text: string): void => {
      error ??= text;
    },
    /** The text after the last tool call: in Plan mode, the plan. */
    lastMessage: last.read,
    /** Whether the message is longer than a plan may be. */
    planTooLong: last.tooLong,
    /** Whether a tool call runs. */
    calling: (): boolean => running.size > 0,
    /** The program was ended: emits open calls as killed. */
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
export type OutputReader = ReturnType<typeof createOutputReader>;

const isOpen = ({ status }: Call): boolean => status === 'pending' || status === 'in_progress';

const UNTOLD = { title: '', kind: 'other', status: 'pending' } as const;

/** A starting tool call, from the tool's name and input. */
export const begunCall = (name: string, { command, file_path }: Wire): Partial<Call> => {
  const path = text(file_path);
  return {
    title: text(command) ?? (path === undefined ? name : `${name} ${path}`),
    kind: toolKind(name),
    status: 'in_progress',
    ...(path !== undefined && { locations: [path] }),
  };
};

/** Guesses the kind of a tool from its name. */
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
