import type { ConflictFile } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { PullDiff } from '../pull/diff.tsx';

interface FilesProps {
  /** Of the Work item. */
  id: string;
  files: readonly ConflictFile[];
  diff: string;
  /** The path of the one that is looked at. */
  chosen: string | undefined;
}

/** The files in conflict. */
export const ConflictFiles = ({ id, files, diff, chosen }: FilesProps) => (
  <>
    <h2>{files.length === 1 ? 'One file in conflict' : `${files.length} files in conflict`}</h2>
    {files.length === 0 && <p class="quiet">All are staged. Go on with the rebase.</p>}
    <ul class="rows">
      {files.map(({ path, kind }) => (
        <li key={path} class="row" data-row={path} tabIndex={-1}>
          <div class="head">
            <a
              class="title"
              href={`/dashboard/cases/${id}/conflicts?file=${encodeURIComponent(path)}`}
              data-key="o"
              {...(path === chosen && { 'aria-current': 'true' as const })}
            >
              <code>{visible(path)}</code>
            </a>
            <span class="tag conflict">{KINDS[kind]}</span>
          </div>
        </li>
      ))}
    </ul>
    {diff !== '' && (
      <details class="in-place">
        <summary data-key="f">The difference of all of them, as git tells it</summary>
        <PullDiff diff={diff} />
      </details>
    )}
  </>
);

const KINDS: Readonly<Record<ConflictFile['kind'], string>> = {
  both_modified: 'changed on both sides',
  both_added: 'added on both sides',
  deleted_in_base: 'deleted in the base',
  deleted_in_branch: 'deleted in the branch',
  renamed: 'renamed',
  binary: 'no text',
  mode: 'other mode',
  submodule: 'submodule',
};
