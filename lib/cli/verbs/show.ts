import { type Dossier, Problem, type Session } from '../../client/client.ts';
import { findItem } from '../connection/item.ts';
import { failureLines, readBaseText, statusText } from './session-text.ts';
import { verb } from './verb.ts';

/** `dossier show ITEM`: shows a Work item with its sessions. */
export const show = verb(async ({ dossier, words: [word = ''], values, out }) => {
  const id = await findItem(dossier, word);
  const [item, sessions] = await Promise.all([
    dossier.call('GET /cases/{id}', { id }),
    dossier.call('GET /cases/{id}/sessions', { id }),
  ]);
  if (values.json === true) return void out.json({ ...item, sessions });
  const newest = sessions.findLast(({ mode }) => mode === 'work');
  for (const words of failureLines(newest?.commands)) out.say(words);
  out.say({ style: 'bold', text: item.title });
  out.say(`${item.state} · ${item.type} · ${item.project} · ${id}`);
  if (item.description.trim() !== '') out.say(`\n${item.description.trim()}\n`);
  if (sessions.length > 0) {
    const from = await readBaseText(dossier, id);
    if (from !== undefined) out.say(from);
  }
  out.table(
    sessions.map((each) => [each.id.slice(0, 8), each.mode, statusText(each), each.provider]),
  );
  const { commit, branch, base_commit } = newest ?? {};
  if (commit?.message != null && (await isStillSo(dossier, id, commit)))
    out.say({ style: 'yellow', text: commit.message });
  if (commit?.id != null) out.say(`git diff ${base_commit?.slice(0, 12)}...${branch}`);
  return undefined;
});

// The operator may have committed the files since. A worktree that cannot be read proves nothing.
const isStillSo = async (
  dossier: Dossier,
  case_id: string,
  commit: NonNullable<Session['commit']>,
): Promise<boolean> => {
  if (commit.id !== null) return true;
  try {
    const { files } = await dossier.call('GET /api/worktrees/{case_id}/status', { case_id });
    return files === undefined || files.length > 0;
  } catch (error) {
    if (error instanceof Problem) return true;
    throw error;
  }
};
