import { isDeepStrictEqual } from 'node:util';
import {
  changePull,
  pullPreconditionFailed,
  type StoredPull,
} from '../../../store/codehost/pulls.ts';
import type { PullPatch } from '../../../store/records/pull-call.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import type { HostedRepository, Pull } from '../../codehost/code-host.ts';
import { checkTexts } from '../../work/cases/text.ts';
import { hostedToWrite } from './own-pull.ts';
import { getPull, recordPull, underPullLock, writePull } from './record.ts';

/**
 * Changes the title and labels on the host and here, and the notes here. Fields of the host, or of an approval, cannot
 * be changed. With `ifMatch`, only if the record has not changed since.
 */
export const patchPull = (
  service: HostedNeeds,
  caseId: string,
  patch: PullPatch,
  ifMatch?: string,
): Promise<StoredPull> =>
  underPullLock(service.store, caseId, async () => {
    const { store } = service;
    const { title, labels, notes } = patch;
    checkTexts({ title, notes });
    const before = getPull(store, caseId);
    if (ifMatch !== undefined && ifMatch !== before.etag) throw pullPreconditionFailed();
    if (notes !== undefined) await changePull(store, caseId, { changes: { notes } }, ifMatch);
    if (labels !== undefined || title !== undefined) await changeThere(service, before, patch);
    return getPull(store, caseId);
  });

const changeThere = async (
  service: HostedNeeds,
  before: StoredPull,
  { title, labels }: PullPatch,
): Promise<void> => {
  const hosted = await hostedToWrite(service, before);
  const place = { hosted, number: before.matter.number };
  const record = (pull: Pull) =>
    recordPull(service.store, before.case_id, { name: hosted.name, pull });
  // Each change is recorded at once, because the next one may fail.
  if (labels !== undefined) await record(await relabel(place, labels));
  if (title !== undefined) await record(await retitle(place, title));
};

interface Place {
  hosted: HostedRepository;
  number: number;
}

const relabel = (place: Place, labels: readonly string[]): Promise<Pull> => {
  const { hosted, number } = place;
  const write = async (): Promise<Pull> => {
    await hosted.setLabels(number, labels);
    return hosted.pull(number);
  };
  return writePull(place, write, (now) =>
    isDeepStrictEqual(now.labels.toSorted(), labels.toSorted()),
  );
};

// The published body does not change: only an approved update may.
const retitle = (place: Place, title: string): Promise<Pull> =>
  writePull(
    place,
    () => place.hosted.updatePull(place.number, () => ({ title })),
    (now) => now.title === title,
  );
