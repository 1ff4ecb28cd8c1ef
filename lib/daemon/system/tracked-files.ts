import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { coalesceReads } from '../../../store/base/async.ts';
import { shellQuoted } from '../../../store/base/text.ts';
import type { FileProblem } from '../../../store/front-matter/problem.ts';
import type { Layout } from '../../../store/layout.ts';
import { refreshTrust } from '../../../store/settings/globals.ts';
import { plain } from '../../../store/settings/trust/waiting.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithLog } from '../../log.ts';
import type { Git, WithGit } from '../../tools/git/run/git.ts';

/** Git tracks files that belong to this machine only, so a pull could replace them. */
class TrackedFilesError extends Error {
  override readonly name = 'TrackedFilesError';
}

/**
 * Lists the files of this machine in these folders that git tracks, each with the command that untracks it. Empty if the
 * workspace is in no repository or git fails.
 */
const listTrackedFiles = async (
  git: Git,
  { root }: Pick<Layout, 'root'>,
  ...folders: string[]
): Promise<FileProblem[]> => {
  if (git.program === undefined || !isInRepository(root)) return [];
  const args = ['ls-files', '-z', '--', ...folders];
  const { code, stdout } = await git.at(root).run(args, { read: true, ok: [0, 128] });
  if (code !== 0) return [];
  const files = stdout
    .toString('utf8')
    .split('\0')
    .filter((file) => PRIVATE.test(file));
  return files.map(plain).map((file) => ({
    file,
    code: 'tracked_private',
    message: messageFor(root, file),
  }));
};

// `.dossier` alone is a link, a file or a submodule.
const PRIVATE = /^\.dossier(?:\/|$)|\/sessions\/lock\.md$/;

/** Lists the tracked files below `.dossier/` and the tracked locks of sessions. */
export const trackedPrivateFiles = (
  git: Git,
  layout: Pick<Layout, 'root'>,
): Promise<FileProblem[]> => listTrackedFiles(git, layout, '.dossier', 'cases');

const isInRepository = (path: string): boolean =>
  existsSync(join(path, '.git')) || (dirname(path) !== path && isInRepository(dirname(path)));

const messageFor = (root: string, file: string): string => {
  const below = file.startsWith('.dossier/') ? '.dossier' : file;
  const git = `git -C ${shellQuoted(root)}`;
  const untrack = `${git} rm -r --cached --quiet -- ${shellQuoted(below)} && ${git} commit --message 'Untrack it'`;
  return file === '.dossier'
    ? `Git tracks .dossier itself as a link, a file or a submodule, but it must be a directory of this machine. Run ${untrack}, then move it away: the daemon creates the directory`
    : `Git tracks this file, which belongs to this machine only: a pull could replace it. Run ${untrack}. If another machine committed it, leave --cached out to delete its files here`;
};

/** Creates a check to run after changes: while git tracks files below `.dossier/`, decisions of this machine are ignored. */
export const createTrackedFilesCheck = ({
  git,
  store,
  log,
}: WithGit & WithLog & WithStore): (() => void) => {
  const look = coalesceReads(async () => {
    const tracked = await listTrackedFiles(git, store.layout, '.dossier');
    store.problems.set('tracked', tracked);
    store.consent.withhold(tracked.length > 0);
    refreshTrust(store);
  });
  return () =>
    void look().catch((error: unknown) =>
      log.error({ err: error }, 'listing tracked files failed'),
    );
};

/** Throws TrackedFilesError if git tracks files below `.dossier/`. Runs before any of them is read. */
export const refuseTrackedFiles = async (git: Git, layout: Pick<Layout, 'root'>): Promise<void> => {
  const [first, ...others] = await listTrackedFiles(git, layout, '.dossier');
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  throw new TrackedFilesError(`${first.file}${more}: ${first.message}. Then start again.`);
};
