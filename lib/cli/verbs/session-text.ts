import { type SessionCommands, type Session, type Dossier, Problem } from '../../client/client.ts';
import type { Words } from '../output/out.ts';
import { basedOn } from '../../text/based-on.ts';

/** The commands of a session that failed, in a sentence, and the end of what each wrote; nothing where none did. */
export const failuresIn = (commands: SessionCommands | undefined): readonly Words[] => {
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

/** How a session stands, with what it waits for: `queued (max_sessions)`. */
export const standing = ({ status, waits_for, waiting }: Session): string => {
  if (waits_for !== undefined) return `${status} (${waits_for})`;
  return waiting === undefined ? status : `${status} (waits for ${waiting.for})`;
};

/** What a Work item's worktree began from, or is about to; undefined where that cannot be told: the call that needs it says why. */
export const baseLine = async (
  { call }: Dossier,
  case_id: string,
  base?: string,
): Promise<string | undefined> => {
  try {
    const query = base === undefined ? {} : { base };
    return basedOn(await call('GET /api/worktrees/{case_id}/base', { case_id, query }));
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
};
