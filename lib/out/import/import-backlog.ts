import { join, posix } from 'node:path';
import { sha256 } from '../../../base/sha256.ts';
import type { BacklogFile, BacklogProject } from '../../../store/archive/backlog-files.ts';
import { dataIn, type WorkspaceStanding } from '../../../store/archive/standing.ts';
import { parseCase } from '../../../store/item/read-case.ts';
import { caseFile, type Layout, layoutOf, memoryDir } from '../../../store/layout.ts';
import { caseDirName, monthOf } from '../../../store/names.ts';
import type { State } from '../../../store/records/case.ts';
import { bodyOfText } from '../../../store/text/front-matter.ts';
import { type FileProblem, fileProblem, Problem } from '../../../store/text/problem.ts';
import { readRegularFile } from '../../../store/text/record-file.ts';
import { renderFrontMatter } from '../../../store/text/splice.ts';
import { makeWorkspaceFiles } from '../../../store/workspace-files.ts';
import { type BacklogCase, caseOfTask, withIds } from './backlog-task.ts';
import {
  type BroughtIn,
  bringInFiles,
  type Cargo,
  type CargoFile,
  type ImportOptions,
} from './bring-in.ts';

interface TextFile extends CargoFile {
  text: string;
}

export interface BacklogImport extends BroughtIn {
  /** How many came in, by the states that they have. */
  states: Map<State, number>;
  /** Here already, as they would come in. */
  already: number;
  /** Here already and left alone: changed here since they came in, or changed in Backlog.md. By their task files. */
  editedHere: string[];
  changedThere: string[];
  /** Tasks that cannot be read. They keep no other from coming in. */
  problems: FileProblem[];
}

/** Makes a Work item of each task of a Backlog.md project that is none yet. Those that are one are never touched. */
export const importBacklog = async (
  project: BacklogProject,
  options: ImportOptions,
): Promise<BacklogImport> => {
  const found: Found = { already: 0, editedHere: [], changedThere: [], made: [], problems: [] };
  const load = (standing: WorkspaceStanding, layout: Layout): Cargo<TextFile> => {
    lookThrough(project, { standing, layout }, found);
    return {
      files: found.made.flatMap(({ files }) => files),
      bytesOf: ({ text }) => [Buffer.from(text)],
      ids: new Map(found.made.map(({ dir, id }) => [dir, id])),
    };
  };
  const { plan, isDone } = await bringInFiles(load, options);
  if (isDone) await makeWorkspaceFiles(layoutOf(options.workspace));
  const { made, problems, ...known } = found;
  return {
    plan,
    isDone,
    ...known,
    states: countStates(made),
    problems: [...project.problems, ...problems],
  };
};

interface Found
  extends Pick<BacklogImport, 'already' | 'editedHere' | 'changedThere' | 'problems'> {
  made: Made[];
}

interface Made {
  id: string;
  dir: string;
  state: State;
  files: TextFile[];
}

const lookThrough = (
  project: BacklogProject,
  { standing, layout }: { standing: WorkspaceStanding; layout: Layout },
  found: Found,
): void => {
  const tasks = withIds(project);
  for (const [id, task] of tasks) {
    const made = attempt(() => itemOf(caseOfTask(project, id, task, tasks)));
    const dir = standing.byId.get(id);
    const path = dir === undefined ? undefined : caseFile(join(layout.root, dir));
    if (path !== undefined) note(found, task, made, readRegularFile(layout.root, path));
    else if (made instanceof Problem) found.problems.push(fileProblem(task.file, made));
    else found.made.push(made);
  }
};

const countStates = (made: readonly Made[]): Map<State, number> => {
  const states = new Map<State, number>();
  for (const { state } of made) states.set(state, (states.get(state) ?? 0) + 1);
  return states;
};

const attempt = (make: () => Made): Made | Problem => {
  try {
    return make();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
};

const itemOf = ({ matter, backlog, description, mtime }: BacklogCase): Made => {
  const { id, title, state, created_at } = matter;
  const dir = posix.join('cases', monthOf(new Date(created_at)), caseDirName(title, id));
  const isLong = description.length > MAX_DESCRIPTION;
  const shown = isLong ? beginningOf(description) : description;
  const text = renderFrontMatter({ ...matter, backlog }, bodyOfText(shown, '\n'));
  // What could not be read back is not written at all.
  parseCase(text);
  const texts = { [caseFile(dir)]: text, ...(isLong && { [wholeFile(dir)]: description }) };
  const files = Object.entries(texts).map(([path, each]) => textFile(path, each, mtime));
  return { id, dir, state: state as State, files };
};

const MAX_DESCRIPTION = 262_144;
const ROOM = 256;
const WHOLE = 'backlog-task.md';

const wholeFile = (dir: string): string => posix.join(memoryDir(dir), WHOLE);

const beginningOf = (description: string): string => {
  const beginning = description.slice(0, MAX_DESCRIPTION - ROOM);
  const end = beginning.lastIndexOf('\n');
  return `${end < 0 ? beginning : beginning.slice(0, end)}\n\nThis is the beginning; the whole text is in memory/${WHOLE}.`;
};

const textFile = (path: string, text: string, mtime: Date): TextFile => ({
  path,
  text,
  mtime,
  mode: 0o644,
  size: Buffer.byteLength(text),
  sha256: sha256(text),
});

// A Work item is the operator's from the moment it came in: what happened to it here counts.
const note = (
  found: Found,
  task: BacklogFile,
  made: Made | Problem,
  now: Buffer | undefined,
): void => {
  if (now === undefined) return;
  const [first] = made instanceof Problem ? [] : made.files;
  const { source_sha256 } = (dataIn(now)?.backlog ?? {}) as { source_sha256?: unknown };
  if (first?.sha256 === sha256(now)) found.already += 1;
  else if (source_sha256 === task.sha256) found.editedHere.push(task.file);
  else found.changedThere.push(task.file);
};
