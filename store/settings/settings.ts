import { lockOn } from '../../base/locks.ts';
import { sha256 } from '../../base/sha256.ts';
import { createFile } from '../disk/durable.ts';
import { StoreError } from '../errors.ts';
import { etagOf } from '../names.ts';
import type { Settings } from '../records/settings.ts';
import { readyToWrite, type Store } from '../store.ts';
import { parseFrontMatter, splitFrontMatter } from '../text/front-matter.ts';
import { editRecord, unreadable } from '../text/record-file.ts';
import {
  type MatterChanges,
  renderFrontMatter,
  spliceFrontMatter,
  spliceWithin,
} from '../text/splice.ts';
import { patternOf } from '../trust/keys.ts';
import { refreshGlobals, settingsEntry, settingsOf, trustValues } from './globals.ts';

const FILE = 'workspace.md';

export interface StoredSettings {
  settings: Settings;
  etag: string;
}

/** The settings as workspace.md says them this moment; where it cannot be read, as it last said them. */
export const currentSettings = async (store: Store): Promise<StoredSettings> => {
  await refreshGlobals(store);
  return kept(store);
};

const kept = (store: Store): StoredSettings => ({
  settings: settingsOf(store),
  etag: etagOf(settingsEntry(store)?.sha ?? sha256('')),
});

interface Change {
  /** The setting below which values change. */
  key: keyof Settings;
  changes: MatterChanges;
  /** Settings beside it that change too. */
  beside?: MatterChanges;
  ifMatch: string | undefined;
}

/**
 * Changes settings in workspace.md, and no other byte of it. Throws `unreadable_record` while it cannot be
 * read, and `precondition_failed` when it is another file than the caller read.
 */
export const changeSettings = (
  store: Store,
  { key, changes, beside = {}, ifMatch }: Change,
): Promise<StoredSettings> =>
  store.turns.take(lockOn.settings(), async () => {
    await readyToWrite(store);
    const { layout } = store;
    await refreshGlobals(store);
    const problem = settingsEntry(store)?.problem;
    if (problem !== undefined) throw unreadable(FILE, problem);
    const refuseOther = (sha: string): void => {
      if (ifMatch !== undefined && ifMatch !== etagOf(sha)) throw settingsChanged();
    };
    const isThere = await editRecord(layout, layout.settings, ({ sha, source }) => {
      refuseOther(sha);
      const text = spliceWithin(source, key, changes);
      return { yaml: splitFrontMatter(spliceFrontMatter(parseFrontMatter(text), beside)).yaml };
    });
    if (!isThere) {
      refuseOther(sha256(''));
      await createFile(
        layout,
        layout.settings,
        renderFrontMatter({ ...beside, [key]: changes }, ''),
      );
    }
    trustValues(store, [...wordsIn(`${key}.`, changes), ...wordsIn('', beside)]);
    await refreshGlobals(store);
    return kept(store);
  });

// Who changes them by the API is the operator: what was asked for is trusted, and nothing else that is in the file.
const wordsIn = (above: string, changes: MatterChanges): { key: string; value: unknown }[] =>
  Object.entries(changes)
    .filter(([name]) => patternOf(above + name) !== undefined)
    .map(([name, value]) => ({ key: above + name, value }));

/** Somebody else changed them since the caller read them. */
export const settingsChanged = (): StoreError =>
  new StoreError(
    'precondition_failed',
    `${FILE} changed since you read it. Read the settings again and decide anew; nothing was written.`,
  );
