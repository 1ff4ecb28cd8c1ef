import { resolve } from 'node:path';
import type { FileProblem } from '../../store/front-matter/problem.ts';
import { entryProblem } from '../../store/front-matter/problems.ts';
import { waitingOnDisk } from '../../store/pending/pending-on-disk.ts';
import { plain, trustCommandFor } from '../../store/settings/trust/waiting.ts';
import { howToRaise, type SystemLimit, watchLimit } from '../../store/watch/watch-limits.ts';
import { holderOf } from '../../store/workspace/daemon-lock.ts';
import { FormatError, refuseNewer } from '../../store/workspace/format.ts';
import { inspectWorkspace, isThere } from '../../store/workspace/inspect.ts';
import { whyNotWritten, whyNoWorkspace } from '../../store/workspace/workspace-files.ts';
import { positionText } from '../daemon/system/problem-log.ts';
import { adviseOn } from '../daemon/system/settings-advice.ts';
import { trackedPrivateFiles } from '../daemon/system/tracked.ts';
import { findRepository } from '../tools/git/read/repository.ts';
import { homeOf } from '../tools/git/write/commit.ts';
import { type DoctorFinding, missing, note, ok, type Patient } from './finding.ts';

/** The workspace, and the repositories that its Work items are worked on in. */
export const workspace = async function* (patient: Patient): AsyncGenerator<DoctorFinding> {
  const { root } = patient.layout;
  if (!isThere(root)) {
    yield note('workspace', `${root} is not there yet: dossier init makes it`);
  } else {
    const why = whyNoWorkspace(root);
    if (why !== undefined) return yield missing('workspace', `${root} ${why}`);
    const unwritten = whyNotWritten(patient.layout);
    if (unwritten !== undefined) yield missing('workspace', `${root} ${unwritten}`);
    else yield ok('workspace', root);
    yield* format(patient);
    yield daemon(patient);
    yield* settings(patient);
    yield* trust(patient);
    yield* records(patient);
    for (const problem of await trackedPrivateFiles(patient.git, patient.layout))
      yield missing('git', saidOf(problem));
    yield await history(patient);
  }
  yield* repositories(patient);
};

const format = function* ({ layout }: Patient): Generator<DoctorFinding> {
  try {
    refuseNewer(layout);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    yield missing('format', error.message);
  }
};

const daemon = ({ layout }: Patient): DoctorFinding => {
  const holder = holderOf(layout);
  if (holder === undefined) return ok('daemon', 'none runs on this workspace');
  const where = holder.url === undefined ? '' : `, listening on ${holder.url}`;
  return ok('daemon', `process ${holder.pid} on ${holder.host}, since ${holder.since}${where}`);
};

const settings = async function* (patient: Patient): AsyncGenerator<DoctorFinding> {
  const { settings: entry } = patient;
  const problems = entryProblem('workspace.md', entry);
  const advice = await adviseOn(patient);
  if (entry === undefined)
    yield note('settings', 'no workspace.md: dossier init makes one, the defaults hold');
  else if (problems.length + advice.length === 0) yield ok('settings', 'workspace.md');
  for (const problem of problems) yield missing('settings', saidOf(problem));
  for (const problem of advice) yield note('settings', saidOf(problem));
};

const saidOf = ({ column: _column, ...problem }: FileProblem): string =>
  `${positionText(problem)}: ${problem.message}`;

const trust = function* ({ layout, config }: Patient): Generator<DoctorFinding> {
  if (config.trust) return;
  const waiting = waitingOnDisk(layout).map(({ key }) => plain(key));
  if (waiting.length === 0) return;
  const what = waiting.slice(0, 8).join(', ') + (waiting.length > 8 ? ', …' : '');
  const said = `nothing of it holds before you say so: ${trustCommandFor(layout)}`;
  yield note('trust', `${what}: ${said}`);
};

const records = function* ({ layout }: Patient): Generator<DoctorFinding> {
  const { items, problems, watches } = inspectWorkspace(layout);
  yield ok('Work items', String(items));
  if (problems.length > 0)
    yield note(
      'records',
      `${problems.length} cannot be read, the first is ${positionText(problems[0] as FileProblem)}: dossier check names all`,
    );
  yield inotify(watches, watchLimit());
};

export const inotify = (wanted: number, limit: SystemLimit | undefined): DoctorFinding => {
  if (limit === undefined) return ok('inotify', 'this system has no limit');
  const { name, value } = limit;
  if (value >= wanted) return ok('inotify', `${name} is ${value}, and about ${wanted} are wanted`);
  return note(
    'inotify',
    `${name} is ${value}, and about ${wanted} are wanted: without them changes made by hand are seen after 10 s. ${howToRaise(limit, wanted)}`,
  );
};

const history = async ({ git, layout }: Patient): Promise<DoctorFinding> => {
  if (git.program === undefined) return note('history', 'not kept without git');
  const home = await homeOf(git, layout.root);
  return home === undefined
    ? note('history', 'the workspace is in no git repository: dossier init makes it one')
    : ok('history', `in the git repository ${home.repository.path}`);
};

const repositories = async function* (patient: Patient): AsyncGenerator<DoctorFinding> {
  const { git } = patient;
  const named = projectsOf(patient);
  if (Object.keys(named).length === 0)
    yield note(
      'repository',
      'none is named: sessions need --repo DIR, or projects in workspace.md',
    );
  if (git.program === undefined) return;
  for (const [project, path] of Object.entries(named))
    yield await repository(patient, project, path);
};

/** The repositories of the projects, by name, as they are written. */
export const projectsOf = ({ config, settings }: Patient): Record<string, string> => ({
  ...settings?.value?.projects,
  ...(config.repo && { default: config.repo }),
});

const repository = async (
  { git, layout }: Patient,
  project: string,
  named: string,
): Promise<DoctorFinding> => {
  const path = resolve(layout.root, named);
  const found = await findRepository(git, path).catch((error: Error) => error);
  if (found instanceof Error) return missing('repository', `${project}: ${found.message}`);
  return found === undefined
    ? missing('repository', `${project}: ${path} is not a git repository: run git init there`)
    : ok('repository', `${project}: ${found.root}`);
};
