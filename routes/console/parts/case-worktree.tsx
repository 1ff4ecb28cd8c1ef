import { useEffect, useState } from 'preact/hooks';
import { visible } from '../../../base/visible.ts';
import type { Data } from '../../../lib/client/client.ts';

export type WorktreeStatus = Data<'GET /api/worktrees/{case_id}/status'>;

/** Where a Work item's files are worked on, for a hand to go there. */
export const WorktreePlace = ({ of }: { of: WorktreeStatus }) => {
  const { path, branch, status, detail, files = [] } = of;
  return (
    <section aria-label="Worktree">
      <h2>Worktree</h2>
      <dl class="facts">
        <dt>Branch</dt>
        <dd>
          <code>{visible(branch)}</code>
        </dd>
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
        <CopyPath path={path} />
        <OpenInEditor path={path} />
      </p>
    </section>
  );
};

/** Puts a path where the operator can paste it; not there without scripts. */
export const CopyPath = ({ path }: { path: string }) => {
  const [said, setSaid] = useState<string>();
  useEffect(() => setSaid('Copy path'), []);
  if (said === undefined) return null;
  const copy = () =>
    void navigator.clipboard.writeText(path).then(
      () => setSaid('Copied'),
      () => setSaid('Not allowed'),
    );
  return (
    <button type="button" onClick={copy} data-key="y">
      {said}
    </button>
  );
};

/** Opens a directory or a file, by its absolute path, in the editor that answers to such links. */
export const OpenInEditor = ({ path }: { path: string }) =>
  // Whatever turns it round or cannot be seen is no path that one opens by a link.
  path.startsWith('/') && visible(path) === path ? (
    <a class="button" href={`vscode://file${path.split('/').map(encodeURIComponent).join('/')}`}>
      Open in my editor
    </a>
  ) : null;
