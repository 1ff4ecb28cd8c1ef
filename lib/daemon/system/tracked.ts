import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sharedRead } from '../../../store/base/async.ts';
import { shellQuoted } from '../../../store/base/text.ts';
import type { FileProblem } from '../../../store/front-matter/problem.ts';
import type { Layout } from '../../../store/layout.ts';
import { refreshTrust } from '../../../store/settings/globals.ts';
import { plain } from '../../../store/settings/trust/waiting.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithLog } from '../../log.ts';
import type { Git, WithGit } from '../../tools/git/run/git.ts';

/** Git keeps what belongs to this machine alone: a pull could bring it from somebody else. */
export class TrackedFilesError extends Error {
  override readonly name = 'TrackedFilesError';
}

/**
 * The files below `.dossier/` that git tracks in the workspace: each with the command that untracks it. None where the
 * workspace is in no repository, or git cannot tell.
 */
const trackedBelow = async (
  git: Git,
  { root }: Pick<Layout, 'root'>,
  folder: '.dossier' | 'cases' = '.dossier',
): Promise<FileProblem[]> => {
  if (git.program === undefined || !isInRepository(root)) return [];
  const args = ['ls-files', '-z', '--', folder];
  const { code, stdout } = await git.at(root).run(args, { read: true, ok: [0, 128] });
  if (code !== 0) return [];
  const files = stdout
    .toString('utf8')
    .split('\0')
    .filter((file) => PRIVATE.test(file));
  return files.map(plain).map((file) => ({
    ...{ file, code: 'tracked_private' },
    message: messageFor(root, file),
  }));
};

const PRIVATE = /^\.dossier\/|\/sessions\/lock\.md$/;

/** The same, and the locks of sessions, for who looks at all that is there. */
export const trackedPrivateFiles = async (
  git: Git,
  layout: Pick<Layout, 'root'>,
): Promise<FileProblem[]> => [
  ...(await trackedBelow(git, layout)),
  ...(await trackedBelow(git, layout, 'cases')),
];

const isInRepository = (path: string): boolean =>
  existsSync(join(path, '.git')) || (dirname(path) !== path && isInRepository(dirname(path)));

const messageFor = (root: string, file: string): string => {
  const below = file.startsWith('.dossier/') ? '.dossier' : file;
  const git = `git -C ${shellQuoted(root)}`;
  return `Git tracks it, and it belongs to this machine alone: a pull could replace it. Run ${git} rm -r --cached --quiet -- ${shellQuoted(below)} && ${git} commit --message 'Untrack it'. Leave --cached out where another machine committed it: then its files are deleted`;
};

// Why nothing that was decided on this machine counts while git tracks these; undefined where it tracks none.
const whyWithheld = (tracked: readonly FileProblem[]): string | undefined => {
  const [first] = tracked;
  if (first === undefined) return undefined;
  const more = tracked.length === 1 ? '' : ` and ${tracked.length - 1} more`;
  return `${first.file}${more}: ${first.message}`;
};

/** Looks again, for who calls it when something changed: while git tracks something below `.dossier/`, nothing counts. */
export const createTrackedLook = ({
  git,
  store,
  log,
}: WithGit & WithLog & WithStore): (() => void) => {
  const look = sharedRead(async () => {
    const tracked = await trackedBelow(git, store.layout);
    store.problems.set('tracked', tracked);
    store.consent.withhold(whyWithheld(tracked) !== undefined);
    refreshTrust(store);
  });
  return () =>
    void look().catch((error: unknown) =>
      log.error({ err: error }, 'The files that git tracks could not be listed'),
    );
};

/** Throws a TrackedFilesError where git tracks something below `.dossier/`: before anything there is read. */
export const refuseTracked = async (git: Git, layout: Pick<Layout, 'root'>): Promise<void> => {
  const why = whyWithheld(await trackedBelow(git, layout));
  if (why !== undefined) throw new TrackedFilesError(`${why}. Then start again.`);
};
