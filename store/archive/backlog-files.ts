import { readdirSync, readFileSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../base/attempt.ts';
import { modifiedAt } from '../base/modified-at.ts';
import { sha256 } from '../base/sha256.ts';
import { parseFrontMatter, splitFrontMatter, textOfBody } from '../front-matter/front-matter.ts';
import { type FileProblem, fileProblem, Problem } from '../front-matter/problem.ts';
import { decodeText } from '../front-matter/text.ts';
import { isDirectoryItself, statsAt } from '../fs/plain-path.ts';

/** The tasks directory and the settings file of a Backlog.md project. */
interface BacklogPlace {
  /** Absolute. */
  dir: string;
  config: string;
}

/** A parsed task file. */
export interface TaskFile {
  /** Relative to the project's folder, with slashes. */
  file: string;
  sha256: string;
  mtime: Date;
  data: Record<string, unknown>;
  body: string;
}

export interface BacklogFile extends TaskFile {
  folder: BacklogFolder;
}

export interface BacklogProject {
  dir: string;
  name: string;
  /** In order; the last one means that a task is done. */
  statuses: string[];
  tasks: BacklogFile[];
  /** Task files that cannot be read. */
  problems: FileProblem[];
}

/** In order of precedence, because Backlog.md reuses the ids of archived tasks. */
const FOLDERS = ['tasks', 'completed', 'drafts', 'archive/tasks', 'archive/drafts'] as const;
type BacklogFolder = (typeof FOLDERS)[number];

const CONFIGS = ['config.yml', 'config.yaml'];
const ROOT_CONFIG = 'backlog.config.yml';

/** Finds a Backlog.md project in a directory, which may be its task folder itself; undefined if there is none. */
export const findBacklog = (path: string): BacklogPlace | undefined => {
  const folders = [join(path, 'backlog'), join(path, '.backlog')];
  const rootConfig = join(path, ROOT_CONFIG);
  if (isFile(rootConfig)) {
    const named = configOf(rootConfig).backlog_directory;
    const dir = typeof named === 'string' ? join(path, named) : folders.find(isDirectoryItself);
    return dir === undefined ? undefined : { dir, config: rootConfig };
  }
  for (const dir of [...folders, ...(isDirectoryItself(join(path, 'tasks')) ? [path] : [])]) {
    const config = CONFIGS.map((name) => join(dir, name)).find(isFile);
    if (config !== undefined) return { dir, config };
  }
  return undefined;
};

const isFile = (path: string): boolean => statsAt(path)?.isFile() === true;

/** Reads all tasks of a project. Writes nothing, follows no link. Throws a Problem if its settings are invalid. */
export const readBacklog = ({ dir, config }: BacklogPlace): BacklogProject => {
  const { project_name, projectName, statuses } = configOf(config);
  const name = project_name ?? projectName ?? basename(dirname(dir));
  const read = FOLDERS.flatMap((folder) =>
    readTaskFiles(dir, folder, TASK_NAME).map((each) =>
      'data' in each ? { ...each, folder } : each,
    ),
  );
  return {
    dir,
    name: String(name),
    statuses: Array.isArray(statuses) ? statuses.map(String) : [],
    tasks: read.flatMap((each) => ('data' in each ? [each] : [])),
    problems: read.flatMap((each) => ('data' in each ? [] : [each])),
  };
};

const configOf = (path: string): Record<string, unknown> =>
  parseFrontMatter(`---\n${decodeText(readFileSync(path))}\n---\n`).data;

// `back-12.1 - Title.md`; other files, such as a readme, are ignored.
const TASK_NAME = /^[a-z][\w]*-\d+(?:\.\d+)*\b.*\.md$/i;

/** The task files of a folder; unreadable ones as problems. Empty if the folder does not exist or is a link. */
export const readTaskFiles = (
  dir: string,
  folder: string,
  named: RegExp,
): (TaskFile | FileProblem)[] =>
  namesIn(dir, folder, named).map((name) => readTask(dir, folder, name));

/** The matching names in a folder, in order; empty if the folder does not exist or is a link. */
export const namesIn = (dir: string, folder: string, named: RegExp): string[] => {
  if (!isDirectoryItself(join(dir, folder))) return [];
  return readdirSync(join(dir, folder))
    .filter((name) => named.test(name))
    .toSorted(byNumber);
};

const byNumber = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

const readTask = (dir: string, folder: string, name: string): TaskFile | FileProblem => {
  const file = `${folder}/${name}`;
  try {
    const path = join(dir, folder, name);
    const stats = regular(path);
    const bytes = readFileSync(path);
    const source = parseFrontMatter(withQuotedNames(decodeText(bytes)));
    const { data } = source;
    const mtime = new Date(modifiedAt(stats));
    return { file, sha256: sha256(bytes), mtime, data, body: textOfBody(source) };
  } catch (error) {
    if (error instanceof Problem) return fileProblem(file, error);
    if (hasCode(error, 'EACCES')) return fileProblem(file, NO_PERMISSION);
    throw error;
  }
};

const NO_PERMISSION = new Problem('no_permission', 'This user has no permission to read the file');

const regular = (path: string): Stats => {
  const stats = statsAt(path);
  if (stats?.isFile() !== true)
    throw new Problem('not_a_file', 'This is a link or a directory, not a file');
  if (stats.size > MAX_BYTES)
    throw new Problem('too_large', `The file has ${stats.size} bytes; a record has at most 1 MB`);
  return stats;
};

const MAX_BYTES = 2_097_152;

// Backlog.md reads and writes `assignee: @name`, which is not valid YAML.
const withQuotedNames = (text: string): string => {
  const { head, yaml, tail, body } = splitFrontMatter(text);
  const quoted = yaml
    .replace(/^((?:assignee|reporter):[ \t]*)(@[^#\r\n]*?)(?=[ \t]*(?:#.*)?\r?$)/gm, '$1"$2"')
    .replace(/^(?:assignee|reporter):[ \t]*\[.*$/gm, (line) =>
      line.replace(/(?<=[[,][ \t]*)@[^,\]"']*/g, '"$&"'),
    )
    .replace(/^([ \t]*-[ \t]+)(@[^#\r\n]*?)(?=[ \t]*(?:#.*)?\r?$)/gm, '$1"$2"');
  return head + quoted + tail + body;
};
