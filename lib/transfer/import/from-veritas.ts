import { basename, dirname, resolve } from 'node:path';
import { namesIn, readTaskFiles, type TaskFile } from '../../../store/archive/backlog-files.ts';
import { record } from '../../text/unknown-json.ts';
import {
  GIVEN_UP,
  listOf,
  type SourceTask,
  type TaskSource,
  type TaskState,
  textOf,
  timeOf,
} from './task-source.ts';

const FOLDERS = ['active', 'backlog', 'archive'];
const ARCHIVE = 'archive/';
const NAMED = /^task_.*\.md$/i;
const OTHERS = /^(?!task_).*\.md$/i;

/** The Markdown tasks of veritas-kanban, from its board, backlog and archive. */
export const readTasks = (path: string): TaskSource => {
  const read = FOLDERS.flatMap((folder) => readTaskFiles(path, folder, NAMED));
  return {
    tool: 'veritas-kanban',
    key: 'veritas',
    name: basename(dirname(resolve(path))),
    at: path,
    tasks: read.flatMap((each) => ('data' in each ? [taskOf(each)] : [])),
    problems: read.flatMap((each) => ('data' in each ? [] : [each])),
    left: FOLDERS.flatMap((folder) =>
      namesIn(path, folder, OTHERS).map((name) => `${folder}/${name} (no task_*.md)`),
    ),
  };
};

const taskOf = ({ data, file, sha256, mtime, body }: TaskFile): SourceTask => {
  const own = basename(file);
  const id = textOf(data.id) || own.replace(/-.*|\.md$/, '');
  const { depends_on, blocks } = record(data.dependencies);
  const named = [data.blockedBy, depends_on, blocks].flatMap(listOf);
  return {
    key: id,
    identity: `veritas-kanban\n${id}\n${textOf(data.created)}`,
    // A renamed task can leave its old file behind.
    spare: `veritas-kanban\n${file}`,
    file,
    sha256,
    title: textOf(data.title) || own.replace(/\.md$/, ''),
    type: textOf(data.type),
    labels: [],
    fate: fateOf(data, file),
    created: timeOf(data.created) ?? mtime,
    updated: timeOf(data.updated),
    body,
    names: new Map(named.map((name) => [name, name])),
    raw: { task: data },
  };
};

const fateOf = ({ status, deletedAt }: TaskFile['data'], file: string): TaskState => {
  const state = textOf(status).trim().toLowerCase();
  if (GIVEN_UP.test(state) || textOf(deletedAt) !== '') return 'dropped';
  if (state === 'done') return 'done';
  if (file.startsWith(ARCHIVE)) return 'dropped';
  return state === 'blocked' ? 'blocked' : 'open';
};
