import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { type ConsentLog, readConsentLog } from '../consent/log.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { readFolder } from '../front-matter/folder.ts';
import { checkerOf } from '../front-matter/parse.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { readRecord, readRegularFile } from '../front-matter/record-file.ts';
import { type Layout, sessionFile } from '../layout.ts';
import { readItemFiles } from '../reconcile/read-item.ts';
import { walk } from '../reconcile/walk.ts';
import { isEnded, SessionMatter } from '../records/session.ts';
import type { TrustedValue, WaitingValue } from '../records/trust.ts';
import { unconfirmedIn } from '../sessions/consent.ts';
import {
  confirmClaim,
  pendingClaim,
  type SessionClaim,
  sessionDirs,
} from '../sessions/unconfirmed.ts';
import { readSettings } from '../settings/globals.ts';
import { parseWebhook, type WebhookFile } from '../settings/read-webhooks.ts';
import { computeEffective } from '../settings/trust/effective.ts';
import { openTrustLog } from '../settings/trust/tightening.ts';
import {
  createTrustLog,
  revokeTrusted,
  type TrustLog,
  trustedValues,
} from '../settings/trust/trust-log.ts';
import { waitingSettingValues, waitingValue } from '../settings/trust/waiting.ts';
import { waitingWebhook } from '../settings/trust/webhook.ts';
import { pendingKeys } from '../workspace/api-keys.ts';
import { claimedWorktrees, confirmWorktrees } from './claimed-worktrees.ts';

/** All values that need the operator's confirmation, read without a daemon. Writes nothing. */
export const pendingOnDisk = (layout: Layout): WaitingValue[] => {
  const consent = readConsentLog(layout);
  return [
    ...lookForWaiting(layout, consent),
    ...pendingKeys(layout, consent),
    ...claimedWorktrees(layout),
    ...claimedSessions(layout, consent),
  ];
};

/** Confirms values that the operator was shown, while no daemon runs. Throws StateDirError if that cannot be recorded. */
export const trustOnDisk = async (
  layout: Layout,
  values: readonly WaitingValue[],
): Promise<void> => {
  const consent = openTrustLog(layout);
  const ofKind = (...kinds: WaitingValue['kind'][]) =>
    values.filter(({ kind }) => kinds.includes(kind));
  const plain = ofKind('setting', 'webhook', 'key');
  consent.grant(plain.map(({ key, value }) => ({ key, value: value ?? undefined })));
  confirmOnDisk(layout, consent, ofKind('session', 'approval'));
  await confirmWorktrees(layout, ofKind('worktree'));
};

/** The values that the operator has trusted, read without a daemon. */
export const trustedOnDisk = (layout: Layout): TrustedValue[] =>
  trustedValues(readConsentLog(layout));

/** Revokes the trust in a key, while no daemon runs; false if it is not trusted. */
export const revokeOnDisk = (layout: Layout, key: string): boolean =>
  revokeTrusted(createTrustLog(openTrustLog(layout)), key);

/** Untrusted settings and webhook receivers, read without a daemon. Writes nothing. */
const lookForWaiting = (layout: Layout, consent: ConsentLog): WaitingValue[] => {
  const trustLog = createTrustLog(consent);
  const { entries } = readFolder(layout.webhooks, new Map(), { parse: parseWebhook });
  return [
    ...waitingSettingsIn(layout, trustLog),
    ...waitingWebhooksIn(trustLog, { scope: undefined, folder: 'webhooks', entries }),
    ...[...walk(layout.root)].flatMap(({ dir, kind }) =>
      kind === 'item' ? waitingInItem(layout, trustLog, dir) : [],
    ),
  ];
};

/** Untrusted settings. */
const waitingSettingsIn = (layout: Layout, trustLog: TrustLog): WaitingValue[] => {
  const entry = readSettings(layout);
  const { waiting } = computeEffective(entry?.value ?? {}, trustLog);
  return waitingSettingValues(layout, { waiting, written_at: entry?.written_at ?? 0 });
};

const waitingInItem = (layout: Layout, trustLog: TrustLog, dir: string): WaitingValue[] => {
  if (readFolder(join(layout.root, dir, 'webhooks'), new Map(), PARSING).entries.size === 0)
    return [];
  const files = readItemFiles(layout.root, dir);
  const scope = files?.case.value?.matter.id;
  if (files === undefined || scope === undefined) return [];
  return waitingWebhooksIn(trustLog, { scope, folder: `${dir}/webhooks`, entries: files.webhooks });
};

const PARSING = { parse: parseWebhook };

interface Registrations {
  scope: string | undefined;
  folder: string;
  entries: ReadonlyMap<string, ReadEntry<WebhookFile>>;
}

// A registration without an id gets one from the daemon, so the file itself is the key.
const waitingWebhooksIn = (
  trustLog: TrustLog,
  { scope, folder, entries }: Registrations,
): WaitingValue[] =>
  [...entries].flatMap(([name, { value, written_at }]) => {
    const part = value && waitingWebhook(trustLog, { scope, matter: value.matter });
    const file = `${folder}/${name}`;
    if (part === undefined) return [];
    const key = value?.adopt?.id === undefined ? part.key : file;
    return waitingValue({ ...part, key }, { kind: 'webhook', file, written_at });
  });

/** Sessions whose files claim a start or an approval without a record on this machine, read without a daemon. */
const claimedSessions = (layout: Layout, consent: ConsentLog): WaitingValue[] =>
  claimsIn(layout, consent).map((claim) => pendingClaim(layout, claim));

/** Records the confirmation of claims that did not change since they were shown, while no daemon runs. */
const confirmOnDisk = (
  layout: Layout,
  consent: ConsentLog,
  values: readonly WaitingValue[],
): void => {
  const wanted = new Set(values.map(({ key, hash }) => `${key} ${hash}`));
  for (const claim of claimsIn(layout, consent)) {
    const { key, hash } = pendingClaim(layout, claim);
    if (wanted.has(`${key} ${hash}`)) confirmClaim({ consent }, claim);
  }
};

const claimsIn = (layout: Layout, consent: ConsentLog): SessionClaim[] => {
  const path = layout.machine;
  const machine = ifReadable(() => readRegularFile(layout.root, path), undefined);
  const here = { consent, machine: machine?.toString('utf8').trim() };
  return [...walk(layout.root)].flatMap(({ dir, kind }) =>
    kind === 'item' ? claimsOf(layout, here, dir) : [],
  );
};

const check = checkerOf(SessionMatter);

const claimsOf = (
  layout: Layout,
  { consent, machine }: { consent: ConsentLog; machine: string | undefined },
  dir: string,
): SessionClaim[] => {
  const open = sessionDirs(layout.root, dir).flatMap((path) => {
    const read = () => readRecord(layout.root, sessionFile(path), check);
    const found = ifReadable(() => orElse(read, undefined, 'EACCES', 'EPERM'), undefined);
    return found === undefined || isEnded(found.matter.status)
      ? []
      : { path, matter: found.matter };
  });
  const item = open.length === 0 ? undefined : readItemFiles(layout.root, dir)?.case.value?.matter;
  if (item?.id === undefined) return [];
  const { id: case_id, title } = item;
  return open.flatMap(({ path, matter }): SessionClaim[] => {
    const unconfirmed = unconfirmedIn({ consent }, { case_id, matter });
    const isOthers = matter.machine !== undefined && matter.machine !== machine;
    return unconfirmed === undefined || isOthers
      ? []
      : [{ case_id, title, dir: path, matter, unconfirmed }];
  });
};
