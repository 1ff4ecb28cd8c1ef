import { spawnSync } from 'node:child_process';
import type { Binary, Session, SessionMessage } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { attachedText, counted } from '../../text/wording.ts';
import { runAttached } from '../../tools/process/terminal.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem, findSession } from '../connection/find.ts';
import { EXIT } from '../exit-codes.ts';
import { dropPendingInput } from '../output/keys.ts';
import { isTerminal } from '../output/terminal.ts';
import { hasEnded } from './session-text.ts';
import { type Verb, verb, withRefusals } from './verb.ts';

/**
 * `dossier attach ITEM [SESSION]`: the agent's own terminal interface, here, on the conversation of a session that waits. The
 * daemon says what to start and when it has to end; this process only lends the terminal.
 */
export const attach = verb(async (given) => {
  const { dossier, words, values, out } = given;
  const [word = '', named] = words;
  if (named !== undefined && values.session !== undefined)
    throw new UsageError('attach takes the session once: dossier attach ITEM SESSION');
  if (!isTerminal())
    throw new Refusal(
      'attach shows the interface of the agent, so it needs a terminal for input and output. Use dossier say to send a message from a script',
    );
  const id = await findItem(given, word);
  const session = await findSession(given, id, named ?? values.session);
  const at = { id, sid: session.id };
  const stream = await withRefusals(
    dossier.call('POST /cases/{id}/sessions/{sid}/attach', at),
    refusals(given, session),
  );
  const code = await lendTerminal(given, stream);
  const after = await dossier.call('DELETE /cases/{id}/sessions/{sid}/attach', at);
  const said = await dossier.call('GET /cases/{id}/sessions/{sid}/messages', at);
  for (const line of report(given, code, after, said)) out.say(line);
  return code === 0 ? undefined : EXIT.failed;
});

const refusals = ({ typed }: Verb, { case_id, id, status }: Session) => {
  const [item, sid] = [case_id.slice(0, 8), id.slice(0, 8)];
  return {
    session_active: `Session ${sid} is ${status}, so its agent is running. Pause it first: ${typed(`pause ${item}`)}`,
    terminal_attached: `Another terminal is attached to session ${sid}. End the interface of the agent there, or abort the session: ${typed(`abort ${item}`)}`,
    ...(hasEnded(status) && {
      invalid_state: `Session ${sid} has ended (${status}). Start another one in the same worktree, which plans first: ${typed(`say ${item} TEXT`)}`,
    }),
  };
};

/** Runs the program of the stream's first line here. Returns its exit code; null if it was ended. */
const lendTerminal = async (given: Verb, { body }: Binary): Promise<number | null> => {
  const lines = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  const { argv, env, cwd } = JSON.parse(await firstLine(lines));
  const saved = stty(['-g']);
  // The stream ends with the daemon's run, also if the daemon is killed.
  const over = lines.next().then(
    () => undefined,
    () => undefined,
  );
  try {
    return await runAttached(
      argv,
      { cwd, env: { ...env, ...ownTerminal(given.config.env) } },
      over,
    );
  } finally {
    process.stdout.write(RESET);
    if (saved !== undefined) stty([saved]);
    // Answers of the terminal to the agent's questions must not be typed into the shell.
    await dropPendingInput();
  }
};

const firstLine = async (lines: AsyncIterator<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder();
  for (let text = ''; ; ) {
    const { value, done } = await lines.next();
    if (done === true) throw new Refusal('The daemon ended the terminal before it started');
    text += decoder.decode(value, { stream: true });
    if (text.includes('\n')) return text;
  }
};

const OF_TERMINAL = ['TERM', 'COLORTERM', 'TERM_PROGRAM', 'COLUMNS', 'LINES'];

const ownTerminal = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(OF_TERMINAL.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));

// A program that was killed leaves the alternate screen, the mouse, pastes and keys as it set them.
const RESET =
  '\u001b[?1049l\u001b[?25h\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[<u\u001b[0m';

const stty = (args: readonly string[]): string | undefined => {
  const { status, stdout } = spawnSync('stty', args, { stdio: ['inherit', 'pipe', 'ignore'] });
  return status === 0 ? stdout.toString().trim() : undefined;
};

const report = (
  { typed }: Verb,
  code: number | null,
  { id, case_id, status, attached }: Session,
  messages: readonly SessionMessage[],
): string[] => {
  const last = attached?.at(-1);
  if (last === undefined) return [];
  const said = messages.filter(({ from, at }) => from === 'attach' && at >= last.started_at);
  const told = `Session ${id.slice(0, 8)} was ${attachedText(last)}. ${counted(said.length, 'message')} recorded`;
  // An abort ends the interface before the session.
  if (code === null) return [told, 'The daemon ended the interface of the agent'];
  const next = NEXT[status];
  return next === undefined
    ? [told]
    : [told, `It is ${status}: ${typed(`${next} ${case_id.slice(0, 8)}`)}`];
};

const NEXT: Partial<Record<Session['status'], string>> = { paused: 'resume', plan_ready: 'plan' };
