import { bytesOf, LARGEST_BYTES } from '../../sandbox/state/files.ts';
import { conversationIn } from '../../sandbox/state/sync-back.ts';
import type { AcpAgent } from '../presets.ts';
import type { TerminalSpec } from '../provider.ts';
import { saidIn } from './said.ts';

/** An agent's transcript of one conversation, from the time at which it was opened. */
interface OpenTranscript {
  /** What the operator has said since, oldest first. Empty for an agent whose transcript is not known. */
  said(): Promise<string[]>;
}

/**
 * Finds the conversation in the copy of the agent's state that this run has. A conversation that begins later is not read: its
 * first messages would be prompts of the daemon.
 */
export const openTranscript = async (
  { state, transcript: format }: Pick<AcpAgent, 'state' | 'transcript'>,
  { binds = [], cwd, native_session_id }: TerminalSpec,
): Promise<OpenTranscript> => {
  if (format === undefined) return { said: async () => [] };
  const scope = { cwd, native_session_id };
  const files: { path: string; from: number }[] = [];
  for (const { path: root, rules = {} } of state) {
    const copy = binds.find(({ to, write }) => write && to === root)?.from;
    if (copy === undefined) continue;
    for (const path of await conversationIn({ root, copy, rules, scope }))
      files.push({ path, from: (await bytesOf(path, LARGEST_BYTES)).length });
  }
  return {
    said: async () => {
      const said: string[] = [];
      for (const { path, from } of files) {
        const bytes = await bytesOf(path, LARGEST_BYTES);
        said.push(...saidIn(bytes.subarray(from).toString('utf8'), format));
      }
      return said;
    },
  };
};
