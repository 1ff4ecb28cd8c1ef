import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../../store/base/errors.ts';
import { GRACE_MS } from '../../store/base/grace.ts';
import { fixCommand, shellQuoted } from '../../store/base/text.ts';
import { type Checked, checkWorkspace } from '../../store/check/check.ts';
import { errors, type Finding } from '../../store/check/finding.ts';
import { layoutOf } from '../../store/layout.ts';
import { WorkspaceHeldError } from '../../store/workspace/daemon-lock.ts';
import { holdWorkspace } from '../../store/workspace/hold.ts';
import { isThere } from '../../store/workspace/inspect.ts';
import { workspaceObstacle } from '../../store/workspace/workspace-files.ts';
import { type Config, UsageError } from '../config.ts';
import { positionText } from '../daemon/system/diagnostics.ts';
import { checkSettings } from '../daemon/system/settings-advice.ts';
import { trackedPrivateFiles } from '../daemon/system/tracked-files.ts';
import { counted } from '../text/wording.ts';
import { createGit } from '../tools/git/run/create-git.ts';
import type { Git } from '../tools/git/run/git.ts';
import { homeOf } from '../tools/git/write/commit.ts';
import { cleanEnvironment } from '../tools/process/environment.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import { type Say, sayJson, toStandardOutput } from './output/terminal.ts';
import { refuseEmptied } from './preflight.ts';

/**
 * Reads every record of the workspace and reports problems. Writes nothing and works beside a daemon; with `fix` it locks
 * the workspace and fixes what can be fixed without losing data. Returns 1 if there are errors.
 */
export const check = async (
  { config, values }: Call,
  say: Say = toStandardOutput,
): Promise<number> => {
  const { fix = false, json = false } = values;
  const layout = layoutOf(config.workspace, config.state);
  const why = isThere(layout.root)
    ? workspaceObstacle(layout.root, fix ? 'write' : 'read')
    : 'does not exist';
  if (why !== undefined)
    throw new UsageError(`${layout.root} ${why}; name the workspace with --workspace`);
  refuseEmptied(config);
  const git = await openCommitted(layout.root, config.env);
  const look = async (): Promise<Checked> => {
    const advice = await checkSettings({ layout, config, git: git.git });
    const tracked = await trackedPrivateFiles(git.git, layout);
    const checked = await checkWorkspace(layout, git.versions, advice);
    return { ...checked, findings: [...errors(tracked), ...checked.findings] };
  };
  const mended = fix
    ? await withWorkspaceLock(layout.root, async () => fixAll((await look()).findings))
    : [];
  const checked = await checkTwice(look);
  const committed = await git.known(checked.findings.map(({ file }) => file));
  const report = { ...checked, root: layout.root, mended, committed };
  if (json) sayJson(say, reportValue(report));
  else for (const line of reportLines(report)) say(line);
  return findingCounts(checked.findings).errors === 0 ? 0 : 1;
};

// Checks again after a moment, because an editor may be in the middle of a save.
const checkTwice = async (look: () => Promise<Checked>): Promise<Checked> => {
  const first = await look();
  if (findingCounts(first.findings).errors === 0) return first;
  await delay(GRACE_MS);
  return look();
};

/** Runs `work` under the lock of the workspace. Throws a Refusal that names a running daemon. */
const withWorkspaceLock = async <T>(root: string, work: () => Promise<T>): Promise<T> => {
  const held = await holdWorkspace(root).catch((error: unknown) => {
    if (error instanceof WorkspaceHeldError || error instanceof StoreError)
      throw new Refusal(`${error.message} Nothing was fixed.`);
    throw error;
  });
  try {
    return await work();
  } finally {
    await held.release();
  }
};

const fixAll = async (findings: readonly Finding[]): Promise<FixedProblem[]> => {
  const mended: FixedProblem[] = [];
  for (const { file, code, mend } of findings) {
    const done = await mend?.();
    if (done !== undefined) mended.push({ file, code, done });
  }
  return mended;
};

/** The workspace's files in git. Paths are relative to the workspace. */
interface Committed {
  git: Git;
  /** The file in the index and in the last commit; empty if it is in neither. */
  versions(file: string): Promise<Buffer[]>;
  /** Returns those of the files that git tracks, and whether each differs from the index. */
  known(files: readonly string[]): Promise<ReadonlyMap<string, boolean>>;
}

/** Opens the repository of a workspace, if there is one and git is installed. Takes no lock and writes nothing. */
const openCommitted = async (root: string, env: Config['env']): Promise<Committed> => {
  const git = createGit({ env: cleanEnvironment(env) });
  const home = git.program === undefined ? undefined : await homeOf(git, root);
  if (home === undefined) return { git, ...NOTHING };
  const { repository, prefix } = home;
  const blob = async (name: string): Promise<Buffer[]> => {
    const args = ['cat-file', 'blob', name];
    const { code, stdout } = await git.at(repository).run(args, { read: true, ok: [0, 128] });
    return code === 0 ? [stdout] : [];
  };
  return {
    git,
    versions: async (file) => [
      ...(await blob(`:0:${prefix}${file}`)),
      ...(await blob(`HEAD:${prefix}${file}`)),
    ],
    known: async (files) => {
      if (files.length === 0) return new Map();
      const paths = [...new Set(files.map((file) => prefix + file))];
      const list = async (...which: string[]): Promise<string[]> => {
        const args = ['ls-files', '-z', ...which, '--', ...paths];
        const { stdout } = await git.at(repository).run(args, { read: true, ok: [0, 128] });
        return stdout.toString('utf8').split('\0').filter(Boolean);
      };
      const [tracked, changed] = [await list(), await list('--modified')];
      return new Map(tracked.map((name) => [name.slice(prefix.length), changed.includes(name)]));
    },
  };
};

const NOTHING: Omit<Committed, 'git'> = {
  versions: async () => [],
  known: async () => new Map<string, boolean>(),
};

/** A fixed problem. */
interface FixedProblem {
  file: string;
  code: string;
  done: string;
}

interface Report extends Checked {
  mended: readonly FixedProblem[];
  /** The workspace. */
  root: string;
  /** The files that git tracks, and whether each differs from the index. */
  committed: ReadonlyMap<string, boolean>;
}

/** The report as text: a line for each finding, and a summary. */
const reportLines = (report: Report): string[] => [
  ...report.mended.map(({ file, code, done }) => `${file} fixed ${code} ${done}`),
  ...report.findings.map((finding) => lineOf(finding, report)),
  summaryOf(report),
];

const lineOf = (finding: Finding, report: Report): string => {
  const next = nextStep(finding, report);
  const said = `${positionText(finding)} ${finding.severity} ${finding.code} ${finding.message}`;
  return next === undefined ? said : `${said}. ${next}`;
};

/** The report as JSON: the problems as the API returns them, with `fixable` and `next`. */
const reportValue = (report: Report): object => {
  const { items, findings, mended } = report;
  const problems = findings.map(({ mend, ...finding }) => ({
    ...finding,
    fixable: mend !== undefined,
    next: nextStep(finding, report) ?? null,
  }));
  const { errors, warnings } = findingCounts(findings);
  return { work_items: items, errors, warnings, problems, mended };
};

const nextStep = (
  { file, code, message, mend }: Finding,
  { committed, root }: Report,
): string | undefined => {
  if (mend !== undefined)
    return message.includes(FIX) ? undefined : `${fixCommand({ root })} fixes it`;
  const isChanged = committed.get(file);
  if (isChanged === undefined) return undefined;
  const path = shellQuoted(file);
  if (code === 'conflict_markers')
    return `During a merge, run git -C ${shellQuoted(root)} mergetool -- ${path}`;
  if (!RESTORABLE.has(code)) return undefined;
  return isChanged
    ? `To restore the last version in git: git -C ${shellQuoted(root)} checkout -- ${path}`
    : `The last version in git is the same. To see earlier ones: git -C ${shellQuoted(root)} log -p -- ${path}`;
};

const FIX = 'dossier check --fix';

const RESTORABLE = new Set([
  'empty_file',
  'nul_byte',
  'not_utf8',
  'no_front_matter',
  'unclosed_front_matter',
  'bad_yaml',
  'not_a_mapping',
  'too_many_aliases',
  'not_a_record',
  'wrong_id',
  'missing_file',
  'not_a_file',
  'symbolic_link',
  'too_large',
]);

const summaryOf = ({ items, findings, mended, root }: Report): string => {
  const { errors, warnings, fixable } = findingCounts(findings);
  const parts = [
    ...(mended.length > 0 ? [`${mended.length} fixed`] : []),
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  const found = parts.length === 0 ? 'no problems' : parts.join(', ');
  const fix = fixable === 0 ? '' : `; ${fixCommand({ root })} fixes ${fixable} of them`;
  return `${counted(items, 'Work item')}: ${found}${fix}.`;
};

const findingCounts = (findings: readonly Finding[]) => ({
  errors: findings.filter(({ severity }) => severity === 'error').length,
  warnings: findings.filter(({ severity }) => severity === 'warning').length,
  fixable: findings.filter(({ mend }) => mend !== undefined).length,
});
