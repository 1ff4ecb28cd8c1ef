import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { readOurs, saveOurs } from '../consent/seal.ts';
import { checkedBy } from '../front-matter/record-file.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import type { Layout } from '../layout.ts';
import { Told } from '../records/told.ts';

/** What the plan of a session was made from; undefined where that is not known, as of a file that this machine did not write. */
export const findTold = (layout: Layout, sessionId: string): Told | undefined => {
  const read = () => readOurs(layout, fileOf(layout, sessionId), (value) => checkedBy(Told, value));
  const told = orElse(read, undefined);
  return told?.session_id === sessionId ? told : undefined;
};

/** The title, type and description that an agent gets if there is no record of what its plan was made from. */
export const untold = (caseId: string): Pick<Told, 'title' | 'type' | 'description'> => ({
  title: `Work item ${caseId}`,
  type: '',
  description: '',
});

/** Saves it, on disk when the promise resolves. */
export const saveTold = (layout: Layout, told: Told): Promise<void> =>
  saveOurs(layout, fileOf(layout, told.session_id), told);

/** Removes it, and how far the plan was run, for a session that has ended. Never throws. */
export const removeTold = (layout: Layout, sessionId: string): void => {
  for (const file of [fileOf(layout, sessionId), blocksFile(layout, sessionId)])
    orElse(() => unlinkIfThere(file), undefined);
};

/** Removes those of sessions that are gone. Never throws. */
export const sweepTold = (layout: Layout, keep: ReadonlySet<string>): void => {
  const ids = orElse(() => readdirSync(layout.told), []).map((name) => name.split('.')[0] ?? '');
  for (const id of new Set(ids)) if (!keep.has(id)) removeTold(layout, id);
};

const fileOf = ({ told }: Layout, sessionId: string): string => join(told, `${sessionId}.json`);

/** The file of `findBlocks`. */
export const blocksFile = ({ told }: Layout, sessionId: string): string =>
  join(told, `${sessionId}.blocks.json`);
