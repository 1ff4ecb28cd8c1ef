import {
  type BacklogFile,
  type BacklogProject,
  findBacklog,
  readBacklog,
} from '../../../store/archive/backlog-files.ts';
import {
  GIVEN_UP,
  listOf,
  type SourceTask,
  type TaskSource,
  type TaskState,
  timeOf,
} from './task-source.ts';

/** The tasks of a Backlog.md project, including drafts, completed and archived ones. */
export const readTasks = (path: string): TaskSource => {
  const place = findBacklog(path);
  if (place === undefined) throw new Error(`${path} has no Backlog.md project.`);
  const project = readBacklog(place);
  const { name, dir, tasks, problems } = project;
  const own = { tool: 'Backlog.md', key: 'backlog', name, at: dir };
  return { ...own, tasks: tasks.map((task) => taskOf(project, task)), problems, left: [] };
};

const taskOf = (project: BacklogProject, task: BacklogFile): SourceTask => {
  const { data, file, sha256, mtime, body } = task;
  const { id, type, labels, created_date, updated_date, dependencies } = data;
  const of = `backlog.md\n${project.name}\n`;
  const key = keyOf(String(id ?? file));
  const named = [dependencies, data.parent_task_id, data.subtasks].flatMap(listOf);
  const updated = timeOf(updated_date);
  return {
    key,
    identity: of + key,
    // Backlog.md reuses the ids of archived tasks.
    spare: of + keyOf(file),
    file,
    sha256,
    title: titleOf(task),
    type: String(type ?? ''),
    labels: listOf(labels),
    fate: fateOf(project, task),
    created: timeOf(created_date) ?? updated ?? mtime,
    updated,
    body,
    names: new Map(named.map((name) => [name, keyOf(name)])),
    raw: { task: data },
  };
};

// A project can change the prefix and the padding of ids; a draft is not the task of the same number.
const keyOf = (id: string): string => {
  const [, prefix = '', numbers = ''] = /^([a-z]\w*)-(\d+(?:\.\d+)*)$/i.exec(id.trim()) ?? [];
  if (numbers === '') return id;
  const number = numbers.replace(/(?<=^|\.)0+(?=\d)/g, '');
  return prefix.toLowerCase() === 'draft' ? `draft-${number}` : number;
};

const titleOf = ({ data, file }: BacklogFile): string => {
  const title = String(data.title ?? '');
  return title.trim() === '' ? (file.split('/').at(-1) ?? file).replace(/\.md$/, '') : title;
};

const fateOf = ({ statuses }: BacklogProject, { data, folder }: BacklogFile): TaskState => {
  const status = String(data.status ?? '').trim();
  if (GIVEN_UP.test(status)) return 'dropped';
  if (isDone(status, statuses) || folder === 'completed') return 'done';
  return folder.startsWith('archive/') ? 'dropped' : 'open';
};

const isDone = (status: string, statuses: string[]): boolean =>
  [statuses.at(-1) ?? 'done', 'done'].some(
    (done) => done.trim().toLowerCase() === status.toLowerCase(),
  );
