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
import { record } from '../../text/unknown-json.ts';
import {
  type ImportInput,
  type ImportInputFile,
  type ImportOptions,
  type ImportOutcome,
  importFiles,
} from './import-files.ts';
import { caseOfTask, type TaskCase, withIds } from './task-case.ts';
import { type SourceTask, type TaskSource, wellFormed } from './task-source.ts';

interface TextFile extends ImportInputFile {
  text: string;
}

export interface TaskImport extends ImportOutcome {
  /** The number of imported tasks by state. */
  states: Map<State, number>;
  /** The number of tasks that exist unchanged. */
  already: number;
  /** Files of existing tasks that were edited here since their import; they stay. */
  editedHere: string[];
  /** Files of existing tasks that changed in the other tool; they stay. */
  changedThere: string[];
  /** Unreadable tasks. They do not prevent the import of others. */
  problems: FileProblem[];
}

/** Creates a Work item for each new task of another tool. Existing Work items are never changed. */
export const importTasks = async (
  source: TaskSource,
  options: ImportOptions,
): Promise<TaskImport> => {
  const found: Found = { already: 0, editedHere: [], changedThere: [], made: [], problems: [] };
  const load = (standing: WorkspaceStanding, layout: Layout): ImportInput<TextFile> => {
    convertTasks(source, { standing, layout }, found);
    return {
      files: found.made.flatMap(({ files }) => files),
      bytesOf: ({ text }) => [Buffer.from(text)],
      ids: new Map(found.made.map(({ dir, id }) => [dir, id])),
    };
  };
  const { plan, isDone } = await importFiles(load, options);
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
  made: ConvertedTask[];
}

interface ConvertedTask {
  id: string;
  dir: string;
  state: State;
  files: TextFile[];
}

const convertTasks = (
  source: TaskSource,
  { standing, layout }: { standing: WorkspaceStanding; layout: Layout },
  found: Found,
): void => {
  const { byId, byKey, problems } = withIds(source);
  found.problems.push(...problems);
  for (const [id, task] of byId) {
    const made = tryConvert(() => itemOf(source.key, caseOfTask(source, [id, task], byKey)));
    const dir = standing.byId.get(id);
    const path = dir === undefined ? undefined : caseFile(join(layout.root, dir));
    const now = path === undefined ? undefined : readRegularFile(layout.root, path);
    if (path !== undefined) countExisting(found, { task, made, now, key: source.key });
    else if (made instanceof Problem) found.problems.push(fileProblem(task.file, made));
    else found.made.push(made);
  }
};

const countStates = (made: readonly ConvertedTask[]): Map<State, number> => {
  const states = new Map<State, number>();
  for (const { state } of made) states.set(state, (states.get(state) ?? 0) + 1);
  return states;
};

const tryConvert = (make: () => ConvertedTask): ConvertedTask | Problem => {
  try {
    return make();
  } catch (error) {
    if (error instanceof Problem) return error;
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
};

const TOO_DEEP = new Problem('too_deep', 'This is nested too deeply to be written as a record');

const itemOf = (key: string, task: TaskCase): ConvertedTask => {
  const { id, title, state, created_at } = task.matter;
  const dir = posix.join('cases', monthOf(new Date(created_at)), caseDirName(title, id));
  const { text, ...beside } = recordOf(key, task);
  const texts = { [caseFile(dir)]: text, ...inMemoryDir(dir, beside) };
  const files = Object.entries(texts).map(([path, each]) => textFile(path, each, task.mtime));
  return { id, dir, state: state as State, files };
};

// The text of the record and, if it is too large for a record, the whole task in files of the memory directory, by name.
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
  // A Markdown file there is memory, which agents are given and which has a limit.
  const whole = `${key}-task.${Buffer.byteLength(description) > MAX_MEMORY ? 'txt' : 'md'}`;
  const isLong = description.length > MAX_DESCRIPTION;
  const shown = isLong ? beginningOf(description, whole) : description;
  const text = renderFrontMatter(
    { ...matter, [key]: { ...origin, ...raw } },
    bodyOfText(shown, '\n'),
  );
  // Parsed before it is written, so that no unreadable record is created.
  parseCase(decodeText(Buffer.from(text)));
  return { text, ...(isLong && { [whole]: description }) };
};

const inMemoryDir = (dir: string, files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [posix.join(memoryDir(dir), name), text]),
  );

const MAX_DESCRIPTION = 262_144;
const MAX_MEMORY = 1_048_576;
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
  made: ConvertedTask | Problem;
  now: Buffer | undefined;
  key: string;
}

// An imported Work item belongs to the operator: local edits take precedence.
const countExisting = (found: Found, { task, made, now, key }: Noted): void => {
  if (now === undefined) return;
  const [first] = made instanceof Problem ? [] : made.files;
  const { source_sha256 } = record(dataIn(now)?.[key]);
  if (first?.sha256 === sha256(now)) found.already += 1;
  else if (source_sha256 === task.sha256) found.editedHere.push(task.file);
  else found.changedThere.push(task.file);
};
