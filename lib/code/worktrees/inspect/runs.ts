import { type FilePatch, filesOf, patched } from '../../../text/patch.ts';
import { type NamedInSettings, namedInSettings } from '../../../tools/git/read/config-programs.ts';
import type { GitAt, GitWorktree } from '../../../tools/git/run/git.ts';
import { type Contents, runsWhen } from '../../snapshots/runs-when.ts';

/** A file of a patch that has something run later, and when, as sentences without a subject. */
export interface RunsLater {
  path: string;
  runs: string[];
}

interface Against {
  /** In the repository; undefined where that is gone: then more is said than would be. */
  git: GitAt<GitWorktree> | undefined;
  base_commit: string | null;
}

/** The files of a patch against the base by which something runs later, outside of any sandbox. */
export const runsLater = async (patch: string, against: Against): Promise<RunsLater[]> => {
  const settings = await namedBy(against);
  const found: RunsLater[] = [];
  for (const file of filesOf(patch)) {
    const { path, kind } = file;
    const runs = runsWhen(file, await contentsOf(file, against));
    const more = kind === 'deleted' ? [] : bySettings(path, settings);
    if (runs.length + more.length > 0) found.push({ path, runs: [...new Set([...runs, ...more])] });
  }
  return found;
};

const NONE: NamedInSettings = { hooks: [], includes: [], programs: [] };

const namedBy = async ({ git }: Against): Promise<NamedInSettings> =>
  git === undefined ? NONE : namedInSettings(git).catch(() => NONE);

const bySettings = (path: string, { hooks, includes, programs }: NamedInSettings): string[] => [
  ...(hooks.some((dir) => path === dir || path.startsWith(`${dir}/`))
    ? ['runs when you commit, push or check out: a git hook']
    : []),
  ...(includes.includes(path) ? ['runs when your git includes it by `include.path`'] : []),
  ...programs
    .filter(({ value }) => value.split(/[\s"';|&=]+/).some((word) => named(word) === path))
    .map(({ key }) => `runs when your git uses \`${key}\``),
];

const named = (word: string): string => word.replace(/^!?(?:\.\/)*/, '');

// Of one kind of file alone it matters what stands in it besides what the patch shows.
const contentsOf = async (file: FilePatch, against: Against): Promise<Contents | undefined> => {
  if (!/(?:^|\/)package\.json$/i.test(file.path)) return undefined;
  const before = file.kind === 'new' ? '' : await baseText(file.from ?? file.path, against);
  return { before, after: before === undefined ? undefined : patched(before, file) };
};

const baseText = async (
  path: string,
  { git, base_commit }: Against,
): Promise<string | undefined> =>
  base_commit === null
    ? undefined
    : git
        ?.find(['cat-file', 'blob', `${base_commit}:${path}`], { ok: [0, 128] })
        .catch(() => undefined);
