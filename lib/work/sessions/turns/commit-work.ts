import { lstatSync } from 'node:fs';
import { basename } from 'node:path';
import { messageOf } from '../../../../base/message-of.ts';
import { shellQuoted } from '../../../../base/shell-quoted.ts';
import { readCase } from '../../../../store/cases.ts';
import type { LeftOut, WorkCommit } from '../../../../store/records/work-commit.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { readSinceApproval } from '../../../../store/sessions/session-texts.ts';
import { type StoredSession, whereIs } from '../../../../store/sessions/sessions.ts';
import { CONFLICT } from '../../../code/rebase/under-way.ts';
import { changedSinceStart } from '../../../code/snapshots/work-start.ts';
import { worktreeConfig } from '../../../code/worktrees/config.ts';
import type { GitNeeds } from '../../../code/worktrees/needs.ts';
import { type FileStatus, parseStatus, STATUS } from '../../../tools/git/read/status.ts';
import type { GitAt } from '../../../tools/git/run/git.ts';
import { onDisk } from '../../../tools/git/run/index-file.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';
import { inTheMiddle } from '../../../tools/git/write/commit.ts';
import { commitFiles } from '../../../tools/git/write/commit-files.ts';
import { asOneLine } from '../../cases/text.ts';

/**
 * Commits what completed work changed onto its worktree's branch, so that git sees it: diff, merge, rebase and blame. Only
 * in worktrees that the daemon made, and only what changed since the plan was approved. Undefined where nothing is to be
 * committed. Never rejects: what keeps it from committing is said, with the command that commits.
 */
export const commitWork = async (
  { store, git }: GitNeeds,
  kept: StoredSession,
  worktree: WorktreeRecord,
): Promise<WorkCommit | undefined> => {
  const { case_id, type } = kept.session;
  if (worktree.attached || type === CONFLICT || worktreeConfig(store).commit === 'never')
    return undefined;
  const title = (await readCase(store, case_id))?.title ?? case_id;
  const message = `${subjectOf(title)}\n\n${trailersOf(kept).join('\n')}`;
  const isSince = readSinceApproval(store, whereIs(store, kept)) !== undefined;
  try {
    return await git.turn(worktree, async (now) => {
      const wanted = await wantedOf(now, isSince);
      const { paths, left_out } = wanted;
      if (paths.length === 0 && left_out.length === 0) return undefined;
      const done = { files: paths.length, left_out: left_out.slice(0, MOST_NAMED) };
      if (paths.length === 0) return { id: null, ...done };
      const reason = inTheMiddle(worktree) ?? elsewhere(wanted.branch, worktree);
      if (reason !== undefined) return { id: null, ...done, reason };
      return await committed(now, { paths, message, done });
    });
  } catch (error) {
    return { id: null, files: 0, left_out: [], reason: messageOf(error) };
  }
};

const MOST_NAMED = 100;

interface ToCommit {
  paths: readonly string[];
  message: string;
  done: Pick<WorkCommit, 'files' | 'left_out'>;
}

const committed = async (
  now: GitAt<WorktreeRecord>,
  { paths, message, done }: ToCommit,
): Promise<WorkCommit> => {
  try {
    return { id: await commitFiles(now, { paths, message }), ...done };
  } catch (error) {
    const command = `git -C ${shellQuoted(now.place.path)} commit --all`;
    return { id: null, ...done, reason: messageOf(error), command };
  }
};

const elsewhere = (at: string | undefined, { branch }: WorktreeRecord): string | undefined =>
  at === branch ? undefined : `HEAD is at ${at ?? 'no branch'}, and not on ${branch}`;

interface WantedFiles {
  branch: string | undefined;
  paths: string[];
  left_out: LeftOut[];
}

const wantedOf = async (now: GitAt<WorktreeRecord>, isSince: boolean): Promise<WantedFiles> => {
  const { headers, files } = parseStatus(await now.read([...STATUS, '--no-renames']), 'latin1');
  const since = isSince && files.length > 0 ? await changedSinceStart(now) : undefined;
  const ours = files.filter(({ path }) => since?.has(path) ?? true);
  const left_out = ours.flatMap((file) => leftOut(now.place, file) ?? []);
  const paths = ours.filter((file) => leftOut(now.place, file) === undefined);
  return { branch: headers.get('branch.head'), paths: paths.map(({ path }) => path), left_out };
};

// Tracked files are in the repository already, with whatever they hold.
const leftOut = (worktree: WorktreeRecord, file: FileStatus): LeftOut | undefined => {
  if (file.code !== '??') return undefined;
  const path = pathText(file.path);
  if (file.repository) return { path, why: 'repository' };
  if (SECRET.test(basename(path))) return { path, why: 'secret' };
  const stats = lstatSync(onDisk(worktree, file.path), { throwIfNoEntry: false });
  return (stats?.size ?? 0) > LARGE ? { path, why: 'large' } : undefined;
};

const LARGE = 5_000_000;

// The names that tools give to files of secrets; an example of one is none.
const SECRET =
  /^(?:\.env(?:\.(?!example$|sample$|template$|dist$).*)?|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|credentials(?:\.json)?|secrets?\.(?:json|ya?ml|toml)|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx))$/i;

const MOST_CHARACTERS = 72;

const subjectOf = (title: string): string => {
  const characters = [...asOneLine(title)];
  return characters.length <= MOST_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…`;
};

const trailersOf = ({ session }: StoredSession): string[] => {
  const { id, case_id, provider, model, approved_sha256, plan_sha256 } = session;
  const agent = model === undefined ? provider : `${provider} (${asOneLine(model)})`;
  return [
    `Dossier-Case: ${case_id}`,
    `Dossier-Session: ${id}`,
    `Dossier-Approved: ${approved_sha256 ?? plan_sha256 ?? 'unknown'}`,
    `Dossier-Agent: ${asOneLine(agent)}`,
  ];
};
