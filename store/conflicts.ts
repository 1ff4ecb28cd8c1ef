import { join } from 'node:path';
import { createFile } from './disk/durable.ts';
import { namesIn } from './disk/folder.ts';
import { assertOwn, changing } from './items/changing.ts';
import { conflictsDir } from './layout.ts';
import { shortId, timeName } from './names.ts';
import { ConflictMatter } from './records/conflict.ts';
import { inSlices } from './slices.ts';
import type { Store } from './store.ts';
import { logLine, withLogLine } from './text/log-lines.ts';
import { checkerOf } from './text/parse.ts';
import { editRecord, readRecord } from './text/record-file.ts';
import { renderFrontMatter } from './text/splice.ts';

export interface KeptConflict {
  case_id: string;
  path: string;
  matter: ConflictMatter;
  /** What happened, a line each. */
  log: string;
}

/**
 * The rebases of a Work item, oldest first. Undefined when there is no such Work item. Throws `unreadable_record` for
 * one that cannot be read: whether a rebase is under way must not be guessed.
 */
export const listConflicts = (store: Store, caseId: string): KeptConflict[] | undefined => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return undefined;
  return namesIn(folder)
    .flatMap((name) => readIn(store, caseId, join(folder, name)) ?? [])
    .sort((a, b) => a.matter.began_at.localeCompare(b.matter.began_at));
};

/** The rebase of this machine that has not ended. There is one at most. */
export const openConflict = (store: Store, caseId: string): KeptConflict | undefined =>
  listConflicts(store, caseId)?.find(({ matter }) => isOpenHere(store, matter));

export const isOpenHere = ({ machine }: Store, matter: ConflictMatter): boolean =>
  matter.outcome === null && matter.machine === machine;

/** All rebases of the workspace that can be read. It gives way to requests every few milliseconds. */
export const allConflicts = async (store: Store): Promise<KeptConflict[]> => {
  const found: KeptConflict[] = [];
  await inSlices([...store.items.byId.keys()], (id) => {
    const folder = folderOf(store, id);
    if (folder === undefined) return;
    for (const name of namesIn(folder)) found.push(...readOrSkip(store, id, join(folder, name)));
  });
  return found;
};

const readOrSkip = (store: Store, caseId: string, path: string): KeptConflict[] => {
  try {
    return [readIn(store, caseId, path) ?? []].flat();
  } catch {
    return [];
  }
};

/** Makes the record of a rebase that begins: it is on disk before anything else is touched. */
export const createConflict = (
  store: Store,
  caseId: string,
  { matter, line }: { matter: ConflictMatter; line: string },
): Promise<KeptConflict | undefined> =>
  changing(store, caseId, async (item) => {
    const name = `${timeName(new Date(matter.began_at))}-${shortId(matter.id)}.md`;
    const path = join(conflictsDir(join(store.layout.root, item.dir)), name);
    const text = renderFrontMatter({ ...matter }, `\n${logLine(matter.began_at, line)}\n`);
    await createFile(store.layout, path, text, { assertMeant: () => assertOwn(store, item) });
    return readIn(store, caseId, path);
  });

export interface ConflictChange extends Partial<Omit<ConflictMatter, 'id' | 'began_at'>> {
  /** What happened, as a sentence for the log. */
  line?: string;
}

/** Changes the record of a rebase and adds a line to its log. Undefined when it is gone. */
export const changeConflict = (
  store: Store,
  { case_id, matter: { id } }: KeptConflict,
  { line, ...changes }: ConflictChange,
): Promise<KeptConflict | undefined> =>
  changing(store, case_id, async () => {
    const path = listConflicts(store, case_id)?.find(({ matter }) => matter.id === id)?.path;
    if (path === undefined) return undefined;
    await editRecord(store.layout, path, ({ source }) => ({
      changes,
      ...(line !== undefined && { body: withLogLine(source, logLine(now(store), line)) }),
    }));
    return readIn(store, case_id, path);
  });

const now = ({ clock }: Store): string => clock().toISOString();

const readIn = (store: Store, case_id: string, path: string): KeptConflict | undefined => {
  const record = readRecord(store.layout.root, path, checkerOf(ConflictMatter));
  if (record === undefined) return undefined;
  const { matter, source } = record;
  return { case_id, path, matter, log: source.body.trim() };
};

const folderOf = ({ layout, items }: Store, caseId: string): string | undefined => {
  const item = items.byId.get(caseId);
  return item === undefined ? undefined : conflictsDir(join(layout.root, item.dir));
};
