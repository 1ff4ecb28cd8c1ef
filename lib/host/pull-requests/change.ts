import { isDeepStrictEqual } from 'node:util';
import { meets } from '../../../store/base/names.ts';
import { visible } from '../../../store/base/visible.ts';
import {
  changePull,
  pullPreconditionFailed,
  type StoredPull,
} from '../../../store/codehost/pulls.ts';
import type { PullPatch } from '../../../store/records/pull-call.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import { type HostedRepository, labelsWithout, type Pull } from '../../codehost/code-host.ts';
import { afterDone, ServiceError } from '../../errors.ts';
import { checkTexts } from '../../work/cases/text.ts';
import { hostedToWrite } from './own-pull.ts';
import { getPull, recordPull, underPullLock, writePull } from './record.ts';

/**
 * Changes the title and labels on the host and here, and the notes here. Fields of the host, or of an approval, cannot
 * be changed. With `ifMatch`, only if the record has not changed since. Throws 409 `codehost_conflict` where others
 * changed on the host what would be replaced.
 */
export const patchPull = (
  service: HostedNeeds,
  caseId: string,
  patch: PullPatch,
  ifMatch?: string,
): Promise<StoredPull> =>
  underPullLock(service.store, caseId, async () => {
    const { store } = service;
    const { title, notes } = patch;
    const labels = patch.labels && distinct(patch.labels);
    checkTexts({ title, notes });
    const before = getPull(store, caseId);
    if (!meets(ifMatch, before.etag)) throw pullPreconditionFailed();
    if (notes !== undefined) await changePull(store, caseId, { changes: { notes } }, ifMatch);
    await afterDone(notes === undefined ? undefined : 'the notes were saved', () =>
      changeThere(service, before, { ...patch, ...(labels && { labels }) }),
    );
    return getPull(store, caseId);
  });

// As the host has them, which trims labels and ignores their case.
const distinct = (labels: readonly string[]): string[] => [
  ...new Map(
    labels
      .map((label) => [label.trim().toLowerCase(), label.trim()] as const)
      .filter(([key]) => key !== ''),
  ).values(),
];

const changeThere = async (
  service: HostedNeeds,
  before: StoredPull,
  patch: PullPatch,
): Promise<void> => {
  const { title, labels } = patch;
  if (title === undefined && labels === undefined) return;
  const hosted = await hostedToWrite(service, before, (now) => refuseUnread(before, patch, now));
  const place = { hosted, number: before.matter.number };
  const record = (pull: Pull, done?: string) =>
    afterDone(done, () => recordPull(service.store, before.case_id, { name: hosted.name, pull }));
  const isSame = labels === undefined || isDeepStrictEqual(labels, before.matter.labels ?? []);
  const done = isSame ? undefined : RELABELLED;
  // Each change is recorded at once, because the next one may fail.
  if (labels !== undefined) await record(await relabel(place, labels), done);
  if (title === undefined) return;
  await afterDone(done, async () => record(await retitle(place, title), 'the title was changed'));
};

const RELABELLED = 'the labels were changed';

// The operator has not read it: a form of the console, for example, sends title and labels as the record has them.
const refuseUnread = (
  { case_id, matter }: StoredPull,
  { title, labels }: PullPatch,
  now: Pull,
): void => {
  const titles = [matter.title, title];
  const isNewTitle = title !== undefined && !titles.includes(now.title);
  const isNewList = labels !== undefined && !isBetween(now.labels, matter.labels ?? [], labels);
  if (!isNewTitle && !isNewList) return;
  const news = [
    ...(isNewTitle ? [`its title is now ${visible(now.title)}`] : []),
    ...(isNewList ? [`its labels are now ${visible(now.labels.join(', ')) || 'none'}`] : []),
  ].join(', and ');
  throw new ServiceError(
    'codehost_conflict',
    `#${now.number} was changed on the host since it was read: ${news}. That was not replaced. Read it with POST /api/cases/${case_id}/pr/sync-state, then send the change again.`,
    { members: { title: now.title, labels: now.labels } },
  );
};

// Others changed nothing that is replaced: a change that failed half way leaves such a list, and can be sent again.
const isBetween = (
  now: readonly string[],
  before: readonly string[],
  wanted: readonly string[],
): boolean => {
  const kept = labelsWithout(before, labelsWithout(before, wanted));
  const news = labelsWithout(now, [...before, ...wanted]);
  return labelsWithout(kept, now).length + news.length === 0;
};

interface Place {
  hosted: HostedRepository;
  number: number;
}

const relabel = (place: Place, labels: readonly string[]): Promise<Pull> => {
  const { hosted, number } = place;
  const write = async (): Promise<Pull> => {
    await hosted.setLabels(number, () => labels);
    return afterDone(RELABELLED, () => hosted.pull(number));
  };
  // Between the same labels, there are these alone.
  return writePull(place, write, ({ labels: now }) => isBetween(now, labels, labels));
};

// The published body does not change: only an approved update may.
const retitle = (place: Place, title: string): Promise<Pull> =>
  writePull(
    place,
    () => place.hosted.updatePull(place.number, () => ({ title })),
    (now) => now.title === title,
  );
