import { Copy } from '../copy.tsx';
import { Written } from '../written.tsx';

/** Whose a worktree is, and where all of it is looked at. */
export const OfItem = ({ case_id, title }: { case_id: string; title: string | undefined }) => (
  <a class="title" href={`/dashboard/settings/worktrees/${case_id}`} data-key="o">
    {title === undefined ? `Work item ${case_id}, which is gone` : <Written text={title} />}
  </a>
);

/** What is checked out in it, and where it is. */
export const Branch = ({ branch, path }: { branch: string; path: string }) => (
  <p class="message quiet">
    <code>
      <Written text={branch} />
    </code>{' '}
    <Copy class="small" label="Copy path" name={`of ${branch}`} text={path} />
  </p>
);
