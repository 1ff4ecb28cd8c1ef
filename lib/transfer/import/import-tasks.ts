import { join, posix } from 'node:path';
import { dataIn, type WorkspaceStanding } from '../../../store/archive/occupancy.ts';
import { caseDirName, monthOf } from '../../../store/base/names.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { bodyOfText } from '../../../store/front-matter/front-matter.ts';
import { type FileProblem, fileProblem, Problem } from '../../../store/front-matter/problem.ts';
import { readRegularFile } from '../../../store/front-matter/record-file.ts';
import { renderFrontMatter } from '../../../store/front-matter/splice.ts';
import { decodeText } from '../../../store/front-matter/text.ts';
import { caseFile, type Layout, layoutOf, memoryDir } from '../../../store/layout.ts';
import { parseCase } from '../../../store/reconcile/read-case.ts';
import type { State } from '../../../store/records/case.ts';
import { makeWorkspaceFiles } from '../../../store/workspace/workspace-files.ts';
import {
  type BroughtIn,
  bringInFiles,
  type Cargo,
  type CargoFile,
  type ImportOptions,
} from './bring-in.ts';
import { caseOfTask, type TaskCase, withIds } from './task-case.ts';
import type { SourceTask, TaskSource } from './task-source.ts';
import { mapOf, wellFormed } from './task-values.ts';

interface TextFile extends CargoFile {
  text: string;
}

export interface TaskImport extends BroughtIn {
  /** How many came in, by the states that they have. */
  states: Map<State, number>;
  /** Here already, as they would come in. */
  already: number;
  /** Here already and left alone: changed here since they came in, or changed there. By where they stand. */
  editedHere: string[];
  changedThere: string[];
  /** Tasks that cannot be read. They keep no other from coming in. */
  problems: FileProblem[];
}

/** Makes a Work item of each task of another tool that is none yet. Those that are one are never touched. */
export const importTasks = async (
  source: TaskSource,
  options: ImportOptions,
): Promise<TaskImport> => {
  const found: Found = { already: 0, editedHere: [], changedThere: [], made: [], problems: [] };
  const load = (standing: WorkspaceStanding, layout: Layout): Cargo<TextFile> => {
    lookThrough(source, { standing, layout }, found);
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
    problems: [...source.problems, ...problems],
  };
};

interface Found extends Pick<TaskImport, 'already' | 'editedHere' | 'changedThere' | 'problems'> {
  made: Made[];
}

interface Made {
  id: string;
  dir: string;
  state: State;
  files: TextFile[];
}

const lookThrough = (
  source: TaskSource,
  { standing, layout }: { standing: WorkspaceStanding; layout: Layout },
  found: Found,
): void => {
  const { byId, byKey, problems } = withIds(source);
  found.problems.push(...problems);
  for (const [id, task] of byId) {
    const made = attempt(() => itemOf(source.key, caseOfTask(source, [id, task], byKey)));
    const dir = standing.byId.get(id);
    const path = dir === undefined ? undefined : caseFile(join(layout.root, dir));
    const now = path === undefined ? undefined : readRegularFile(layout.root, path);
    if (path !== undefined) note(found, { task, made, now, key: source.key });
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
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
};

const TOO_DEEP = new Problem('too_deep', 'This is nested too deep to be written as a record');

const itemOf = (key: string, task: TaskCase): Made => {
  const { id, title, state, created_at } = task.matter;
  const dir = posix.join('cases', monthOf(new Date(created_at)), caseDirName(title, id));
  const { text, ...beside } = recordOf(key, task);
  const texts = { [caseFile(dir)]: text, ...inMemory(dir, beside) };
  const files = Object.entries(texts).map(([path, each]) => textFile(path, each, task.mtime));
  return { id, dir, state: state as State, files };
};

// The record, and what is too long for it, by the names of the files that it stands in beside it.
const recordOf = (key: string, task: TaskCase): { text: string } & Record<string, string> => {
  try {
    return readableOf(key, task);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'too_large') throw error;
    const file = `${key}-task.json`;
    const raw = { whole: `memory/${file}` };
    return { ...readableOf(key, { ...task, raw }), [file]: `${JSON.stringify(task.raw)}\n` };
  }
};

const readableOf = (key: string, { matter, origin, raw, description }: TaskCase) => {
  const whole = `${key}-task.md`;
  const isLong = description.length > MAX_DESCRIPTION;
  const shown = isLong ? beginningOf(description, whole) : description;
  const text = renderFrontMatter(
    { ...matter, [key]: { ...origin, ...raw } },
    bodyOfText(shown, '\n'),
  );
  // What could not be read back is not written at all.
  parseCase(decodeText(Buffer.from(text)));
  return { text, ...(isLong && { [whole]: description }) };
};

const inMemory = (dir: string, files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [posix.join(memoryDir(dir), name), text]),
  );

const MAX_DESCRIPTION = 262_144;
const ROOM = 256;

const beginningOf = (description: string, whole: string): string => {
  const beginning = description.slice(0, MAX_DESCRIPTION - ROOM);
  const end = beginning.lastIndexOf('\n');
  return `${end < 0 ? wellFormed(beginning) : beginning.slice(0, end)}\n\nThis is the beginning; the whole text is in memory/${whole}.`;
};

const textFile = (path: string, text: string, mtime: Date): TextFile => ({
  path,
  text,
  mtime,
  mode: 0o644,
  size: Buffer.byteLength(text),
  sha256: sha256(text),
});

interface Noted {
  task: SourceTask;
  made: Made | Problem;
  now: Buffer | undefined;
  key: string;
}

// A Work item is the operator's from the moment it came in: what happened to it here counts.
const note = (found: Found, { task, made, now, key }: Noted): void => {
  if (now === undefined) return;
  const [first] = made instanceof Problem ? [] : made.files;
  const { source_sha256 } = mapOf(dataIn(now)?.[key]);
  if (first?.sha256 === sha256(now)) found.already += 1;
  else if (source_sha256 === task.sha256) found.editedHere.push(task.file);
  else found.changedThere.push(task.file);
};
