import { Do } from '../do.tsx';

/** Takes a worktree away where nothing is lost by it, or keeps first what would be. */
export const RemoveWorktree = ({ case_id, attached }: { case_id: string; attached: boolean }) => {
  const call = `DELETE /api/cases/${case_id}/worktree`;
  return (
    <details>
      <summary data-key="x">{attached ? 'Let go…' : 'Remove…'}</summary>
      {attached ? (
        <Do call={call}>
          <p class="quiet">The directory stays as it is. The Work item has no worktree then.</p>
          <button type="submit">Let go of it</button>
        </Do>
      ) : (
        <div class="answers">
          <Do call={call}>
            <p class="quiet">
              Its branch stays. Refused while somebody is at work in it, and while it holds work
              that is nowhere else.
            </p>
            <button type="submit">Remove if nothing is lost</button>
          </Do>
          <Do call={`${call}?force=true`}>
            <p class="quiet">
              Uncommitted files and commits are kept first, and can be restored here. Ignored files,
              such as <code>.env</code> and what was built, are gone for good.
            </p>
            <button type="submit" class="danger">
              Keep its work, then remove
            </button>
          </Do>
        </div>
      )}
    </details>
  );
};
