import { join } from 'node:path';
import { bytesOf, isThere, LARGEST_BYTES } from '../../sandbox/state/files.ts';
import { conversationIn } from '../../sandbox/state/sync-back.ts';
import type { AcpAgent } from '../presets.ts';
import type { TerminalSpec } from '../provider.ts';
import { linesAdded, linesOf, saidIn, type TranscriptFormat } from './said.ts';

/** An agent's transcript of one conversation, from the time at which it was opened. */
interface OpenTranscript {
  /** What the operator has said since, oldest first. Empty for an agent whose transcript is not known. */
  said(): Promise<string[]>;
}

/** A place of the agent's state, and the copy of it that this run has. */
interface Copied {
  place: AcpAgent['state'][number];
  copy: string;
}

/**
 * Finds the conversation in the copy of the agent's state that this run has. A conversation that begins later is not read: its
 * first messages would be prompts of the daemon.
 */
export const openTranscript = async (
  { state, transcript: format }: Pick<AcpAgent, 'state' | 'transcript'>,
  spec: TerminalSpec,
): Promise<OpenTranscript> => {
  if (format === undefined) return { said: async () => [] };
  const { binds = [] } = spec;
  const copied = state.flatMap((place): Copied[] => {
    const copy = binds.find(({ to, write }) => write && to === place.path)?.from;
    return copy === undefined ? [] : [{ place, copy }];
  });
  const open = format === 'opencode' ? openHistory : openConversation;
  const readers = await Promise.all(copied.map((each) => open(each, spec, format)));
  return {
    said: async () => {
      const said: string[] = [];
      for (const read of readers.flat()) said.push(...saidIn(await read(), format));
      return said;
    },
  };
};

/** Reads the lines that were added since. */
type ReadAdded = () => Promise<string>;

const openConversation = async (
  { place: { path: root, rules = {} }, copy }: Copied,
  { cwd, native_session_id: id }: TerminalSpec,
  format: TranscriptFormat,
): Promise<ReadAdded[]> => {
  const scope = { cwd, native_session_id: id };
  const opened: ReadAdded[] = [];
  for (const path of await conversationIn({ root, copy, rules, scope })) {
    const before = await bytesOf(path, LARGEST_BYTES);
    // The names of its files have only the beginning of the id.
    if (format === 'gemini' && firstOf(before).sessionId !== id) continue;
    const from = before.length;
    opened.push(async () => (await bytesOf(path, LARGEST_BYTES)).subarray(from).toString('utf8'));
  }
  return opened;
};

const firstOf = (bytes: Buffer) =>
  linesOf(bytes.subarray(0, bytes.indexOf('\n')).toString('utf8'))[0] ?? {};

// OpenCode's conversations are in a database, but its interface also appends each prompt to this file.
const HISTORY = 'prompt-history.jsonl';

const openHistory = async ({ copy }: Copied): Promise<ReadAdded[]> => {
  const path = join(copy, HISTORY);
  const read = async (): Promise<string> =>
    (await isThere(path)) ? (await bytesOf(path, LARGEST_BYTES)).toString('utf8') : '';
  const before = await read();
  return [async () => linesAdded(before, await read())];
};
