import { join } from 'node:path';
import { messageOf } from '../../../store/base/attempt.ts';
import { reportOncePerTarget } from '../../sandbox/egress/doors.ts';
import { bytesOf, isThere, LARGEST_BYTES } from '../../sandbox/state/files.ts';
import { conversationIn } from '../../sandbox/state/sync-back.ts';
import { environmentIn } from '../ask-switches.ts';
import { isolationOf, lend, type ProviderDeps, whyUnavailable } from '../launch.ts';
import type { AcpAgent, TerminalProgram } from '../presets.ts';
import { withPrivateState } from '../private-state.ts';
import type { Run, RunEvent, RunResult, Terminal, TerminalSpec } from '../provider.ts';
import { plainRun } from '../run-end.ts';
import { linesAdded, linesOf, saidIn, type TranscriptFormat } from './said.ts';

/** The terminal interface of an agent, in the sandbox, with the network and the copy of the state of a turn. */
export const createTerminal = (
  agent: AcpAgent,
  program: TerminalProgram,
  deps: ProviderDeps,
): Terminal => ({
  missing: () => {
    if (isolationOf(deps) !== 'enforced') return notEnforced(deps);
    return whyUnavailable({ ...agent, ...program }, deps);
  },
  start: (spec, tell, ready) =>
    withPrivateState({ state: agent.state, spec, tell, deps }, (own) =>
      startAt({ agent, program, deps, tell, ready }, own),
    ),
});

// What the operator allows in the agent's own interface is limited by nothing but the sandbox.
const notEnforced = ({ sandbox, network }: ProviderDeps): string =>
  sandbox.kind === 'none'
    ? `The terminal interface of an agent needs an enforced sandbox, because you approve its actions there: ${sandbox.reason ?? 'there is none'} See sandbox in workspace.md.`
    : `The terminal interface of an agent needs an enforced sandbox, because you approve its actions there, and with network: ${network.kind} a program can bypass it. Set network: proxy in workspace.md.`;

interface Context {
  agent: AcpAgent;
  program: TerminalProgram;
  deps: ProviderDeps;
  tell: (event: RunEvent) => void;
  ready: Parameters<Terminal['start']>[2];
}

const startAt = async (
  { agent, program, deps, tell, ready }: Context,
  spec: TerminalSpec,
): Promise<Run> => {
  const transcript = await openTranscript(agent, spec);
  const onNetwork = reportOncePerTarget((data) => tell({ type: 'network', data }));
  const argv = argvFor(program, spec);
  const env = environmentIn(spec.phase, agent);
  const lent = lend(spec, { argv, env, onNetwork }, deps);
  const done = lent.ended.then(async (): Promise<RunResult> => {
    const said = await transcript.said().catch((error: unknown) => {
      tell({ type: 'agent_event', data: { kind: 'transcript_not_read', raw: messageOf(error) } });
      return [];
    });
    return { outcome: 'completed', said };
  });
  ready({ argv: lent.argv, env: lent.env, cwd: spec.cwd });
  const stop = async (): Promise<void> => {
    await lent.end();
    await done;
  };
  return plainRun(done, stop);
};

const argvFor = (
  { argv, plan = [] }: TerminalProgram,
  { phase, native_session_id }: TerminalSpec,
): string[] => [
  ...argv.map((word) => (word === PLACE ? native_session_id : word)),
  ...(phase === 'plan' ? plan : []),
];

const PLACE = '{session}';

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
