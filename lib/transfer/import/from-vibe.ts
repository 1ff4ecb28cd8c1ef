import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { sha256 } from '../../../store/base/sha256.ts';
import { Problem } from '../../../store/front-matter/problem.ts';
import { statsAt } from '../../../store/fs/plain-path.ts';
import { unlinkIfThere } from '../../../store/fs/remove.ts';
import { repeat } from '../../../store/fs/retry.ts';
import { cleanEnvironment } from '../../tools/process/environment.ts';
import { execute } from '../../tools/process/execute.ts';
import { findProgram } from '../../tools/process/find-program.ts';
import {
  beginningOf,
  type SourceTask,
  type TaskSource,
  type TaskState,
  textOf,
  timeOf,
} from './task-source.ts';

type Row = Record<string, unknown>;
type Ask = (sql: string) => Promise<Row[]>;

/** The tasks of vibe-kanban, read from its SQLite file with the program sqlite3. Throws a Problem if it cannot be read. */
export const readTasks = async (path: string, env: NodeJS.ProcessEnv): Promise<TaskSource> => {
  const clean = cleanEnvironment(env);
  const program = findProgram('sqlite3', clean);
  if (program === undefined) throw new Problem('no_sqlite3', NO_PROGRAM);
  const rows = await rowsOf(path, (file) => (sql) => ask([program, ...FLAGS, file, sql], clean));
  const name = basename(dirname(resolve(path)));
  const tasks = rows.map(taskOf);
  return { tool: 'vibe-kanban', key: 'vibe', name, at: path, tasks, problems: [], left: [] };
};

const NO_PROGRAM =
  'this is an SQLite file, and there is no sqlite3 on the PATH. Install it (apt install sqlite3, brew install sqlite)';

// The file is untrusted: `-safe` disables functions that write files or load extensions.
const FLAGS = ['-batch', '-bail', '-safe', '-json', '-init', '/dev/null', '-readonly'];

const rowsOf = async (path: string, open: (file: string) => Ask): Promise<Row[]> => {
  // Reading a WAL database creates files beside it, so that is done on a copy; so is reading a locked one.
  const isPlain = beginningOf(path, 19).at(18) === '\u0001';
  const direct = isPlain ? await readRows(open(path)) : undefined;
  if (Array.isArray(direct)) return direct;
  const dir = mkdtempSync(join(tmpdir(), 'dossier-import-'));
  try {
    const copied = await readRows(open(await copyInto(dir, path)));
    if (Array.isArray(copied)) return copied;
    throw copied;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

const BESIDE = ['', '-journal', '-wal'];

// Copies a consistent state: if the files changed meanwhile, copies them again.
const copyInto = async (dir: string, path: string): Promise<string> => {
  const to = join(dir, 'copy.sqlite');
  const state = () => BESIDE.map((end) => stampOf(path + end)).join();
  const done = await repeat(async () => {
    const before = state();
    for (const end of BESIDE) unlinkIfThere(to + end);
    for (const end of BESIDE) if (statsAt(path + end)) copyFileSync(path + end, to + end);
    return state() === before;
  }, 100);
  if (done === undefined) throw new Problem('busy', 'it is being written. Stop vibe-kanban first');
  return to;
};

const stampOf = (path: string): string => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.size} ${stats.mtimeMs}`;
};

// The columns of all tables, which differ between versions.
const COLUMNS = `SELECT m.name || '.' || c.name AS name FROM sqlite_master m
JOIN pragma_table_info(m.name) c WHERE m.type = 'table'`;

const readRows = async (asked: Ask): Promise<Row[] | Problem> => {
  try {
    const known = new Set((await asked(COLUMNS)).map(({ name }) => textOf(name)));
    const lacks = NEEDED.filter((name) => !known.has(name));
    if (lacks.length > 0)
      return new Problem('no_tasks', `it has no ${lacks.join(', no ')}: ${OTHER}`);
    return await asked(selectOf(known));
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
};

const NEEDED = ['tasks.id', 'tasks.project_id', 'tasks.title', 'tasks.status', 'projects.name'];
const OTHER = 'this is not a file of vibe-kanban, or it is of an unsupported version';

const selectOf = (known: ReadonlySet<string>): string => {
  const text = (column: string, name: string): string =>
    known.has(column) ? `CAST(${column} AS TEXT) AS ${name}` : `NULL AS ${name}`;
  const hasParent = known.has('tasks.parent_workspace_id') && known.has('workspaces.task_id');
  const parent = hasParent
    ? '(SELECT lower(hex(w.task_id)) FROM workspaces w WHERE w.id = tasks.parent_workspace_id)'
    : 'NULL';
  return `SELECT lower(hex(tasks.id)) AS id, lower(hex(tasks.project_id)) AS project_id,
${text('projects.name', 'project')}, ${text('projects.git_repo_path', 'git_repo_path')},
${text('tasks.title', 'title')}, ${text('tasks.description', 'description')},
${text('tasks.status', 'status')}, ${text('tasks.created_at', 'created_at')},
${text('tasks.updated_at', 'updated_at')}, ${parent} AS parent_task
FROM tasks LEFT JOIN projects ON projects.id = tasks.project_id ORDER BY tasks.created_at, tasks.id`;
};

const ask = async (argv: readonly string[], env: Record<string, string>): Promise<Row[]> => {
  const options = { cwd: '/', env, timeout_ms: 120_000, max_bytes: 268_435_456 };
  const { code, stdout, stderr, stopped } = await execute(argv, options);
  if (code === 0 && stopped === undefined) {
    const answer = stdout.toString('utf8').trim();
    return answer === '' ? [] : JSON.parse(answer);
  }
  const why = stopped ?? (stderr.trim() || `exit code ${code}`);
  throw new Problem('sqlite3_failed', `sqlite3 (3.37 or newer is needed) reports: ${why}`);
};

const FATES: Readonly<Record<string, TaskState>> = { done: 'done', cancelled: 'dropped' };

const taskOf = (row: Row): SourceTask => {
  const { description, ...rest } = row;
  const [id, status, parent] = [textOf(row.id), textOf(row.status), textOf(row.parent_task)];
  const task = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  return {
    key: id,
    identity: `vibe-kanban\n${id}`,
    file: `task ${id}`,
    sha256: sha256(JSON.stringify(row)),
    title: textOf(row.title) || `Task ${id}`,
    type: '',
    labels: [],
    fate: FATES[status] ?? 'open',
    created: timeOf(row.created_at),
    updated: timeOf(row.updated_at),
    body: textOf(description),
    names: new Map(parent === '' ? [] : [[parent, parent]]),
    raw: { task },
  };
};
