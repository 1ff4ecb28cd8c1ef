import { shellQuoted } from '../../../store/base/text.ts';
import type { Case, Dossier, Session, Worktree } from '../../client/client.ts';
import { baseHasMoved, undiffedText } from '../../text/wording.ts';
import { findItem } from '../connection/find.ts';
import type { Words } from '../output/out.ts';
import { commandFor } from './inbox.ts';
import { failureLines, readBaseText, statusText, unlessRefused } from './session-text.ts';
import { verb } from './verb.ts';

/** `dossier show ITEM`: shows a Work item with its sessions. */
export const show = verb(async ({ dossier, typed, words: [word], values, out }) => {
  const id = await findItem({ dossier, typed }, word);
  const [item, sessions] = await Promise.all([
    dossier.call('GET /cases/{id}', { id }),
    dossier.call('GET /cases/{id}/sessions', { id }),
  ]);
  if (values.json === true) return void out.json({ ...item, sessions });
  const newest = sessions.findLast(({ mode }) => mode === 'work');
  for (const words of failureLines(newest?.commands)) out.say(words);
  out.say({ style: 'bold', text: item.title });
  out.say(`${item.state} · ${item.type} · ${item.project} · ${id}`);
  if (item.merged !== undefined) out.say(mergedText(item.merged));
  if (item.description.trim() !== '') out.say(`\n${item.description.trim()}\n`);
  const place = sessions.length === 0 ? undefined : await placeOf(dossier, id, newest);
  for (const line of place?.lines ?? []) out.say(line);
  out.table(
    sessions.map((each) => [each.id.slice(0, 8), each.mode, statusText(each), each.provider]),
  );
  for (const line of await resultLines(dossier, newest, place?.worktree)) out.say(line);
  const waiting = await unlessRefused(dossier.call('GET /attention'));
  const next = (waiting ?? []).filter((entry) => entry.case_id === id).map(commandFor);
  for (const command of new Set(next)) out.say(`Next: ${typed(command)}`);
});

const mergedText = ({ into, commit }: NonNullable<Case['merged']>): string =>
  `Merged into ${into} (its branch at ${commit.slice(0, 12)})`;

// With the worktree of committed work.
const placeOf = async (dossier: Dossier, id: string, newest: Session | undefined) => {
  if (newest?.commit?.id == null) return { lines: await baseLines(dossier, id) };
  const worktree = await unlessRefused(dossier.call('GET /api/cases/{id}/worktree', { id }));
  if (worktree === undefined) return { lines: ['It has no worktree on this machine.'] };
  return { worktree, lines: await baseLines(dossier, id) };
};

const resultLines = async (
  dossier: Dossier,
  newest: Session | undefined,
  worktree: Worktree | undefined,
): Promise<Words[]> => {
  if (newest?.commit == null) return [];
  const { case_id, commit, branch, base_commit } = newest;
  const isSaid = commit.message !== null && (await isStillSo(dossier, case_id, commit));
  const left: Words[] = isSaid ? [{ style: 'yellow', text: commit.message ?? '' }] : [];
  if (commit.id === null) return left;
  // A rebase moves the base. The branch may have been deleted with the worktree.
  const [begin, end] =
    worktree === undefined ? [base_commit, commit.id.slice(0, 12)] : [worktree.base_commit, branch];
  return [...left, `git diff ${shellQuoted(`${begin?.slice(0, 12)}...${end}`)}`];
};

const baseLines = async (dossier: Dossier, case_id: string): Promise<Words[]> => {
  const [from, health] = await Promise.all([
    readBaseText(dossier, case_id),
    unlessRefused(dossier.call('GET /api/worktrees/{case_id}/health', { case_id })),
  ]);
  if (from === undefined) return [];
  const moved = health?.new_in_base ?? 0;
  const notes = [moved === 0 ? '' : baseHasMoved(moved), undiffedText(health?.submodules)];
  const told = notes.filter(Boolean).map((text): Words => ({ style: 'yellow', text }));
  return [from, ...told];
};

// The operator may have committed the files since. A worktree that cannot be read proves nothing.
const isStillSo = async (
  dossier: Dossier,
  case_id: string,
  commit: NonNullable<Session['commit']>,
): Promise<boolean> => {
  if (commit.id !== null || commit.reverted != null || commit.other_commits != null) return true;
  const status = dossier.call('GET /api/worktrees/{case_id}/status', { case_id });
  const files = (await unlessRefused(status))?.files;
  return files === undefined || files.length > 0;
};
