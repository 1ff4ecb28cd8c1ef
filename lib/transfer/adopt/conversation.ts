import { linesOf, saidIn } from '../../agents/terminal/said.ts';
import { list, record, text, type Wire } from '../../text/unknown-json.ts';

/** The agents whose transcripts can be read. */
export type TranscriptAgent = 'claude' | 'codex';

/** What a transcript tells of a conversation that an operator had with an agent. */
export interface Conversation {
  /** The operator's messages, oldest first. */
  said: string[];
  /** The last text of the agent. */
  answer: string | undefined;
  /** The last plan that the agent proposed, as Markdown. */
  plan: string | undefined;
  /** The files that it changed by its own tools, as it named them. */
  files: string[];
  /** A name that the operator or the agent gave it. */
  title: string | undefined;
  directory: string | undefined;
  branch: string | undefined;
}

/**
 * Reads a transcript. Nothing proves that it is true: whatever ran as this user may have written it. Lines that are
 * incomplete or unknown are skipped.
 */
export const readConversation = (agent: TranscriptAgent, lines: string): Conversation => {
  const all = linesOf(lines);
  const of = FORMATS[agent];
  const files = new Set(all.flatMap(of.files));
  return {
    said: saidIn(lines, agent),
    answer: lastOf(all, of.answer),
    plan: lastOf(all, of.plan),
    files: [...files].slice(0, MOST_FILES),
    title: lastOf(all, of.title),
    directory: firstOf(all, of.directory),
    branch: lastOf(all, of.branch),
  };
};

const MOST_FILES = 200;

type Read = (line: Wire) => string | undefined;

const firstOf = (lines: readonly Wire[], read: Read): string | undefined => {
  for (const line of lines) {
    const found = read(line);
    if (found) return found;
  }
  return undefined;
};

const lastOf = (lines: readonly Wire[], read: Read): string | undefined =>
  firstOf(lines.toReversed(), read);

interface Format {
  answer: Read;
  plan: Read;
  title: Read;
  directory: Read;
  branch: Read;
  files: (line: Wire) => string[];
}

const texts = (content: unknown): string | undefined => {
  const found = list(content).flatMap((part) => text(record(part).text) ?? []);
  return found.length === 0 ? undefined : found.join('\n');
};

// A message of the model, unless it is of an agent that another agent called.
const claudeParts = ({ type, isSidechain, message }: Wire): Wire[] =>
  type === 'assistant' && isSidechain !== true ? list(record(message).content).map(record) : [];

const CLAUDE_EDITS = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

const claude: Format = {
  answer: (line) => texts(claudeParts(line).filter(({ type }) => type === 'text')),
  plan: (line) => text(record(claudeParts(line).find(calls('ExitPlanMode'))?.input).plan),
  title: ({ type, customTitle, aiTitle, summary }) =>
    text(customTitle) ?? text(aiTitle) ?? (type === 'summary' ? text(summary) : undefined),
  directory: ({ cwd }) => text(cwd),
  branch: ({ gitBranch }) => text(gitBranch),
  files: (line) =>
    claudeParts(line)
      .filter(calls(...CLAUDE_EDITS))
      .flatMap(({ input }) => {
        const { file_path, notebook_path } = record(input);
        return text(file_path) ?? text(notebook_path) ?? [];
      }),
};

function calls(...names: string[]) {
  return ({ type, name }: Wire): boolean => type === 'tool_use' && names.includes(text(name) ?? '');
}

const codexItem = ({ type, payload }: Wire): Wire => {
  const { type: kind, item } = record(payload);
  return type === 'event_msg' && kind === 'item_completed' ? record(item) : {};
};

const codexCall = ({ type, payload }: Wire): Wire => {
  const call = record(payload);
  const isCall = call.type === 'function_call' || call.type === 'custom_tool_call';
  return type === 'response_item' && isCall ? call : {};
};

const codexMeta = ({ type, payload }: Wire): Wire =>
  type === 'session_meta' ? record(payload) : {};

const codex: Format = {
  answer: (line) => {
    const { type, message } = record(line.payload);
    if (line.type === 'event_msg' && type === 'agent_message') return text(message);
    const item = codexItem(line);
    return item.type === 'AgentMessage' ? texts(item.content) : undefined;
  },
  plan: (line) => {
    const item = codexItem(line);
    if (item.type === 'Plan') return text(item.text);
    const { name, arguments: given } = codexCall(line);
    return name === 'update_plan' ? stepsOf(text(given)) : undefined;
  },
  title: () => undefined,
  directory: (line) => text(codexMeta(line).cwd),
  branch: (line) => text(record(codexMeta(line).git).branch),
  files: (line) => {
    const { input, arguments: given } = codexCall(line);
    const patch = (text(input) ?? text(given) ?? '').replaceAll('\\n', '\n');
    return [...patch.matchAll(PATCHED)].map(([, file = '']) => file.trim());
  },
};

// Lines of a patch as the agent writes it for its own tool.
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

const stepsOf = (given = ''): string | undefined => {
  const steps = list(linesOf(given).map(record)[0]?.plan).map(record);
  const shown = steps.map(
    ({ step, status }) => `- [${status === 'completed' ? 'x' : ' '}] ${text(step) ?? ''}`,
  );
  return shown.length === 0 ? undefined : shown.join('\n');
};

const FORMATS: Readonly<Record<TranscriptAgent, Format>> = { claude, codex };
