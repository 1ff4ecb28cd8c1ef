import { isAbsolute, join, relative } from 'node:path';
import { inSlices } from '../../../../store/base/async.ts';
import { orElse } from '../../../../store/base/attempt.ts';
import type { DiffFile } from '../../../../store/records/diff-file.ts';
import { type FilePatch, filesOf, patched } from '../../../text/patch.ts';
import { listSettings } from '../../../tools/git/run/config.ts';
import type { GitAt, GitWorktree } from '../../../tools/git/run/git.ts';

/** A file of a patch that makes something run later, and when; each entry is a phrase such as "runs in CI …". */
export type RunsLater = Pick<DiffFile, 'path' | 'runs'>;

interface DiffBase {
  /** The repository; without it the result may list more than needed. */
  git: GitAt<GitWorktree> | undefined;
  base_commit: string | null;
}

/** The files of a patch that make something run later, outside any sandbox. */
export const runsLater = async (patch: string, against: DiffBase): Promise<RunsLater[]> => {
  const settings = await namedBy(against);
  const found: RunsLater[] = [];
  await inSlices(filesOf(patch), async (file) => {
    const { path, kind } = file;
    const runs = runTriggers(file, await contentsOf(file, against));
    const more = kind === 'deleted' ? [] : bySettings(path, settings);
    if (runs.length + more.length > 0) found.push({ path, runs: [...new Set([...runs, ...more])] });
  });
  return found;
};

/** Programs and paths that git's configuration, the operator's and the repository's, names in a worktree. */
interface NamedInSettings {
  /** The value of `core.hooksPath`, relative to the worktree. */
  hooks: string[];
  /** Included files, relative to the worktree. */
  includes: string[];
  /** Settings whose value is a program. */
  programs: { key: string; value: string }[];
}

const NONE: NamedInSettings = { hooks: [], includes: [], programs: [] };

const namedBy = async ({ git }: DiffBase): Promise<NamedInSettings> =>
  git === undefined ? NONE : namedInSettings(git).catch(() => NONE);

const namedInSettings = async (git: GitAt<GitWorktree>): Promise<NamedInSettings> => {
  const entries = await listSettings(git, 'utf8');
  const { path: root, common_dir } = git.place;
  const valuesOf = (key: RegExp): string[] =>
    entries.flatMap((entry) => (key.test(entry.key) && entry.value ? [entry.value] : []));
  const inside = (from: string, paths: readonly string[]): string[] =>
    paths
      .map((path) => relative(root, isAbsolute(path) ? path : join(from, path)))
      .filter((path) => path !== '' && !path.startsWith('..') && !isAbsolute(path));
  return {
    hooks: inside(root, valuesOf(/^core\.hookspath$/)),
    // Relative to the including file: usually the repository's own.
    includes: inside(common_dir, valuesOf(/^include(?:if\..*)?\.path$/s)),
    programs: entries.flatMap(({ key, value }) =>
      PROGRAM.test(key) && value ? [{ key, value }] : [],
    ),
  };
};

const PROGRAM =
  /^(?:filter\..*\.(?:clean|smudge|process)|diff\..*\.(?:command|textconv)|merge\..*\.driver|alias\..*|core\.(?:fsmonitor|sshcommand|editor|pager|askpass)|credential\..*helper|gpg\..*program)$/s;

const bySettings = (path: string, { hooks, includes, programs }: NamedInSettings): string[] => [
  ...(hooks.some((dir) => path === dir || path.startsWith(`${dir}/`)) ? [HOOK] : []),
  ...(includes.includes(path) ? [INCLUDED] : []),
  ...programs
    .filter(({ value }) => value.split(/[\s"';|&=]+/).some((word) => named(word) === path))
    .map(({ key }) => `runs when your git uses \`${key}\``),
];

const named = (word: string): string => word.replace(/^!?(?:\.\/)*/, '');

// Only package.json needs its whole content; for other files the patch is enough.
const contentsOf = async (file: FilePatch, against: DiffBase): Promise<Contents | undefined> => {
  if (!/(?:^|\/)package\.json$/i.test(file.path)) return undefined;
  const before = file.kind === 'new' ? '' : await baseText(file.from ?? file.path, against);
  return { before, after: before === undefined ? undefined : patched(before, file) };
};

const baseText = async (
  path: string,
  { git, base_commit }: DiffBase,
): Promise<string | undefined> =>
  base_commit === null
    ? undefined
    : git
        ?.find(['cat-file', 'blob', `${base_commit}:${path}`], { ok: [0, 128] })
        .catch(() => undefined);

/** The contents of a changed file, as far as they are known. */
interface Contents {
  before: string | undefined;
  after: string | undefined;
}

type Changed = Pick<FilePatch, 'path' | 'kind' | 'text'>;

/** When programs named in a changed file run, as phrases; empty for a deleted file and for files that name none. */
export const runTriggers = (file: Changed, contents?: Contents): string[] => {
  if (file.kind === 'deleted') return [];
  const named = TABLE.filter(({ name }) => name.test(file.path)).map(({ when }) => when);
  return [...new Set([...named, ...gitRuns(file), ...packageRuns(file, contents)])];
};

const BELOW = '(?:/.*)?';
const HOOK = 'runs when you commit, push or check out: a git hook';
const INCLUDED = 'runs when your git includes it by `include.path`';
const CI = 'runs in CI when you push';
const AGENT = 'runs when you start an agent here';
const CONTAINER = 'runs when you build or start the containers';

/** Patterns of file names, and when their content runs. */
const NAMES: readonly (readonly [name: string, when: string])[] = [
  ['\\.envrc', 'runs when you enter the directory with direnv'],
  ['\\.?mise(?:\\.[^/]+)?\\.toml|\\.tool-versions', 'runs when you enter the directory with mise'],
  ['\\.vscode(?:/(?:tasks|settings)\\.json)?', 'runs when you open the folder in VS Code'],
  ['[^/]+\\.code-workspace', 'runs when you open the folder in VS Code'],
  ['\\.vscode/launch\\.json', 'runs when you debug in VS Code'],
  [`\\.idea${BELOW}`, 'runs when you open the project in a JetBrains IDE'],
  [`\\.devcontainer(?:\\.json|${BELOW})`, 'runs when you open the folder in a dev container'],
  ['\\.exrc|\\.n?vimrc|\\.nvim\\.lua|\\.lvimrc', 'runs when you open Vim here'],
  ['\\.dir-locals(?:-2)?\\.el', 'runs when you open a file in Emacs'],
  ['\\.gdbinit|\\.lldbinit', 'runs when you start a debugger here'],
  [`\\.husky${BELOW}|\\.?githooks${BELOW}|\\.git-hooks${BELOW}`, HOOK],
  ['\\.?lefthook(?:-local)?\\.(?:ya?ml|toml|json)|\\.pre-commit-config\\.ya?ml', HOOK],
  ['\\.gitconfig|[^/]+\\.gitconfig', INCLUDED],
  ['(?:GNU)?makefile|[^/]+\\.mk', 'runs when you run `make`'],
  ['\\.?justfile', 'runs when you run `just`'],
  ['taskfile(?:\\.dist)?\\.ya?ml', 'runs when you run `task`'],
  ['CMakeLists\\.txt|[^/]+\\.cmake|CMakePresets\\.json', 'runs when you run `cmake`'],
  ['configure|configure\\.ac', 'runs when you run `./configure`'],
  [
    'BUILD(?:\\.bazel)?|WORKSPACE(?:\\.bazel)?|MODULE\\.bazel|\\.bazelrc',
    'runs when you run `bazel`',
  ],
  [`\\.npmrc|binding\\.gyp|\\.pnpmfile\\.cjs`, 'runs when you run `npm install`'],
  [`\\.yarnrc(?:\\.yml)?|\\.yarn${BELOW}`, 'runs when you run `yarn`'],
  [
    '[^/]+\\.config\\.[cm]?[jt]sx?|\\.[^/]+rc\\.[cm]?js|gulpfile\\.[^/]+|gruntfile\\.[^/]+',
    'runs when you build, test or lint',
  ],
  ['conftest\\.py', 'runs when you run `pytest`'],
  ['setup\\.py|setup\\.cfg|pyproject\\.toml', 'runs when you run `pip install`'],
  ['tox\\.ini|noxfile\\.py', 'runs when you run `tox` or `nox`'],
  ['sitecustomize\\.py|usercustomize\\.py|[^/]+\\.pth', 'runs when you start Python here'],
  [
    'build\\.rs|\\.cargo/config(?:\\.toml)?|rust-toolchain(?:\\.toml)?',
    'runs when you run `cargo build`',
  ],
  ['Rakefile|[^/]+\\.rake', 'runs when you run `rake`'],
  ['Gemfile|[^/]+\\.gemspec', 'runs when you run `bundle install`'],
  ['composer\\.json', 'runs when you run `composer install`'],
  ['[^/]+\\.gradle(?:\\.kts)?|gradlew(?:\\.bat)?|gradle/wrapper/.*', 'runs when you run Gradle'],
  [`pom\\.xml|mvnw(?:\\.cmd)?|\\.mvn${BELOW}`, 'runs when you run Maven'],
  ['flake\\.nix|shell\\.nix|default\\.nix', 'runs when you run `nix`'],
  ['Vagrantfile', 'runs when you run `vagrant up`'],
  ['[^/]*Dockerfile[^/]*|[^/]*Containerfile|(?:docker-)?compose[^/]*\\.ya?ml', CONTAINER],
  [`\\.(?:github|gitea|forgejo)(?:/(?:workflows|actions)${BELOW})?|action\\.ya?ml`, CI],
  [`\\.gitlab-ci\\.ya?ml|\\.gitlab${BELOW}|\\.circleci${BELOW}|\\.buildkite${BELOW}`, CI],
  [`Jenkinsfile[^/]*|\\.travis\\.yml|\\.drone\\.ya?ml|\\.woodpecker(?:\\.ya?ml|${BELOW})`, CI],
  ['(?:azure|bitbucket)-pipelines\\.ya?ml|\\.cirrus\\.ya?ml|\\.?appveyor\\.ya?ml', CI],
  ['\\.(?:claude|gemini|qwen|cursor|codex|opencode)(?:/.*\\.(?:json|toml|sh|js|ts|py))?', AGENT],
  ['\\.mcp\\.json|opencode\\.jsonc?', AGENT],
];

// In any directory and in any letter case, because some disks ignore case.
const TABLE = NAMES.map(([name, when]) => ({
  name: new RegExp(`(?:^|/)(?:${name})$`, 'i'),
  when,
}));

const added = ({ text }: Changed): string[] =>
  text.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++ '));

const gitRuns = (file: Changed): string[] => {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1).toLowerCase();
  if (/^(?:new file mode 160000|index .* 160000)$/m.test(file.text.split('\n@@ ', 1)[0] ?? ''))
    return ['brings in other commits when you run `git submodule update`'];
  if (name === '.gitmodules')
    return ['brings in other repositories when you run `git submodule update`'];
  const drivers = name === '.gitattributes' && added(file).some((line) => DRIVER.test(line));
  return drivers ? ['runs the filters, diff and merge drivers of your git settings'] : [];
};

const DRIVER = /\s(?:filter|diff|merge)=\S/;

const packageRuns = (file: Changed, contents: Contents | undefined): string[] => {
  if (!/(?:^|\/)package\.json$/i.test(file.path)) return [];
  const [before, after] = [scriptsIn(contents?.before), scriptsIn(contents?.after)];
  // Unreadable: assume that it has an install script.
  if (after === undefined) return [INSTALL];
  const changed = Object.keys(after).filter((name) => after[name] !== before?.[name]);
  const [install, others] = [changed.filter(isRunByInstall), changed.filter(isRunByName)];
  return [
    ...(install.length === 0 ? [] : [INSTALL]),
    ...others.slice(0, MOST).map((name) => `runs when you run \`npm run ${name}\``),
    ...(others.length > MOST ? [`and ${others.length - MOST} more scripts of npm`] : []),
  ];
};

const INSTALL = 'runs when you run `npm install`';
const MOST = 20;

const INSTALLS = /^(?:pre|post)?(?:install|prepare|prepublish|dependencies)$/;
const isRunByInstall = (name: string): boolean => INSTALLS.test(name);
const isRunByName = (name: string): boolean => !isRunByInstall(name);

const scriptsIn = (text: string | undefined): Record<string, unknown> | undefined => {
  if (text === undefined) return undefined;
  return orElse(() => {
    const { scripts = {} } = JSON.parse(text) as { scripts?: unknown };
    return typeof scripts === 'object' && scripts !== null ? { ...scripts } : {};
  }, undefined);
};
