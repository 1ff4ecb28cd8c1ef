import { orProblem } from '../../common/load.ts';
import type { Api } from '../../common/page.ts';
import { Command } from '../links.tsx';

/** Whether the project of a Work item has a repository on a code host; true where that cannot be told. */
export const hasCodeHost = async ({ call }: Api, id: string): Promise<boolean> => {
  const { value } = await orProblem(
    call('GET /api/cases/{id}/github', { id, query: { hosted: true } }),
  );
  return value?.hosted !== false;
};

/** The command that merges a Work item's branch: the daemon never merges. */
export const MergeCommand = ({ id }: { id: string }) => (
  <Command words={`merge ${id.slice(0, 8)}`} />
);

/** The page without a code host. */
export const NoHost = ({ id, isMerged }: { id: string; isMerged: boolean }) => (
  <div class="box">
    <p>
      <strong>No remote of the project is on a code host,</strong> so there are no pull requests.
      Once one is added with git, this page opens them.
    </p>
    {isMerged ? (
      <p>The branch is merged.</p>
    ) : (
      <p>
        To merge the branch, run this in a shell: <MergeCommand id={id} />
      </p>
    )}
  </div>
);
