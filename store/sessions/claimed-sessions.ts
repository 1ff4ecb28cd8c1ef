import { type ConsentLog, readConsentLog } from '../consent/log.ts';
import { checkerOf } from '../front-matter/parse.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { readRecord, readRegularFile } from '../front-matter/record-file.ts';
import { type Layout, sessionFile } from '../layout.ts';
import { readItem } from '../reconcile/item-files.ts';
import { walk } from '../reconcile/walk.ts';
import { isEnded, SessionMatter } from '../records/session.ts';
import type { WaitingValue } from '../records/trust.ts';
import { unconfirmedIn } from './consent.ts';
import { claimed, confirmClaim, type SessionClaim, sessionDirs } from './unconfirmed.ts';

/** Sessions that files alone say were started or approved, read by who is not the workspace's daemon. */
export const claimedSessions = (layout: Layout, consent = readConsentLog(layout)): WaitingValue[] =>
  claimsIn(layout, consent).map((claim) => claimed(layout, claim));

/** Keeps that the operator confirms these, as far as they are what was looked at, while no daemon runs. */
export const confirmOnDisk = (
  layout: Layout,
  consent: ConsentLog,
  values: readonly WaitingValue[],
): void => {
  const wanted = new Set(values.map(({ key, hash }) => `${key} ${hash}`));
  for (const claim of claimsIn(layout, consent)) {
    const { key, hash } = claimed(layout, claim);
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
    const found = ifReadable(() => readRecord(layout.root, sessionFile(path), check), undefined);
    return found === undefined || isEnded(found.matter.status)
      ? []
      : { path, matter: found.matter };
  });
  const item = open.length === 0 ? undefined : readItem(layout.root, dir)?.case.value?.matter;
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
