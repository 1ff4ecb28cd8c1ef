import { type Dossier, Problem, type Session, type SessionCommands } from '../../client/client.ts';
import { attachedText, describeBase } from '../../text/wording.ts';
import type { Words } from '../output/out.ts';

/** Lines about the failed commands of a session, with the end of their output; empty if none failed. */
export const failureLines = (commands: SessionCommands | undefined): readonly Words[] => {
  const { message = null, failed = [] } = commands ?? {};
  if (message === null) return [];
  const written = failed.filter(({ output }) => output !== '');
  return [
    { style: ['red', 'bold'], text: message },
    ...written.map(
      ({ command, output }): Words => ({
        style: 'dim',
        text: `  $ ${command}\n${indented(output)}`,
      }),
    ),
  ];
};

const indented = (text: string): string => text.replaceAll(/^/gm, '  ');

/** Whether a session in this status has ended. The records' own function would load their schemas. */
export const hasEnded = (status: Session['status']): boolean =>
  status === 'completed' || status === 'failed' || status === 'aborted';

/** What to do about a session, as a sentence without its full stop. */
export const nextText = (
  { typed }: { typed: (args: string) => string },
  session: Continued,
): string => {
  const words = nextWords(session);
  return `${SENTENCES[words.split(' ')[0] ?? ''] ?? 'See'} ${typed(words)}`;
};

const SENTENCES: Readonly<Record<string, string>> = {
  tail: 'Follow it with',
  approve: 'To read and approve its plan:',
  resume: 'To continue:',
  edit: 'To write its plan:',
  finish: 'Once the work is done:',
};

type Continued = Pick<Session, 'case_id' | 'status' | 'elsewhere' | 'provider'>;

/** The arguments of `dossier` that continue a session. Another machine continues its own; this one only shows it. */
export const nextWords = ({ case_id, status, elsewhere, provider }: Continued): string => {
  const id8 = case_id.slice(0, 8);
  if (elsewhere === true) return `show ${id8}`;
  // Nothing happens in it until the operator does it.
  if (provider === 'manual' && status === 'planning') return `edit ${id8} plan.md`;
  if (provider === 'manual' && status === 'working') return `finish ${id8}`;
  return `${nextVerb(status)} ${id8}`;
};

const nextVerb = (status: Session['status']): string => {
  if (status === 'plan_ready') return 'approve';
  if (status === 'paused') return 'resume';
  if (status === 'completed') return 'diff';
  return hasEnded(status) ? 'show' : 'tail';
};

/** The status of a session, with what it waits for or where it runs: `queued (max_sessions)`. */
export const statusText = ({
  status,
  waits_for,
  waiting,
  attached,
  elsewhere,
}: Session): string => {
  const last = attached?.at(-1);
  if (elsewhere === true) return `${status} (on another machine)`;
  if (waits_for !== undefined) return `${status} (${waits_for})`;
  if (waiting !== undefined) return `${status} (waits for ${waiting.for})`;
  return last === undefined ? status : `${status} (${attachedText(last)})`;
};

/** What the daemon answers; undefined where it refuses. */
export const unlessRefused = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof Problem) return undefined;
    throw error;
  });

/** Describes the base of a Work item's worktree; undefined if it is unknown, which the next call will explain. */
export const readBaseText = async (
  { call }: Dossier,
  case_id: string,
  base?: string,
): Promise<string | undefined> => {
  const query = base === undefined ? {} : { base };
  const read = call('GET /api/worktrees/{case_id}/base', { case_id, query });
  const found = await unlessRefused(read);
  return found && describeBase(found);
};
