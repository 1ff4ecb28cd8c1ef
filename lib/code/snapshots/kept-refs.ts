import { type Checkout, type GitAt, repositoryOf } from '../../tools/git/run/git.ts';

/** Where the work of removed worktrees is kept. */
export const RECOVERED = 'refs/dossier/recovered/';

/** Something that was kept before it was changed, under a ref of the repository. */
export interface KeptState {
  /** A snapshot, what was undone since one, what refs pointed to, or changes that were set aside. */
  kind: 'snapshot' | 'undone' | 'refs' | 'set_aside';
  /** The end of the ref's name. */
  name: string;
  /** Of `refs` there are several, below this. */
  ref: string;
  commit: string;
  /** The commit that it was made on; null where there was none. */
  head: string | null;
  /** When it was kept, or, of `refs`, when the commit was made. */
  made_at: Date;
}

/** What is kept under names that begin so. Whoever writes in the repository can make such a ref. */
export const listKeptStates = async (git: GitAt, begin: string): Promise<KeptState[]> => {
  const patterns = KEPT_ROOMS.flatMap((room) => [
    `refs/dossier/${room}/${begin}*`,
    `refs/dossier/${room}/${begin}*/**`,
  ]);
  const args = ['for-each-ref', '--sort=refname', FORMAT, ...patterns];
  const found = new Map<string, KeptState>();
  for (const line of await git.at(repositoryOf(git.place)).lines(args)) {
    const state = stateIn(line, begin);
    if (state !== undefined) found.set(state.ref, state);
  }
  return [...found.values()];
};

const FORMAT = '--format=%(refname) %(objectname) %(creatordate:unix) %(parent)';

const KINDS: Readonly<Record<string, KeptState['kind']>> = {
  snapshots: 'snapshot',
  undone: 'undone',
  'set-aside': 'set_aside',
};

/** Where refs are, below refs/dossier/. */
const KEPT_ROOMS = Object.keys(KINDS);

const stateIn = (line: string, begin: string): KeptState | undefined => {
  const [refname = '', commit = '', seconds = '', head = ''] = line.split(' ');
  const [ref, room = '', name = '', below] =
    /^refs\/dossier\/([^/]+)\/([^/]+)(\/.*)?$/.exec(refname) ?? [];
  const kind = below === undefined ? KINDS[room] : 'refs';
  if (ref === undefined || kind === undefined) return undefined;
  return {
    kind,
    name: name.slice(begin.length),
    ref: `refs/dossier/${room}/${name}`,
    commit,
    head: head === '' ? null : head,
    made_at: new Date(Number(seconds) * 1000),
  };
};

/** Lets go of a ref, or of all below it; git's own clean-up removes what nothing else holds some day. */
export const dropRefs = async ({ at, place }: GitAt, ref: string): Promise<void> => {
  const git = at(repositoryOf(place));
  const args = ['for-each-ref', '--format=delete %(refname)', ref, `${ref}/**`];
  const input = await git.read(args);
  await git.run(['update-ref', '--no-deref', '--stdin'], { input });
};

/** The refs under which a repository keeps something, whose ever it is. Whoever writes in it can make such a ref. */
export const keptRefs = async (git: GitAt): Promise<string[]> => {
  const rooms = [RECOVERED, ...KEPT_ROOMS.map((room) => `refs/dossier/${room}/`)];
  const args = ['for-each-ref', '--format=%(refname)', ...rooms];
  const lines = await git.at(repositoryOf(git.place)).lines(args);
  // Of refs that were put back there are several, below one.
  return lines.flatMap((line) => /^refs\/dossier\/[^/]+\/[0-9a-f]{8}-[^/]+/.exec(line)?.[0] ?? []);
};

/** How the names of refs begin that keep something of this checkout: whose it is. */
export const refOwner = ({ case_id }: Pick<Checkout, 'case_id'>): string =>
  case_id === undefined ? '' : `${case_id.slice(0, 8)}-`;
