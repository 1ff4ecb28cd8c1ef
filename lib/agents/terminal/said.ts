import { orElse } from '../../../store/base/attempt.ts';
import { list, record, text, type Wire } from '../../text/unknown-json.ts';

/** The operator's text in one line of a transcript; undefined if the line is something else. */
type ReadSaid = (line: Wire) => string | undefined;

/**
 * Reads what the operator said in the lines that an agent added to its transcript. Nothing proves who wrote a line: the agent
 * can write its own transcript.
 */
export const saidIn = (lines: string, format: TranscriptFormat): string[] => {
  const all = linesOf(lines);
  const found = TRANSCRIPTS[format].map((read) => all.flatMap((line) => read(line) ?? []));
  return (found.find(({ length }) => length > 0) ?? [])
    .map((said) => said.trim().slice(0, LONGEST))
    .filter((said) => said !== '')
    .slice(0, MOST_SAID);
};

/** The lines of a transcript. One that is no JSON object reads as empty. */
export const linesOf = (lines: string): Wire[] =>
  lines.split('\n').slice(0, MOST_LINES).map(parsed);

/** The lines that were added to a file, which may have been written anew since without its oldest lines. */
export const linesAdded = (before: string, now: string): string => {
  if (now.startsWith(before)) return now.slice(before.length);
  const [had, has] = [before.trimEnd().split('\n').slice(-MOST_COMPARED), now.split('\n')];
  const kept = had.findIndex((_, at) => had.slice(at).every((line, to) => line === has[to]));
  if (kept !== -1) return has.slice(had.length - kept).join('\n');
  const known = new Set(had);
  return has.filter((line) => !known.has(line)).join('\n');
};

const MOST_COMPARED = 1000;
const MOST_LINES = 100_000;
const MOST_SAID = 50;
const LONGEST = 20_000;

// The last line may be incomplete.
const parsed = (line: string): Wire => record(orElse((): unknown => JSON.parse(line), {}));

/** Claude Code also stores results of tools, its own notes and its commands as the user's messages. */
const claude: ReadSaid = ({ type, isMeta, isSidechain, isCompactSummary, message }) => {
  if (type !== 'user' || isMeta === true || isSidechain === true) return undefined;
  if (isCompactSummary === true) return undefined;
  const { content } = record(message);
  const said = text(content) ?? textOf(list(content).map(record));
  return said === undefined || OWN_NOTE.test(said) ? undefined : said;
};

const textOf = (parts: readonly Wire[]): string | undefined => {
  if (parts.some(({ type }) => type === 'tool_result')) return undefined;
  const texts = parts.flatMap((part) => (part.type === 'text' ? (text(part.text) ?? []) : []));
  return texts.length === 0 ? undefined : texts.join('\n');
};

const OWN_NOTE = /^\s*(?:<(?:command|local-command|bash|system)-|Caveat: |\[Request interrupted)/;

/** Codex repeats each message for its model, with its own context; this item is the operator's text alone. */
const codex: ReadSaid = ({ type, payload }) => {
  const { type: kind, item } = record(payload);
  const { type: what, content } = record(item);
  if (type !== 'event_msg' || kind !== 'item_completed' || what !== 'UserMessage') return undefined;
  return textOf(list(content).map(record));
};

/** The same as earlier versions wrote it. */
const earlierCodex: ReadSaid = ({ type, payload }) => {
  const { type: kind, message } = record(payload);
  return type === 'event_msg' && kind === 'user_message' ? text(message) : undefined;
};

/** `displayContent` is what was typed, where Gemini CLI has put the content of files into the message. */
const gemini: ReadSaid = ({ type, content, displayContent }) => {
  if (type !== 'user') return undefined;
  const said = wordsOf(list(displayContent ?? content).map(record));
  return said?.startsWith(GEMINI_NOTE) ? undefined : said;
};

const GEMINI_NOTE = 'System: Potential loop detected';

/** Records with a subtype are prompts of Qwen Code itself. */
const qwen: ReadSaid = ({ type, subtype, message }) =>
  type === 'user' && subtype === undefined
    ? wordsOf(list(record(message).parts).map(record))
    : undefined;

/** The parts of Google's format have no type. */
const wordsOf = (parts: readonly Wire[]): string | undefined =>
  parts.some(({ functionResponse }) => functionResponse !== undefined)
    ? undefined
    : parts.map(({ text: words }) => text(words) ?? '').join('');

/** OpenCode's history of prompts has placeholders for what was pasted. */
const opencode: ReadSaid = ({ input, parts, mode }) => {
  if (mode === 'shell') return undefined;
  return list(parts)
    .map(record)
    .reduce((said, { type, text: pasted, source }) => {
      const place = text(record(record(source).text).value);
      if (type !== 'text' || place === undefined) return said;
      return said?.replace(place, () => text(pasted) ?? place);
    }, text(input));
};

/** The known formats of transcripts. Of several readers, the first that finds anything counts. */
const TRANSCRIPTS = {
  claude: [claude],
  codex: [codex, earlierCodex],
  gemini: [gemini],
  opencode: [opencode],
  qwen: [qwen],
} as const satisfies Record<string, readonly ReadSaid[]>;

export type TranscriptFormat = keyof typeof TRANSCRIPTS;
