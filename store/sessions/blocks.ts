import { readOurs, saveOurs } from '../consent/seal.ts';
import { checkedBy } from '../front-matter/record-file.ts';
import type { Layout } from '../layout.ts';
import type { Session } from '../records/session.ts';
import { Blocks } from '../records/told.ts';
import { blocksFile } from './told.ts';

/**
 * How far the runbook is with the approved plan of a session; undefined before the approval, and for another provider. The
 * session's stream does not decide this: a block that git or an editor calls completed there would be skipped. Throws
 * `unreadable_record` for a record that this machine did not write.
 */
export const findBlocks = (
  layout: Layout,
  { id, approved_sha256 }: Session,
): Blocks | undefined => {
  const found = readOurs(layout, blocksFile(layout, id), (value) => checkedBy(Blocks, value));
  return found?.approved_sha256 === approved_sha256 ? found : undefined;
};

/** On disk when the promise resolves. */
export const saveBlocks = (
  layout: Layout,
  { id, approved_sha256 }: Session,
  done: readonly string[],
  begun?: string,
): Promise<void> =>
  saveOurs(layout, blocksFile(layout, id), {
    approved_sha256,
    done,
    ...(begun !== undefined && { begun }),
  });
