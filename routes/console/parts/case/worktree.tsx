import type { Data } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Copy, OpenInEditor } from '../copy.tsx';

export type WorktreeStatus = Data<'GET /api/worktrees/{case_id}/status'>;

/** Where a Work item's files are worked on, for a hand to go there. */
export const WorktreePlace = ({ of }: { of: WorktreeStatus }) => {
  const { path, branch, base, base_commit, base_notes = [], status, detail, files = [] } = of;
  return (
    <section aria-label="Worktree">
      <h2>Worktree</h2>
      <dl class="facts">
        <dt>Branch</dt>
        <dd>
          <code>{visible(branch)}</code>
        </dd>
        <dt>Based on</dt>
        <dd>{visible([`${base} (${base_commit.slice(0, 7)}).`, ...base_notes].join(' '))}</dd>
        <dt>Path</dt>
        <dd>
          <code>{visible(path)}</code>
        </dd>
        {files.length > 0 && (
          <>
            <dt>Not committed</dt>
            <dd>{files.length === 1 ? '1 file' : `${files.length} files`}</dd>
          </>
        )}
      </dl>
      {status !== 'ok' && <p class="box warn">{detail ?? `The worktree is ${status}.`}</p>}
      <p class="line">
        <Copy text={path} label="Copy path" keys="y" />
        <OpenInEditor root={path} class="button" />
      </p>
    </section>
  );
};
