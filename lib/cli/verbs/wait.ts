import { setTimeout as delay } from 'node:timers/promises';
import { type AttentionItem, NoConnection, type Session } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { findDaemon } from '../connection/daemon.ts';
import { findItem, findSession } from '../connection/find.ts';
import { EXIT } from '../exit-codes.ts';
import { warn } from '../output/terminal.ts';
import { commandFor } from './inbox.ts';
import { statusText } from './session-text.ts';
import { type Verb, verb } from './verb.ts';

const GOALS = ['plan', 'done'] as const;
const LOOK_MS = 500;
/** The time for a restart of the daemon, as after an upgrade. */
const RESTART_MS = 60_000;

/**
 * `dossier wait ITEM --for plan|done`: waits until the session needs the operator. Returns 0 for the goal, 1 if the session
 * failed, 4 if something else needs the operator, and 5 after the timeout.
 */
export const wait = verb(async (given) => {
  const { words, values } = given;
  const goal = GOALS.find((each) => each === (values.for ?? 'done'));
  if (goal === undefined) throw new UsageError(`--for takes plan or done, not ${values.for}`);
  const until = performance.now() + millisecondsIn(values.timeout);
  const id = await findItem(given, words[0]);
  return tell(given, await waitForSession(given, { id, goal, until }));
});

interface Wanted {
  id: string;
  goal: (typeof GOALS)[number];
  /** By the clock of `performance`. */
  until: number;
}

/**
 * Waits until a session reaches the goal, needs the operator, or the time is up. `code` is the exit code of `dossier wait`. Goes
 * on after a restart of the daemon; throws NoConnection if it does not come back.
 */
export const waitForSession = async (given: Verb, { id, goal, until }: Wanted): Promise<Found> => {
  for (let here = given; ; await delay(LOOK_MS)) {
    const seen = await look(here, id).catch(async (error: unknown) => {
      here = await afterRestart(here, error, until);
    });
    if (seen === undefined) continue;
    const code = codeFor(goal, seen.session, seen.waiting);
    if (code !== undefined) return { code, ...seen };
    if (performance.now() >= until) return { code: EXIT.timeout, ...seen };
  }
};

const look = async (given: Verb, id: string): Promise<Omit<Found, 'code'>> => {
  const session = await findSession(given, id, given.values.session);
  const waiting = (await given.dossier.call('GET /attention')).find(
    ({ case_id, session_id }) => case_id === id && session_id === session.id,
  );
  return { session, waiting };
};

// The daemon may have another address after its restart. What is wrong at the old one meanwhile passes with it.
const afterRestart = async (given: Verb, error: unknown, until: number): Promise<Verb> => {
  if (!(error instanceof NoConnection)) throw error;
  const now = performance.now();
  const last = Math.min(until, now + RESTART_MS);
  const left_s = Math.max(0, Math.ceil((last - now) / 1000));
  warn(
    `The connection to the daemon was lost. This command waits ${left_s} s for it to come back. If it was stopped, start it: ${given.typed('up')}`,
  );
  while (performance.now() < last) {
    await delay(LOOK_MS);
    const found = await findDaemon(given.config).catch(() => undefined);
    if (found !== undefined) return { ...given, ...found };
  }
  throw error;
};

/** The exit code for a session and its inbox entry, which was read after it; undefined to keep waiting. */
export const codeFor = (
  goal: (typeof GOALS)[number],
  { status }: Pick<Session, 'status'>,
  waiting: Pick<AttentionItem, 'kind'> | undefined,
): number | undefined => {
  if (status === 'completed') return EXIT.done;
  if (status === 'plan_ready') return goal === 'plan' ? EXIT.done : EXIT.needsYou;
  if (status === 'failed' || status === 'aborted') return EXIT.failed;
  if (status === 'paused') return EXIT.needsYou;
  if (waiting === undefined || NOTHING_TO_DO.has(waiting.kind)) return undefined;
  return EXIT.needsYou;
};

// `waiting` needs no answer. The others mean that the session ended its turn after its status was read: read again.
const NOTHING_TO_DO: ReadonlySet<AttentionItem['kind']> = new Set([
  'waiting',
  'plan',
  'done',
  'failed',
  'paused',
]);

interface Found {
  code: number;
  session: Session;
  waiting: AttentionItem | undefined;
}

const tell = ({ values, out, typed }: Verb, { code, session, waiting }: Found): number => {
  if (values.json === true) {
    out.json({ session, waiting: waiting ?? null });
    return code;
  }
  const { error } = session;
  const timeout = code === EXIT.timeout ? 'Timeout: session' : 'Session';
  // The inbox entry has the error.
  const why = waiting === undefined && error !== null ? `: ${error}` : '';
  out.say(`${timeout} ${session.id.slice(0, 8)} is ${statusText(session)}${why}`);
  if (waiting !== undefined) out.say(`${waiting.message}\n  ${typed(commandFor(waiting))}`);
  return code;
};

const UNITS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

const millisecondsIn = (text: string | undefined): number => {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const [, count, unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  if (count === undefined) throw new UsageError(`--timeout takes 30s, 10m or 2h, not ${text}`);
  return Number(count) * UNITS[unit as keyof typeof UNITS];
};
