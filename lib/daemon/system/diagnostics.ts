import { isAbsolute, join, relative, resolve } from 'node:path';
import { messageOf } from '../../../store/base/attempt.ts';
import { isAtOrBelow } from '../../../store/base/paths.ts';
import { importProblems } from '../../../store/codehost/imports.ts';
import { stateDirProblem } from '../../../store/consent/state-dir.ts';
import { type FileProblem, fileProblem, Problem } from '../../../store/front-matter/problem.ts';
import { whyAway } from '../../../store/fs/directories.ts';
import type { Layout } from '../../../store/layout.ts';
import { checkSidecarsBelow } from '../../../store/problems/sidecar-problems.ts';
import type { Store } from '../../../store/store.ts';
import { workspaceObstacle, writeObstacle } from '../../../store/workspace/workspace-files.ts';
import { readSnapshots } from '../../../store/worktrees/snapshots.ts';
import { badField } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Service } from '../../service.ts';
import { reportSettingsProblems } from './settings-advice.ts';

/**
 * Lists why nothing can be written, and every invalid file of the workspace, with line and column if known. Does not read
 * free texts (memory, plans), nor look for files that belong to no Work item, as `dossier check` does. `below`: only of files
 * at or below this path of the workspace; those of one Work item cost no look at the others.
 */
export const listProblems = async (service: Service, below?: string): Promise<FileProblem[]> => {
  const { store } = service;
  const { root, cases } = store.layout;
  const place = below === undefined ? root : placeWithin(root, below);
  if (!isAtOrBelow(place, cases)) await reportSettingsProblems(service);
  await checkSidecarsBelow(store, place);
  const all = [
    ...store.problems.all(),
    ...readSnapshots(store).problems,
    ...importProblems(store.layout),
  ];
  if (place !== root) return all.filter(({ file }) => isAtOrBelow(join(root, file), place));
  return [...(await unwritableProblems(store)), ...all];
};

// A full or read-only disk shows in no file that is read.
const unwritableProblems = async (store: Store): Promise<FileProblem[]> => {
  const { root, state } = store.layout;
  const found = {
    '.': await whyNotWritten(store),
    ...(state !== undefined && {
      [relative(root, state)]: stateDirProblem(state, root) ?? store.consent.lost(),
    }),
  };
  return Object.entries(found).flatMap(([file, why]) =>
    why === undefined ? [] : [fileProblem(file, new Problem('unwritable', why))],
  );
};

const whyNotWritten = async ({ readOnly, layout }: Store): Promise<string | undefined> => {
  if (readOnly !== undefined) return readOnly;
  const away = whyAway(layout.root);
  if (away !== undefined) return away;
  const obstacle = await obstacleOf(layout).catch(
    (error: unknown) => `cannot be written: ${messageOf(error)}`,
  );
  return (
    obstacle &&
    `The workspace ${layout.root} ${obstacle}. Writes are refused until it can be written`
  );
};

const obstacleOf = async ({ root, tmp }: Layout): Promise<string | undefined> =>
  workspaceObstacle(root) ?? (await writeObstacle(tmp));

// An empty list for another place would read as if all were well.
const placeWithin = (root: string, path: string): string => {
  const place = resolve(root, path);
  if (!isAbsolute(path) && isAtOrBelow(place, root)) return place;
  throw badField('/path', 'must be relative to the workspace and lie within it, as in `file`');
};

/** Logs each problem of a file when it is found and when it is solved. */
export const logProblems = ({ problems }: Pick<Store, 'problems'>, log: Log): void =>
  problems.listen((news, problem) => {
    const { file, code } = problem;
    if (news === 'mended') log.info({ file, code }, `${file}: problem solved`);
    else log.warn({ ...problem }, `${positionText(problem)}: ${problem.message}`);
  });

/** `file:line:column`, as far as known. */
export const positionText = ({ file, line, column }: FileProblem): string =>
  [file, line, column].filter((part) => part !== undefined).join(':');
