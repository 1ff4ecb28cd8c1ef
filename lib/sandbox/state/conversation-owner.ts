import { normalize } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual as isSame } from 'node:util';
import { orElse } from '../../../store/base/attempt.ts';
import { isAtOrBelow } from '../../../store/base/paths.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import type { Conversation, JsonObject } from './rules.ts';

interface Looked {
  rule: Conversation;
  cwd: string;
  /** Its path already shows that it belongs to this project. */
  placed: boolean;
  /** Bytes before this offset existed already. */
  from?: number;
}

/** Why a conversation does not belong to this project; undefined if it does. */
export const whyOtherProject = async (
  bytes: Buffer,
  { rule, cwd, placed, from = 0 }: Looked,
): Promise<string | undefined> => {
  let stated = from > 0;
  for await (const record of recordsOf(bytes, rule, from)) {
    if (stated && rule.counts === 'first') return undefined;
    const said = saidBy(record, rule, cwd);
    if (said !== 'ours' && said !== 'nothing') return said;
    stated ||= said === 'ours';
  }
  return stated || placed ? undefined : 'it names no project';
};

const saidBy = (record: JsonObject | undefined, rule: Conversation, cwd: string) => {
  if (record === undefined) return 'it is not JSON, or too long';
  const project = rule.project(record) ?? undefined;
  if (project === undefined) return 'nothing';
  return isProject(project, cwd) ? 'ours' : 'it names another project';
};

const isProject = (value: unknown, cwd: string): boolean =>
  typeof value === 'string' && (value === sha256(cwd) || isAtOrBelow(normalize(value), cwd));

/** Why a conversation does not extend its former content; undefined if it does. */
export const whyNotGrown = (
  before: Buffer,
  after: Buffer,
  { messages }: Conversation,
): string | undefined => {
  const grown =
    messages === undefined
      ? after.subarray(0, before.length).equals(before)
      : isGrown(objectIn(before), objectIn(after), messages);
  return grown ? undefined : 'it does not extend the former content';
};

const isGrown = (
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  messages: string,
): boolean => {
  const [old, now] = [before?.[messages], after?.[messages]];
  if (before === undefined || after === undefined) return false;
  if (!Array.isArray(old) || !Array.isArray(now)) return false;
  const stays = Object.keys(before).filter((key) => key !== messages && !MAY_CHANGE.has(key));
  return (
    stays.every((key) => isSame(before[key], after[key])) &&
    old.every((message, at) => at < now.length && isSame(message, now[at]))
  );
};

const MAY_CHANGE = new Set(['lastUpdated', 'summary']);

const LARGEST_WHOLE = 16 * 1024 * 1024;
const LONGEST_LINE = 16 * 1024 * 1024;
const AT_ONCE = 1024 * 1024;

/** The records of a conversation that end after an offset; undefined for an invalid one. */
const recordsOf = async function* (
  bytes: Buffer,
  { messages }: Conversation,
  from: number,
): AsyncGenerator<JsonObject | undefined> {
  if (messages !== undefined) {
    yield objectIn(bytes);
    return;
  }
  for await (const { line, isCut } of linesOf(bytes, from)) {
    const record = line.length > LONGEST_LINE ? undefined : objectIn(line);
    // The last line may be incomplete, and then is no record.
    if (record !== undefined || !isCut || line.length > LONGEST_LINE) yield record;
  }
};

// Yields to the event loop after each megabyte.
const linesOf = async function* (bytes: Buffer, from: number) {
  let looked = from;
  // A negative offset counts from the end.
  let at = from === 0 ? 0 : bytes.lastIndexOf(NEWLINE, from - 1) + 1;
  while (at < bytes.length) {
    const found = bytes.indexOf(NEWLINE, at);
    const end = found === -1 ? bytes.length : found;
    if (end > at) yield { line: bytes.subarray(at, end), isCut: found === -1 };
    at = end + 1;
    if (at - looked < AT_ONCE) continue;
    looked = at;
    await nextTurn();
  }
};

const NEWLINE = 10;

/** Parses a JSON object; undefined for anything else. */
export const objectIn = (text: Buffer | string | undefined): JsonObject | undefined => {
  if (text === undefined || text.length > LARGEST_WHOLE) return undefined;
  const value = orElse((): unknown => JSON.parse(text.toString()), undefined);
  return isObject(value) ? value : undefined;
};

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
