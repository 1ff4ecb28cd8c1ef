import { visible } from '../../../base/visible.ts';
import type { Case, CaseUsage } from '../../../lib/client/client.ts';
import { Used } from './case-kept.tsx';
import { Do } from './do.tsx';
import { Since } from './since.tsx';

/** What is known of a Work item beside its text. */
export const Facts = ({ of: item, usage }: { of: Case; usage: CaseUsage }) => (
  <dl class="facts">
    {item.outcome !== null && (
      <>
        <dt>Outcome</dt>
        <dd>{item.outcome}</dd>
      </>
    )}
    <dt>Project</dt>
    <dd>{visible(item.project)}</dd>
    <dt>Made</dt>
    <dd>
      <Since at={item.created_at} />
    </dd>
    <dt>Changed</dt>
    <dd>
      <Since at={item.updated_at} />
    </dd>
    <dt>Files</dt>
    <dd>
      <code>{visible(item.path)}</code>
    </dd>
    <Used of={usage} />
  </dl>
);

/** What is wrong with its files, and where. */
export const Problems = ({ of: { problems = [] } }: { of: Case }) => (
  <>
    {problems.map(({ file, code, message, line }) => (
      <div key={`${file} ${code} ${message}`} class="box warn">
        <p>{visible(message)}</p>
        <code class="quiet">{visible(line === undefined ? file : `${file}:${line}`)}</code>
      </div>
    ))}
  </>
);

/** Takes it away for good. To open it is the question, to press the button the answer. */
export const Delete = ({ of: { id }, etag }: { of: Case; etag: string | undefined }) => (
  <details class="edit delete">
    <summary>Delete…</summary>
    <p class="quiet">
      It goes with its sessions, proofs and worktree; there is no way back. What it has on the code
      host stays.
    </p>
    <Do call={`DELETE /cases/${id}`} if_match={etag} then="/dashboard/board">
      <button type="submit" class="danger">
        Delete it now
      </button>
    </Do>
    <p class="quiet">Where its worktree holds work that is nowhere else, that is refused.</p>
    <Do call={`DELETE /cases/${id}?force=true`} if_match={etag} then="/dashboard/board">
      <button type="submit">Delete it, and keep that work under a recovery ref</button>
    </Do>
  </details>
);
