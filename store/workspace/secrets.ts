import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDone } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { noteTakenBack } from '../base/write-stage.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { putFile } from '../front-matter/text-file.ts';
import { createFile, removeFile } from '../fs/durable.ts';
import { undoDay } from '../fs/place.ts';
import type { Layout } from '../layout.ts';
import type { Store } from '../store.ts';

/** As Standard Webhooks writes them: 256 random bits. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * The secret of a webhook registration, from `.dossier/secrets`, which no one else on this machine may read and git never
 * adds. A registration that was made by hand gets one when it first needs it; `made` says so.
 */
export const secretOf = async (
  store: Store,
  id: string,
): Promise<{ secret: string; made: boolean }> => {
  const known = readSecret(store.layout, id);
  if (known !== undefined) return { secret: known, made: false };
  return store.locks.take(lockOn.secret(id), async () => {
    const kept = readSecret(store.layout, id) ?? revived(store.layout, id);
    if (kept !== undefined) return { secret: kept, made: false };
    const secret = newSecret();
    await keepSecret(store.layout, id, secret);
    return { secret, made: true };
  });
};

/** Keeps the secret of a new registration: one line, mode 0600. */
export const keepSecret = async (layout: Layout, id: string, secret: string): Promise<void> => {
  if (await createFile(layout, join(layout.secrets, id), `${secret}\n`, { mode: 0o600 })) return;
  const message = `.dossier/secrets/${id} holds no secret. Write one line into it, or remove it`;
  throw new StoreError('unreadable_record', message);
};

/** Nothing came of its registration: it goes, now or, where it cannot be removed, with the orphans of the next start. */
export const dropSecret = (layout: Layout, id: string): void => {
  const path = join(layout.secrets, id);
  if (isDone(() => rmSync(path, { force: true }))) noteTakenBack(path);
};

/**
 * The registration is gone, and git or the operator may bring it back: its secret goes with what can be undone, and is
 * found there again for as long as that is kept.
 */
export const retireSecret = (layout: Layout, id: string): void => {
  moved(join(layout.secrets, id), join(undoDay(layout), retiredName(id)));
};

/** The secret of a registration, also of one that was removed lately; undefined where none is kept. Makes none. */
export const keptSecret = (layout: Layout, id: string): string | undefined => {
  const known = readSecret(layout, id);
  if (known !== undefined) return known;
  const days = readdirSync(layout.undo).toSorted().toReversed();
  const retired = days.map((day) => secretAt(layout, join(layout.undo, day, retiredName(id))));
  return retired.find((secret) => secret !== undefined);
};

/** Of registrations alone. */
export const secretIds = ({ secrets }: Layout): string[] =>
  readdirSync(secrets).filter((name) => name !== INCOMING);

/** The file of what the code host signs with. */
export const INCOMING = 'codehost';

/** What webhooks of the code host may be signed with: the secret that was set last, then the one before it. */
export const incomingSecrets = (layout: Layout): string[] => linesOf(readIncoming(layout));

const readIncoming = (layout: Layout): Buffer | undefined =>
  readRegularFile(layout.root, join(layout.secrets, INCOMING));

const linesOf = (bytes: Buffer | undefined): string[] =>
  (bytes?.toString('utf8') ?? '').split(/\r?\n/).filter(Boolean);

/** Sets it, and keeps the one that held so far, for what is signed with that while it is changed; null forgets both. */
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
      const message = `.dossier/secrets/${INCOMING} was changed by hand this moment. Try again`;
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

const revived = (layout: Layout, id: string): string | undefined => {
  const target = join(layout.secrets, id);
  const day = readdirSync(layout.undo)
    .toSorted()
    .findLast((name) => moved(join(layout.undo, name, retiredName(id)), target));
  return day === undefined ? undefined : readSecret(layout, id);
};

const moved = (from: string, to: string): boolean =>
  isDone(() => renameSync(from, to), 'ENOENT', 'ENOTDIR');
