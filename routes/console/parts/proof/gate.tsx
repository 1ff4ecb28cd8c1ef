import type { Case, ProofGate } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';

interface GateProps {
  gate: ProofGate;
  state: Case['state'];
  /** How many proofs there are. */
  count: number;
}

/** The proof gate in a sentence. */
export const ProofGateLine = ({ gate: { satisfied, missing, stale }, state, count }: GateProps) => (
  <div class={satisfied ? 'box good' : 'box warn'}>
    <strong>{satisfied ? 'Proven.' : 'Not proven yet.'}</strong>{' '}
    {satisfied ? provenOf(state) : missingOf(missing, count)}
    {!satisfied && missing.length > 1 && (
      <ul class="missing">
        {missing.map(({ checklist_id, description }) => (
          <li key={checklist_id}>{visible(description)}</li>
        ))}
      </ul>
    )}
    {stale.length > 0 && (
      <p>
        {stale.length === 1 ? 'One verified proof is' : `${stale.length} verified proofs are`} of
        other work than what the worktree holds now. They still count.
      </p>
    )}
  </div>
);

const provenOf = (state: Case['state']): string =>
  state === 'RESOLVED'
    ? 'The Work item is resolved.'
    : 'All that is required has been verified: the Work item may be resolved.';

const missingOf = (missing: ProofGate['missing'], count: number): string => {
  const [first] = missing;
  if (missing.length > 1) return `${missing.length} things are missing:`;
  if (first?.checklist_id == null)
    return count === 0
      ? 'Nothing is asked for by a checklist: one verified proof is enough, and there is none.'
      : 'Nothing is asked for by a checklist: verify one of the proofs.';
  return `Missing: ${visible(first.description)}`;
};
