import { resolve } from 'node:path';
import { shellQuoted, trustCommandFor } from '../../store/base/text.ts';
import { octal, othersMode } from '../../store/check/machine.ts';
import { stateDirProblem } from '../../store/consent/state-dir.ts';
import type { FileProblem } from '../../store/front-matter/problem.ts';
import { entryProblem } from '../../store/front-matter/problems.ts';
import { pendingOnDisk } from '../../store/pending/offline.ts';
import { plain } from '../../store/settings/trust/waiting.ts';
import {
  howToRaise,
  type SystemLimit,
  watchesWanted,
  watchLimit,
} from '../../store/watch/watch-limits.ts';
import { holderOf } from '../../store/workspace/daemon-lock.ts';
import { FormatError, refuseNewer } from '../../store/workspace/format.ts';
import { inspectWorkspace, isThere } from '../../store/workspace/inspect.ts';
import { livenessAt } from '../../store/workspace/owner.ts';
import {
  linkObstacle,
  workspaceObstacle,
  writeObstacle,
} from '../../store/workspace/workspace-files.ts';
import { sharedSnapshots } from '../../store/worktrees/shared-snapshots.ts';
import { positionText } from '../daemon/system/diagnostics.ts';
import { checkSettings } from '../daemon/system/settings-advice.ts';
import { trackedPrivateFiles } from '../daemon/system/tracked-files.ts';
import { snapshotsText } from '../text/wording.ts';
import { filteredRemote, findRepository, whyUnfit } from '../tools/git/read/repository.ts';
import { homeOf } from '../tools/git/write/commit.ts';
import { Refusal } from './args/refusal.ts';
import { shellCommand } from './args/shell-command.ts';
import { findDaemon } from './connection/daemon.ts';
import { type DoctorContext, type DoctorFinding, missing, note, ok } from './doctor-finding.ts';
import { whyEmptied } from './preflight.ts';

/** Checks the workspace and the repositories of its projects. */
export const workspace = async function* (context: DoctorContext): AsyncGenerator<DoctorFinding> {
  const { root } = context.layout;
  if (!isThere(root)) {
    yield note('workspace', `${root} does not exist yet: create it with ${initFor(context)}`);
  } else {
    const why = workspaceObstacle(root) ?? whyEmptied(context.config);
    if (why !== undefined) return yield missing('workspace', `${root} ${why}`);
    const unwritten = await writeObstacle(root, context.layout.tmp);
    if (unwritten !== undefined) yield missing('workspace', `${root} ${unwritten}`);
    else yield ok('workspace', root);
    yield* fileSystem(context);
    yield* format(context);
    yield* state(context);
    yield await daemon(context);
    yield* settings(context);
    yield* trust(context);
    yield* records(context);
    for (const problem of await trackedPrivateFiles(context.git, context.layout))
      yield missing('git', saidOf(problem));
    yield await history(context);
    yield* shared(context);
  }
  yield* repositories(context);
};

const initFor = ({ config }: DoctorContext): string => shellCommand(config, 'init');

// FAT and exFAT have neither links nor modes.
const fileSystem = function* ({ layout, config }: DoctorContext): Generator<DoctorFinding> {
  const why = linkObstacle(layout);
  if (why !== undefined) yield missing('workspace', `${layout.root} ${why}`);
  const mode = othersMode(layout.dossier, 0o700);
  if (mode !== undefined)
    yield missing(
      'workspace',
      `other users can access ${layout.dossier}, whose mode is ${octal(mode)}: ${shellCommand(config, 'check')} says what helps`,
    );
};

const state = function* ({ layout }: DoctorContext): Generator<DoctorFinding> {
  if (layout.state === undefined) return;
  const why = stateDirProblem(layout.state, layout.root);
  yield why === undefined ? ok('state', layout.state) : missing('state', why);
};

const format = function* ({ layout }: DoctorContext): Generator<DoctorFinding> {
  try {
    refuseNewer(layout);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    yield missing('format', error.message);
  }
};

const daemon = async ({ config, layout }: DoctorContext): Promise<DoctorFinding> => {
  const holder = holderOf(layout);
  if (holder === undefined) return ok('daemon', 'none is running');
  // It may be suspended, or hang. One on another machine, or in a container, cannot be asked from here.
  const isHere = livenessAt(layout.root, holder) === 'alive';
  const answer = isHere && (await findDaemon(config).catch((error: unknown) => error));
  if (answer instanceof Refusal) return missing('daemon', answer.message);
  const where = holder.url === undefined ? '' : `, listening on ${holder.url}`;
  return ok('daemon', `process ${holder.pid} on ${holder.host}, since ${holder.since}${where}`);
};

const settings = async function* (context: DoctorContext): AsyncGenerator<DoctorFinding> {
  const { settings: entry } = context;
  const problems = entryProblem('workspace.md', entry);
  const advice = await checkSettings(context);
  if (entry === undefined)
    yield note(
      'settings',
      `no workspace.md, so the defaults apply: ${initFor(context)} creates one`,
    );
  else if (problems.length + advice.length === 0) yield ok('settings', 'workspace.md');
  for (const problem of problems) yield missing('settings', saidOf(problem));
  for (const problem of advice) yield note('settings', saidOf(problem));
};

const saidOf = ({ column: _column, ...problem }: FileProblem): string =>
  `${positionText(problem)}: ${problem.message}`;

const trust = function* ({ layout, config }: DoctorContext): Generator<DoctorFinding> {
  if (config.trust) return;
  const waiting = pendingOnDisk(layout).map(({ key }) => plain(key));
  if (waiting.length === 0) return;
  const what = waiting.slice(0, 8).join(', ') + (waiting.length > 8 ? ', …' : '');
  const said = `ignored until you confirm them: ${trustCommandFor(layout)}`;
  yield note('trust', `${what}: ${said}`);
};

const records = function* ({ layout, config }: DoctorContext): Generator<DoctorFinding> {
  const { items, problems } = inspectWorkspace(layout);
  yield ok('Work items', String(items));
  if (problems.length > 0)
    yield note(
      'records',
      `${problems.length} cannot be read, the first is ${positionText(problems[0] as FileProblem)}: ${shellCommand(config, 'check')} lists all`,
    );
  yield inotify(watchesWanted(items), watchLimit());
};

export const inotify = (wanted: number, limit: SystemLimit | undefined): DoctorFinding => {
  if (limit === undefined) return ok('inotify', 'this system has no limit');
  const { name, value } = limit;
  if (value >= wanted) return ok('inotify', `${name} is ${value}, and about ${wanted} are needed`);
  return note(
    'inotify',
    `${name} is ${value}, and about ${wanted} are needed: changes by hand are found up to 10 s later. ${howToRaise(limit, wanted)}`,
  );
};

const history = async (context: DoctorContext): Promise<DoctorFinding> => {
  const { git, layout } = context;
  if (git.program === undefined) return note('history', 'not kept without git');
  const home = await homeOf(git, layout.root);
  return home === undefined
    ? note(
        'history',
        `the workspace is not in a git repository: create one with ${initFor(context)}`,
      )
    : ok('history', `in the git repository ${home.repository.path}`);
};

const shared = function* ({ layout, config }: DoctorContext): Generator<DoctorFinding> {
  const snapshots = sharedSnapshots(layout).map(({ snapshot }) => snapshot);
  if (snapshots.length === 0) return;
  const command = shellCommand(config, 'worktrees clean --shared');
  yield ok('shared', `${snapshotsText(snapshots)} for later worktrees. Delete them: ${command}`);
};

const repositories = async function* (context: DoctorContext): AsyncGenerator<DoctorFinding> {
  const { git } = context;
  const named = projectsOf(context);
  if (Object.keys(named).length === 0)
    yield note(
      'repository',
      'workspace.md names none: sessions need projects there, or a daemon with --repo DIR',
    );
  if (git.program === undefined) return;
  for (const [project, path] of Object.entries(named))
    yield await repository(context, project, path);
};

/** The paths of the projects, by name, as written. */
export const projectsOf = ({ config, settings }: DoctorContext): Record<string, string> => ({
  ...settings?.value?.projects,
  ...(config.repo && { default: config.repo }),
});

const repository = async (
  { git, layout }: DoctorContext,
  project: string,
  named: string,
): Promise<DoctorFinding> => {
  const path = resolve(layout.root, named);
  const found = await findRepository(git, path).catch((error: Error) => error);
  if (found instanceof Error) return missing('repository', `${project}: ${found.message}`);
  const unfit = found && whyUnfit(found);
  if (unfit !== undefined)
    return missing('repository', `${project}: ${JSON.stringify(path)} ${unfit}`);
  if (found !== undefined) {
    const remote = await filteredRemote(git.at(found)).catch(() => undefined);
    if (remote === undefined) return ok('repository', `${project}: ${found.root}`);
    const at = `git -C ${shellQuoted(found.root)}`;
    return note(
      'repository',
      `${project}: ${found.root} is a partial clone of ${remote}, and Dossier does not fetch missing objects: without them, a worktree cannot be created, compared or removed. To fetch all: ${at} fetch --refetch --no-filter ${shellQuoted(remote)} && ${at} config --unset ${shellQuoted(`remote.${remote}.partialCloneFilter`)}`,
    );
  }
  return missing(
    'repository',
    isThere(path)
      ? `${project}: ${path} is not a git repository: run git init there`
      : `${project}: ${path} does not exist: if it moved, set its new path in .dossier/local.md under projects`,
  );
};
