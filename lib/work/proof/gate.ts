import {
  caseOf,
  caseStateOf,
  type Item,
  proofGateOf,
  proofsOf,
} from '../../../store/items/item.ts';
import type { MatterChanges } from '../../../store/text/splice.ts';
import { moveTo } from '../cases/moves.ts';

/**
 * What follows from a Work item's records, whoever wrote them: once its gate is satisfied, one that is VERIFYING is
 * RESOLVED.
 */
export const followUp = (item: Item): MatterChanges | undefined => {
  if (caseStateOf(item) !== 'VERIFYING' || !proofGateOf(item).satisfied) return undefined;
  // A proof by hand is told, and what it lacks written, before anything follows from it.
  if (proofsOf(item).some(({ file }) => file.adopt !== undefined)) return undefined;
  const { outcome = null } = caseOf(item).matter;
  return { ...moveTo({ state: 'VERIFYING', outcome }, 'RESOLVED') };
};
