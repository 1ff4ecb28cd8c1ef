import { join } from 'node:path';
import { readConsentLog } from '../consent/log.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { readFolder } from '../front-matter/folder.ts';
import type { Layout } from '../layout.ts';
import { readItem } from '../reconcile/item-files.ts';
import { walk } from '../reconcile/walk.ts';
import type { WaitingValue } from '../records/trust.ts';
import { readSettings } from '../settings/globals.ts';
import { parseWebhook, type WebhookFile } from '../settings/read-webhooks.ts';
import { computeEffective } from '../settings/trust/effective.ts';
import { type Book, createBook } from '../settings/trust/trust-log.ts';
import { waitingSettingValues, waitingValue } from '../settings/trust/waiting.ts';
import { waitingWebhook } from '../settings/trust/webhook.ts';

/** What waits in a workspace, read by who is not its daemon: settings, and receivers of events. Writes nothing. */
export const lookForWaiting = (layout: Layout): WaitingValue[] => {
  const book = createBook(readConsentLog(layout));
  const { entries } = readFolder(layout.webhooks, new Map(), { parse: parseWebhook });
  return [
    ...waitingSettingsIn(layout, book),
    ...waitingIn(book, { scope: undefined, folder: 'webhooks', entries }),
    ...[...walk(layout.root)].flatMap(({ dir, kind }) =>
      kind === 'item' ? waitingInItem(layout, book, dir) : [],
    ),
  ];
};

/** The same of the settings alone. */
export const waitingSettingsIn = (
  layout: Layout,
  book = createBook(readConsentLog(layout)),
): WaitingValue[] => {
  const entry = readSettings(layout);
  const { waiting } = computeEffective(entry?.value ?? {}, book);
  return waitingSettingValues(layout, { waiting, written_at: entry?.written_at ?? 0 });
};

const waitingInItem = (layout: Layout, book: Book, dir: string): WaitingValue[] => {
  if (readFolder(join(layout.root, dir, 'webhooks'), new Map(), PARSING).entries.size === 0)
    return [];
  const files = readItem(layout.root, dir);
  const scope = files?.case.value?.matter.id;
  if (files === undefined || scope === undefined) return [];
  return waitingIn(book, { scope, folder: `${dir}/webhooks`, entries: files.webhooks });
};

const PARSING = { parse: parseWebhook };

interface Registrations {
  scope: string | undefined;
  folder: string;
  entries: ReadonlyMap<string, ReadEntry<WebhookFile>>;
}

// One that has no id yet gets it from the daemon, and is trusted by that.
const waitingIn = (book: Book, { scope, folder, entries }: Registrations): WaitingValue[] =>
  [...entries].flatMap(([name, { value, written_at }]) => {
    const part = value && waitingWebhook(book, { scope, matter: value.matter });
    const file = `${folder}/${name}`;
    if (part === undefined) return [];
    const key = value?.adopt?.id === undefined ? part.key : file;
    return waitingValue({ ...part, key }, { kind: 'webhook', file, written_at });
  });
