import { list, record, text, type Wire } from '../../text/unknown-json.ts';

/** The operator's text in one line of a transcript; undefined if the line is something else. */
type ReadSaid = (line: Wire) => string | undefined;

/**
 * Reads what the operator said in the lines that an agent added to its transcript. Nothing proves who wrote a line: the agent
 * can write its own transcript.
 */
export const saidIn = (lines: string, read: ReadSaid): string[] =>
  lines
    .split('\n')
    .slice(0, MOST_LINES)
    .flatMap((line) => read(parsed(line)) ?? [])
    .map((said) => said.trim().slice(0, LONGEST))
    .filter((said) => said !== '')
    .slice(0, MOST_SAID);

const MOST_LINES = 100_000;
const MOST_SAID = 50;
const LONGEST = 20_000;

const parsed = (line: string): Wire => {
  try {
    return record(JSON.parse(line));
  } catch {
    // The last line may be incomplete.
    return {};
  }
};

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

/** Codex repeats each message for its model, with its own context; this event is the operator's text alone. */
const codex: ReadSaid = ({ type, payload }) => {
  const { type: kind, message } = record(payload);
  return type === 'event_msg' && kind === 'user_message' ? text(message) : undefined;
};

/** The known formats of transcripts. */
export const TRANSCRIPTS = { claude, codex } as const satisfies Record<string, ReadSaid>;
