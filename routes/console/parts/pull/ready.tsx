import type { PullRequest, ReadyCheck } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';
import { Changes } from './none.tsx';

interface ReadyProps {
  pull: PullRequest;
  /** What was found when it was asked for just now. */
  ready: ReadyCheck | undefined;
}

/** What can be done with the pull request, and what is in the way of a review. */
export const PullReady = ({ pull: { case_id, state, proof_comment }, ready }: ReadyProps) => {
  const at = `/api/cases/${case_id}/pr`;
  if (state === 'closed' || state === 'merged') return null;
  return (
    <section aria-label="What can be done">
      {ready !== undefined && <Checks {...ready} />}
      <div class="answers">
        {state === 'draft' && (
          <Do call={`POST ${at}/mark-ready`}>
            <button type="submit" class="primary" data-key="a">
              Mark ready for review
            </button>
          </Do>
        )}
        <Do call={`POST ${at}/comment-proof`}>
          <button type="submit">
            {proof_comment === null ? 'Show the proof there' : 'Bring the proof there up to date'}
          </button>
        </Do>
        <details class="in-place push">
          <summary data-key="p">Push</summary>
          <Do call={`POST ${at}/push`} class="fields below">
            <Changes />
            <button type="submit">Push what the branch has now</button>
          </Do>
        </details>
      </div>
    </section>
  );
};

const Checks = ({ ready, checks }: ReadyCheck) => (
  <div class={ready ? 'box good' : 'box warn'}>
    <strong>{ready ? 'It may be marked ready.' : 'In the way of a review:'}</strong>
    <ul class="ready">
      {checks
        .filter(({ ok }) => !ok)
        .map(({ name, detail }) => (
          <li key={name}>{visible(detail)}</li>
        ))}
    </ul>
  </div>
);
