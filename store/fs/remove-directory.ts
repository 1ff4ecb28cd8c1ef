import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { recordIfUncertain, notePlaced, noteTakenBack } from '../base/write-stage.ts';
import type { Layout } from '../layout.ts';
import { beside, hasCode, syncIfThere } from './durable.ts';
import { lasting } from './late.ts';
import { assertNoLinks } from './plain-path.ts';

/**
 * Takes a directory out of the tree by one rename into the trash; what is removed later is never half there. It is looked
 * at before, and again once nobody else can reach it: what is not meant stays, or goes back, and this answers undefined.
 */
export const removeDirectory = async (
  layout: Layout,
  target: string,
  isMeant: (taken: string) => boolean = () => true,
): Promise<string | undefined> => {
  assertNoLinks(layout.root, dirname(target));
  if (!isMeant(target)) return undefined;
  // Not named after it: the name may be as long as names can be.
  const trash = recordIfUncertain(target, () => takeAway(target, join(layout.trash, randomUUID())));
  const wasMade = notePlaced(target) === 'again';
  let isTaken = false;
  try {
    isTaken = isMeant(trash);
  } finally {
    if (!isTaken) putBack(trash, target);
  }
  await lasting(syncIfThere(dirname(target)));
  if (wasMade || !isTaken) noteTakenBack(target);
  return isTaken ? trash : undefined;
};

const takeAway = (target: string, trash: string): string => {
  try {
    renameSync(target, trash);
    return trash;
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
  }
  const hidden = beside(target);
  renameSync(target, hidden);
  return hidden;
};

// Where another one was made in these microseconds, it is put beside that.
const putBack = (taken: string, target: string): void => {
  try {
    renameSync(taken, target);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) throw error;
    renameSync(taken, `${target}-${randomUUID().slice(0, 8)}`);
  }
};
