import { basename, dirname, join } from 'node:path';
import { jsonText } from '../base/visible.ts';
import { lineParserOf } from '../front-matter/parse.ts';
import { Problem } from '../front-matter/problem.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { editText } from '../front-matter/text-file.ts';
import { pullTimelineFile } from '../layout.ts';
import { assertItemAt, changeItem } from '../reconcile/change-item.ts';
import { pathOfItem } from '../reconcile/items.ts';
import { PullTransition } from '../records/pull-request.ts';
import type { Store } from '../store.ts';

/** Parses one line of timeline.ndjson. */
const parseTransition = lineParserOf(PullTransition);

/** Parses timeline.ndjson; throws the Problem of its first broken line. */
export const parseTimeline = (text: string): PullTransition[] => {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    if (line.trim() === '') return [];
    const transition = parseTransition(line);
    if (transition !== undefined) return [transition];
    const isLast = at === lines.length - 1;
    throw new Problem('bad_line', isLast ? TORN : BROKEN, { line: at + 1, column: 1 });
  });
};

const TORN =
  'The last line is incomplete after a crash, and is ignored. The next append replaces it';
const BROKEN = 'The line is not a transition of a pull request and is ignored. Fix or remove it';

export type NewTransition = Omit<PullTransition, 'seq'>;

/** The transitions of a Work item's pull requests, in the order they became known, without broken lines. */
export const readTimeline = (store: Store, caseId: string): PullTransition[] => {
  const path = pathOfItem(store, caseId, pullTimelineFile);
  const bytes = path && readRegularFile(store.layout.root, path);
  return transitionsIn(bytes ? bytes.toString('utf8') : '');
};

/**
 * Appends the transitions that `rule` derives from the known ones, each event of the host once, and returns those that were
 * added. Other lines stay, except for a last line torn by a crash. Undefined if there is no such Work item.
 */
export const appendTimeline = (
  store: Store,
  caseId: string,
  rule: (known: readonly PullTransition[]) => readonly NewTransition[],
): Promise<PullTransition[] | undefined> =>
  changeItem(store, caseId, async (item) => {
    const path = pullTimelineFile(join(store.layout.root, item.dir));
    const place = { dir: dirname(path), filename: basename(path) };
    let added: PullTransition[] = [];
    const now = readRegularFile(store.layout.root, path)?.toString('utf8') ?? '';
    if (newTransitions(transitionsIn(now), rule).length === 0) return added;
    const assertMeant = () => assertItemAt(store, item);
    await editText(store.layout, { ...place, assertMeant }, (bytes) => {
      const text = withCompleteLines(bytes?.toString('utf8') ?? '');
      added = newTransitions(transitionsIn(text), rule);
      return text + added.map((each) => `${jsonText(each)}\n`).join('');
    });
    return added;
  });

const transitionsIn = (text: string): PullTransition[] =>
  text.split('\n').flatMap((line) => parseTransition(line) ?? []);

const newTransitions = (
  known: readonly PullTransition[],
  rule: (known: readonly PullTransition[]) => readonly NewTransition[],
): PullTransition[] => {
  const ids = new Set(known.map(({ host_event_id }) => host_event_id));
  const last = Math.max(0, ...known.map(({ seq }) => seq));
  return rule(known)
    .filter(({ host_event_id }) => {
      if (host_event_id === null) return true;
      const isNew = !ids.has(host_event_id);
      ids.add(host_event_id);
      return isNew;
    })
    .map((each, at) => ({ seq: last + 1 + at, ...each }));
};

// A last line without a newline is either complete, saved so by an editor, or torn by a crash; then it goes to .dossier/undo.
const withCompleteLines = (text: string): string => {
  const end = text.lastIndexOf('\n') + 1;
  if (end === text.length) return text;
  return parseTransition(text.slice(end)) === undefined ? text.slice(0, end) : `${text}\n`;
};
