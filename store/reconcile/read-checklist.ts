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

/** Parses a checklist: the `items` of the front matter, if any, then the task lines of the text. */
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
  'The checklist has no items. Add a line such as `- [ ] the tests pass`, or remove the file';

/** The items of the front matter. Their `done` and `waived` fields are ignored: these items need a verified proof. */
export const checklistIn = (source: FrontMatter): ChecklistEntry[] => {
  const items = Array.isArray(source.data.items)
    ? source.data.items.map(withId)
    : nullAsEmpty(source.data.items);
  return check({ items }, source).items.map(({ done: _, waived: __, ...entry }) => entry);
};

// An empty `items:` is an empty list.
const nullAsEmpty = (items: unknown): unknown => (items === null ? [] : items);

// An item without an id gets one derived from its text.
const withId = (item: unknown): unknown => {
  if (typeof item !== 'object' || item === null || 'id' in item) return item;
  return { id: idOfText(JSON.stringify(item)), required: true, ...item };
};

/** A task line, and the offset of its mark in the text. */
interface ChecklistTask extends ChecklistEntry {
  done: boolean;
  at: number;
}

const TASK = /^(\uFEFF?[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[)([ xX])\][ \t]+(?=\S)/;
const FENCE = /^[ \t>]*(`{3,}|~{3,})/;
const LONGEST = 1000;

/**
 * The task lines of a Markdown text, except in fenced code and comments. The id is derived from the words, so it survives
 * ticking and moving the line; a repeated line gets an id of its own.
 */
export const tasksIn = (text: string): ChecklistTask[] => {
  const seen = new Map<string, number>();
  const from = hasFrontMatter(text) ? text.length - splitFrontMatter(text).body.length : 0;
  return [...plainLines(text.slice(from))].flatMap(({ line, start }) => {
    const found = TASK.exec(line);
    return found === null ? [] : [taskOf(line, found, { start: from + start, seen })];
  });
};

/** The lines that look like a task and are none, such as `- [] tests pass`: the gate does not require them. */
export const almostTasksIn = (text: string): Problem[] => {
  const from = hasFrontMatter(text) ? text.length - splitFrontMatter(text).body.length : 0;
  return [...plainLines(text.slice(from))].flatMap(({ line, start }) => {
    const [looks] = ALMOST.exec(line) ?? [];
    if (looks === undefined || TASK.test(line)) return [];
    const words = line.slice(looks.length).trim().slice(0, MOST_SHOWN);
    const written = `- [${/[xX]/.test(looks) ? 'x' : ' '}] ${words === '' ? 'and its words' : words}`;
    const message = `The line is not an item of the checklist, so nothing requires it. Write ${written}`;
    const place = { line: text.slice(0, from + start).split('\n').length, column: 1 };
    return [new Problem('almost_item', message, place)];
  });
};

const ALMOST = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*\[[ \txX✓✔]{0,3}\](?![(:[])/;
const MOST_SHOWN = 60;

/** The lines outside of fenced code and comments, with their offsets. */
const plainLines = function* (text: string): Generator<{ line: string; start: number }> {
  let inside: LineContext = NOTHING;
  let start = 0;
  for (const line of text.split('\n')) {
    if (inside === NOTHING) yield { line, start };
    inside = nextContext(line, inside);
    start += line.length + 1;
  }
};

type LineContext = { fence: string } | 'comment' | typeof NOTHING;
const NOTHING = undefined;

const nextContext = (line: string, inside: LineContext): LineContext => {
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

// `command: npm test`, with or without backticks.
const COMMAND = /^command: *`?(.*?)`?(?: *\(optional\))?$/;

// The proof type that satisfies a task line.
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
