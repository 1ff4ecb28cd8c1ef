import { type Dossier, Problem, type Session, type SessionCommands } from '../../client/client.ts';
import { describeBase } from '../../text/wording.ts';
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

/** The status of a session, with what it waits for: `queued (max_sessions)`. */
export const statusText = ({ status, waits_for, waiting }: Session): string => {
  if (waits_for !== undefined) return `${status} (${waits_for})`;
  return waiting === undefined ? status : `${status} (waits for ${waiting.for})`;
};

/** Describes the base of a Work item's worktree; undefined if it is unknown, which the next call will explain. */
export const readBaseText = async (
  { call }: Dossier,
  case_id: string,
  base?: string,
): Promise<string | undefined> => {
  try {
    const query = base === undefined ? {} : { base };
    return describeBase(await call('GET /api/worktrees/{case_id}/base', { case_id, query }));
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
};
