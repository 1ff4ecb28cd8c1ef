import { idOfText } from '../base/names.ts';
import {
  type FrontMatter,
  hasFrontMatter,
  parseFrontMatter,
  splitFrontMatter,
} from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import { Problem } from '../front-matter/problem.ts';
import { type ChecklistEntry, ChecklistMatter, type Waiver } from '../records/proof.ts';

const check = checkerOf(ChecklistMatter);

/** What has to be proven: what the front matter lists under `items`, if there is one, then the task lines of the text. */
export const parseChecklist = (text: string): ChecklistEntry[] => {
  const tasks = tasksIn(text).map(({ at: _, ...entry }) => entry);
  const waivers = waiversIn(text);
  return entriesIn(text, tasks).map((entry) => {
    const found = waivers.find(({ item }) => item === entry.id);
    if (found === undefined) return entry;
    const { item: _, ...waived } = found;
    return { ...entry, waived };
  });
};

const entriesIn = (text: string, tasks: readonly ChecklistEntry[]): readonly ChecklistEntry[] => {
  if (!hasFrontMatter(text)) {
    if (tasks.length > 0) return tasks;
    throw new Problem('no_front_matter', NO_ITEMS, { line: 1, column: 1 });
  }
  const source = parseFrontMatter(text);
  const isListed = source.data.items !== undefined || tasks.length === 0;
  return isListed ? [...checklistIn(source), ...tasks] : tasks;
};

const waiversIn = (text: string): readonly Waiver[] => {
  if (!hasFrontMatter(text)) return [];
  const source = parseFrontMatter(text);
  const { waived } = source.data;
  return waived === undefined ? [] : (check({ items: [], waived }, source).waived ?? []);
};

const NO_ITEMS =
  'Nothing is asked for here. Write a line such as `- [ ] the tests pass`, or remove the file';

/** The items of the front matter alone. A mark there is none of ours: they are proven by a verified proof. */
export const checklistIn = (source: FrontMatter): ChecklistEntry[] => {
  const items = Array.isArray(source.data.items)
    ? source.data.items.map(withId)
    : emptyOr(source.data.items);
  return check({ items }, source).items.map(({ done: _, waived: __, ...entry }) => entry);
};

// `items:` with nothing behind it is a list that was begun.
const emptyOr = (items: unknown): unknown => (items === null ? [] : items);

// An item written by hand needs no id: its own words give one that stays.
const withId = (item: unknown): unknown => {
  if (typeof item !== 'object' || item === null || 'id' in item) return item;
  return { id: idOfText(JSON.stringify(item)), required: true, ...item };
};

/** A task line, and where in the text its mark stands. */
export interface ChecklistTask extends ChecklistEntry {
  done: boolean;
  at: number;
}

const TASK = /^(\uFEFF?[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[)([ xX])\][ \t]+(?=\S)/;
const FENCE = /^[ \t>]*(`{3,}|~{3,})/;
const LONGEST = 1000;

/**
 * The task lines of a Markdown text, but for those in fenced code and comments. The words alone make the id: it stays when
 * the line is ticked or moved; of lines with the same words the second has another.
 */
export const tasksIn = (text: string): ChecklistTask[] => {
  const seen = new Map<string, number>();
  const from = hasFrontMatter(text) ? text.length - splitFrontMatter(text).body.length : 0;
  return [...plainLines(text.slice(from))].flatMap(({ line, start }) => {
    const found = TASK.exec(line);
    return found === null ? [] : [taskOf(line, found, { start: from + start, seen })];
  });
};

/** The lines of a text that are neither in fenced code nor in a comment, and where they begin. */
const plainLines = function* (text: string): Generator<{ line: string; start: number }> {
  let inside: Inside = NOTHING;
  let start = 0;
  for (const line of text.split('\n')) {
    if (inside === NOTHING) yield { line, start };
    inside = after(line, inside);
    start += line.length + 1;
  }
};

type Inside = { fence: string } | 'comment' | typeof NOTHING;
const NOTHING = undefined;

const after = (line: string, inside: Inside): Inside => {
  const fence = FENCE.exec(line)?.[1];
  if (typeof inside === 'object')
    return fence?.startsWith(inside.fence) === true ? NOTHING : inside;
  if (inside === NOTHING && fence !== undefined) return { fence };
  const [open, close] = [line.lastIndexOf('<!--'), line.lastIndexOf('-->')];
  if (open === close) return inside;
  return open > close ? 'comment' : NOTHING;
};

const taskOf = (
  line: string,
  [head, before = '', mark = '']: RegExpExecArray,
  { start, seen }: { start: number; seen: Map<string, number> },
): ChecklistTask => {
  const description = line.slice(head.length).trim().slice(0, LONGEST);
  const count = (seen.get(description) ?? 0) + 1;
  seen.set(description, count);
  const id = idOfText(count === 1 ? `task ${description}` : `task ${description} ${count}`);
  const required = !/^\(optional\)|\(optional\)$/i.test(description);
  const done = mark !== ' ';
  const [, command] = COMMAND.exec(description) ?? [];
  const asks = command === undefined ? {} : { command };
  const entry = { id, description, type: typeOf(description), required, done };
  return { ...entry, ...asks, at: start + before.length };
};

// `command: npm test`, in backticks or not.
const COMMAND = /^command: *`?(.*?)`?(?: *\(optional\))?$/;

// A proof may stand for it as well: of this type.
const typeOf = (description: string): string => {
  const words = description
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 64)
    .replace(/-+$/, '');
  return words === '' ? 'check' : words;
};
