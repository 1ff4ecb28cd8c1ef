import { idOfText } from '../../../store/base/names.ts';
import { visible } from '../../../store/base/visible.ts';
import { type FileProblem, fileProblem, Problem } from '../../../store/front-matter/problem.ts';
import { type CaseMatter, MOST_CHARACTERS } from '../../../store/records/case.ts';
import { shorten } from '../../text/wording.ts';
import { type SourceTask, type TaskSource, type TaskState, wellFormed } from './task-source.ts';

/** The Work item of a task. */
export interface TaskCase {
  matter: CaseMatter;
  /** Its source, and the Work items of the tasks that it names. */
  origin: Record<string, unknown>;
  /** Fields that a Work item does not have. */
  raw: Record<string, unknown>;
  description: string;
  /** When the task was last changed. */
  mtime: Date;
}

/** The tasks by the ids of their Work items, which are the same at every import. */
interface KnownTasks {
  byId: ReadonlyMap<string, SourceTask>;
  /** The ids by the keys that tasks use to name each other. */
  byKey: ReadonlyMap<string, string>;
  /** Tasks with the identity of another one. */
  problems: FileProblem[];
}

export const withIds = ({ tasks }: TaskSource): KnownTasks => {
  const byId = new Map<string, SourceTask>();
  const byKey = new Map<string, string>();
  const problems: FileProblem[] = [];
  for (const task of tasks) {
    const first = idOfText(task.identity);
    const id = byId.has(first) && task.spare !== undefined ? idOfText(task.spare) : first;
    const other = byId.get(id);
    if (other !== undefined) problems.push(fileProblem(task.file, duplicateProblem(other)));
    else byId.set(id, task);
    if (!byKey.has(task.key)) byKey.set(task.key, id);
  }
  return { byId, byKey, problems };
};

const duplicateProblem = ({ file }: SourceTask): Problem =>
  new Problem('double', `This has the same id as ${file}, which is imported. Give it another id`);

/** Converts a task to a Work item. No field is lost, and nothing counts as planned or approved. */
export const caseOfTask = (
  { name, tool }: TaskSource,
  [id, task]: readonly [string, SourceTask],
  known: KnownTasks['byKey'],
): TaskCase => {
  const whole = oneLine(task.title) || oneLine(task.file);
  const title =
    whole.length <= MOST_CHARACTERS.title ? whole : shorten(whole, MOST_CHARACTERS.title - 1, '…');
  const created = task.created ?? task.updated;
  if (created === undefined)
    throw new Problem('no_time', `${tool} wrote no time for this task. Add one`);
  const references = [...task.names].flatMap(([each, key]) => {
    const item = known.get(key);
    return item === undefined ? [] : [[each, item] as const];
  });
  const body = asText(task.body);
  return {
    matter: {
      id,
      title,
      type: typeOf(task),
      ...STATES[task.fate],
      created_at: created.toISOString(),
    },
    origin: {
      project: name,
      file: task.file,
      source_sha256: task.sha256,
      ...(references.length > 0 && { work_items: Object.fromEntries(references) }),
    },
    raw: task.raw,
    description: title === whole ? body : `Title: ${whole}\n\n${body}`,
    mtime: task.updated ?? created,
  };
};

// Line breaks and control characters.
const BREAKS = /[\p{Cc}\s\u2028\u2029]+/gu;

const oneLine = (text: string): string => visible(wellFormed(text).replace(BREAKS, ' ').trim());

// A file with a NUL character would be unreadable.
const asText = (text: string): string => wellFormed(text).replaceAll('\0', '␀');

const WORD = /^[a-z][a-z0-9_-]{0,63}$/;

const typeOf = ({ type, labels }: SourceTask): string => {
  const own = type.trim().toLowerCase();
  const words = [own, ...labels.map((label) => label.toLowerCase())];
  if (words.includes('bug')) return 'bug';
  if (own !== '' && own !== 'enhancement' && WORD.test(own)) return own;
  return words.some((word) => ['feature', 'enhancement'].includes(word)) ? 'feature' : 'task';
};

// A task in progress is OPEN here, since it has no approved plan.
const STATES: Record<TaskState, Pick<CaseMatter, 'state' | 'outcome'>> = {
  open: { state: 'OPEN', outcome: null },
  blocked: { state: 'BLOCKED', outcome: null },
  done: { state: 'RESOLVED', outcome: 'resolved' },
  dropped: { state: 'NON_ISSUE', outcome: 'non_issue' },
};
