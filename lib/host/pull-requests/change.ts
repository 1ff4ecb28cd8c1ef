import { isDeepStrictEqual } from 'node:util';
import { changePull, pullChanged, type StoredPull } from '../../../store/pulls/pulls.ts';
import type { Store } from '../../../store/store.ts';
import { checkTexts } from '../../work/cases/text.ts';
import { getPull, hostedFor, inPullTurn, type PullNeeds } from './current.ts';
import { recordPull, writeOnce } from './record.ts';

interface PullPatch {
  title?: string;
  labels?: string[];
  notes?: string;
}

/**
 * Changes what an operator may of a pull request: title and labels there and here, notes here alone. What the host, or an
 * approval, owns is none of it. With `ifMatch` only if the record is still the one that was read.
 */
export const patchPull = (
  service: PullNeeds,
  caseId: string,
  patch: PullPatch,
  ifMatch?: string,
): Promise<StoredPull> =>
  inPullTurn(service.store, caseId, async () => {
    const { title, labels, notes } = patch;
    checkTexts({ title, notes });
    const before = getPull(service.store, caseId);
    if (ifMatch !== undefined && ifMatch !== before.etag) throw pullChanged();
    if (notes !== undefined) await note(service.store, before, { notes, ifMatch });
    // Each is recorded when it is done: the next one may fail.
    if (labels !== undefined) await relabel(service, before, labels);
    if (title !== undefined) await retitle(service, before, title);
    return getPull(service.store, caseId);
  });

const note = async (
  store: Store,
  { case_id }: StoredPull,
  { notes, ifMatch }: { notes: string; ifMatch: string | undefined },
): Promise<void> => {
  await changePull(store, case_id, { changes: { notes } }, ifMatch);
};

const relabel = async (
  { codeHost, store }: PullNeeds,
  kept: StoredPull,
  labels: readonly string[],
): Promise<void> => {
  const hosted = hostedFor(codeHost, kept);
  const { number } = kept.matter;
  const pull = await writeOnce(
    async () => {
      await hosted.setLabels(number, labels);
      return hosted.pull(number);
    },
    async () => {
      const now = await hosted.pull(number);
      return isDeepStrictEqual(now.labels.toSorted(), labels.toSorted()) ? now : undefined;
    },
  );
  await recordPull(store, kept.case_id, { name: hosted.name, pull });
};

// The body stays as it is published: only an approved update changes that.
const retitle = async (
  { codeHost, store }: PullNeeds,
  kept: StoredPull,
  title: string,
): Promise<void> => {
  const hosted = hostedFor(codeHost, kept);
  const { number } = kept.matter;
  const pull = await writeOnce(
    () => hosted.updatePull(number, { title }),
    async () => {
      const now = await hosted.pull(number);
      return now.title === title ? now : undefined;
    },
  );
  await recordPull(store, kept.case_id, { name: hosted.name, pull });
};
