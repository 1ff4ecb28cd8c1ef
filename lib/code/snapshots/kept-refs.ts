import { type Checkout, type GitAt, repositoryOf } from '../../tools/git/run/git.ts';

/** Where the work of removed worktrees is kept. */
export const RECOVERED = 'refs/dossier/recovered/';

/** A state of a worktree or of refs, kept under a ref of the repository before a change. */
export interface KeptState {
  /** A snapshot, changes undone since one, former targets of refs, or changes set aside. */
  kind: 'snapshot' | 'undone' | 'refs' | 'set_aside';
  /** The last part of the ref's name, without the owner. */
  name: string;
  /** For the kind `refs`, the common prefix of several refs. */
  ref: string;
  commit: string;
  /** The HEAD commit at that time; null without commits. */
  head: string | null;
  /** The time of the snapshot; for the kind `refs`, the date of the commit. */
  made_at: Date;
}

/** Lists the kept states whose names have this prefix. Untrusted: programs that can write the repository can add refs. */
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

/** The namespaces below `refs/dossier/`. */
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

/** Deletes a ref and all refs below it; `git gc` removes the objects later. */
export const dropRefs = async ({ at, place }: GitAt, ref: string): Promise<void> => {
  const git = at(repositoryOf(place));
  const args = ['for-each-ref', '--format=delete %(refname)', ref, `${ref}/**`];
  const input = await git.read(args);
  await git.run(['update-ref', '--no-deref', '--stdin'], { input });
};

/** All refs that keep states or recoveries, of all Work items. Untrusted, like `listKeptStates`. */
export const keptRefs = async (git: GitAt): Promise<string[]> => {
  const rooms = [RECOVERED, ...KEPT_ROOMS.map((room) => `refs/dossier/${room}/`)];
  const args = ['for-each-ref', '--format=%(refname)', ...rooms];
  const lines = await git.at(repositoryOf(git.place)).lines(args);
  // For the kind `refs`, several refs share one prefix.
  return lines.flatMap((line) => /^refs\/dossier\/[^/]+\/[0-9a-f]{8}-[^/]+/.exec(line)?.[0] ?? []);
};

/** The prefix of ref names that identifies the Work item. */
export const refOwner = ({ case_id }: Pick<Checkout, 'case_id'>): string =>
  case_id === undefined ? '' : `${case_id.slice(0, 8)}-`;
