import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { sha256 } from '../../../store/base/sha256.ts';
import { type FileProblem, fileProblem, Problem } from '../../../store/front-matter/problem.ts';
import { isDirectoryItself, statsAt } from '../../../store/fs/plain-path.ts';
import { list, record } from '../../text/unknown-json.ts';
import {
  objectIn,
  type SourceTask,
  sourceBytes,
  type TaskSource,
  textOf,
  timeOf,
} from './task-source.ts';

type Json = Record<string, unknown>;

const BOARD = 'board.json';

/** The cards of Cline Kanban, from one board or from the boards of all workspaces. */
export const readTasks = (path: string): TaskSource => {
  const boards = hasBoard(path) ? [''] : readdirSync(path).toSorted();
  const read = boards
    .filter((name) => isDirectoryItself(join(path, name)) && hasBoard(join(path, name)))
    .flatMap((name) => boardIn(path, name));
  return {
    tool: 'Cline Kanban',
    key: 'cline',
    name: basename(resolve(path)),
    at: path,
    tasks: read.flatMap((each) => ('identity' in each ? [each] : [])),
    problems: read.flatMap((each) => ('identity' in each ? [] : [each])),
    left: [],
  };
};

const hasBoard = (dir: string): boolean => statsAt(join(dir, BOARD)) !== undefined;

const boardIn = (path: string, name: string): (SourceTask | FileProblem)[] => {
  const file = name === '' ? BOARD : `${name}/${BOARD}`;
  return attempt(file, () => {
    const { columns, dependencies } = objectIn(sourceBytes(join(path, file)));
    if (!Array.isArray(columns)) throw new Problem('no_columns', 'This board has no columns');
    const links = list(dependencies).map(record);
    return columns
      .map(record)
      .flatMap((column) =>
        list(column.cards).flatMap((card, at) =>
          attempt(`${file} ${textOf(column.id)}[${at}]`, (each) => [
            taskOf(record(card), { column: textOf(column.id), file: each, links }),
          ]),
        ),
      );
  });
};

const attempt = (
  file: string,
  read: (file: string) => (SourceTask | FileProblem)[],
): (SourceTask | FileProblem)[] => {
  try {
    return read(file);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [fileProblem(file, error)];
  }
};

interface Place {
  column: string;
  file: string;
  links: readonly Json[];
}

const taskOf = (card: Json, { column, file, links }: Place): SourceTask => {
  const { id, prompt, createdAt, updatedAt } = card;
  if (typeof id !== 'string' || typeof prompt !== 'string')
    throw new Problem('no_card', 'This is not a card: it has no id or no prompt');
  const mine = links.filter(({ fromTaskId }) => fromTaskId === id);
  const task = {
    ...card,
    prompt: undefined,
    column,
    ...(mine.length > 0 && { dependencies: mine }),
  };
  return {
    key: id,
    // Card ids have only five characters, so the time of creation is included.
    identity: `cline-kanban\n${id}\n${textOf(createdAt)}`,
    file,
    sha256: sha256(JSON.stringify({ ...task, prompt })),
    title: textOf(card.title) || (prompt.trim().split('\n')[0] ?? ''),
    type: '',
    labels: [],
    // Finished cards go to the trash as well, without a mark.
    fate: column === 'trash' ? 'dropped' : 'open',
    created: timeOf(createdAt),
    updated: timeOf(updatedAt),
    body: prompt,
    names: new Map(mine.map(({ toTaskId }) => [textOf(toTaskId), textOf(toTaskId)])),
    raw: { task: Object.fromEntries(Object.entries(task).filter(([key]) => key !== 'prompt')) },
  };
};
