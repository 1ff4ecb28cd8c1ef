import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { isDone } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { noteTakenBack } from '../base/write-stage.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { putFile } from '../front-matter/text-file.ts';
import { createFile, removeFile } from '../fs/durable.ts';
import { undoDay } from '../fs/place.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import type { Layout } from '../layout.ts';
import type { Store } from '../store.ts';

/** 256 random bits in the format of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * The secret of a webhook registration, from `.dossier/secrets`, which only its owner can read and git ignores. A hand-made
 * registration gets a secret when it first needs one; then `made` is true.
 */
export const secretOf = async (
  store: Store,
  id: string,
): Promise<{ secret: string; made: boolean }> => {
  const known = readSecret(store.layout, id);
  if (known !== undefined) return { secret: known, made: false };
  return store.locks.take(lockOn.secret(id), async () => {
    const kept = readSecret(store.layout, id) ?? restoreRetired(store.layout, id);
    if (kept !== undefined) return { secret: kept, made: false };
    const secret = newSecret();
    await saveSecret(store.layout, id, secret);
    return { secret, made: true };
  });
};

/** Saves the secret of a new registration: one line, mode 0600. */
export const saveSecret = async (layout: Layout, id: string, secret: string): Promise<void> => {
  if (await createFile(layout, join(layout.secrets, id), `${secret}\n`, { mode: 0o600 })) return;
  const message = `.dossier/secrets/${id} has no secret. Write one line into it, or remove it`;
  throw new StoreError('unreadable_record', message);
};

/** Removes the secret of a registration that failed. If that fails too, the next start removes it as an orphan. */
export const dropSecret = (layout: Layout, id: string): void => {
  const path = join(layout.secrets, id);
  if (isDone(() => unlinkIfThere(path))) noteTakenBack(path);
};

/** Moves the secret of a removed registration to `.dossier/undo`, where it is found if the registration comes back. */
export const retireSecret = (layout: Layout, id: string): void => {
  moveFile(join(layout.secrets, id), join(undoDay(layout), retiredName(id)));
};

/** The secret of a registration, also of a recently removed one; undefined if there is none. Creates none. */
export const keptSecret = (layout: Layout, id: string): string | undefined => {
  const known = readSecret(layout, id);
  if (known !== undefined) return known;
  const days = readdirSync(layout.undo).toSorted().toReversed();
  const retired = days.map((day) => secretAt(layout, join(layout.undo, day, retiredName(id))));
  return retired.find((secret) => secret !== undefined);
};

/** The ids of registrations that have a secret. */
export const secretIds = ({ secrets }: Layout): string[] =>
  readdirSync(secrets).filter((name) => name !== INCOMING);

/** File name of the secret that the code host signs with. */
export const INCOMING = 'codehost';

/** The secrets that verify webhooks of the code host: the last one that was set, then the one before it. */
export const incomingSecrets = (layout: Layout): string[] => linesOf(readIncoming(layout));

const readIncoming = (layout: Layout): Buffer | undefined =>
  readRegularFile(layout.root, join(layout.secrets, INCOMING));

const linesOf = (bytes: Buffer | undefined): string[] =>
  (bytes?.toString('utf8') ?? '').split(/\r?\n/).filter(Boolean);

/** Sets the code host's secret and keeps the previous one for deliveries already signed with it; null removes both. */
export const setIncomingSecret = ({ layout, locks }: Store, secret: string | null): Promise<void> =>
  locks.take(lockOn.secret(INCOMING), async () => {
    const path = join(layout.secrets, INCOMING);
    const before = readIncoming(layout);
    const [held] = linesOf(before);
    if (secret === null) {
      await removeFile(layout, path);
      return;
    }
    if (secret === held) return;
    const text = [secret, held].flatMap((line) => (line === undefined ? [] : `${line}\n`)).join('');
    if (!(await putFile(layout, path, { before, mode: 0o600 }, text))) {
      const message = `.dossier/secrets/${INCOMING} was edited meanwhile. Try again`;
      throw new StoreError('file_busy', message);
    }
  });

const retiredName = (id: string): string => `${id}.secret`;

const readSecret = (layout: Layout, id: string): string | undefined =>
  secretAt(layout, join(layout.secrets, id));

const secretAt = ({ root }: Layout, path: string): string | undefined =>
  readRegularFile(root, path)
    ?.toString('utf8')
    .replace(/\r?\n$/, '') || undefined;

const restoreRetired = (layout: Layout, id: string): string | undefined => {
  const target = join(layout.secrets, id);
  const day = readdirSync(layout.undo)
    .toSorted()
    .findLast((name) => moveFile(join(layout.undo, name, retiredName(id)), target));
  return day === undefined ? undefined : readSecret(layout, id);
};

const moveFile = (from: string, to: string): boolean =>
  isDone(() => renameSync(from, to), 'ENOENT', 'ENOTDIR');
