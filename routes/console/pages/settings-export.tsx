import type { Case } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Settings } from '../parts/frames.tsx';
import { Path } from '../parts/links.tsx';
import { Written } from '../parts/written.tsx';

interface Shown {
  workspace: string;
  /** How many Work items there are. */
  total: number;
  /** What is looked for among them, and what was found. */
  search: string;
  found: Pick<Case, 'id' | 'title'>[];
  isMore: boolean;
}

const STEP = 20;

const View = ({ workspace, total, ...items }: Shown) => (
  <Settings tab="Export">
    <section aria-labelledby="workspace">
      <h2 id="workspace">The workspace</h2>
      <p>
        All files as they are, in one zip archive with a manifest:{' '}
        {total === 1 ? '1 Work item' : `${total} Work items`} with sessions, plans, proofs and
        memory, the settings, and webhooks without their secrets.
      </p>
      <p>
        <a class="button primary" href="/api/export" download data-key="x">
          Download the workspace
        </a>
      </p>
      <NotInIt />
    </section>
    <OneItem {...items} />
    <section aria-labelledby="import">
      <h2 id="import">Bring it back</h2>
      <p>
        By the command line, while the daemon is stopped. <code>--dry-run</code> at its end says
        what would be done, and writes nothing.
      </p>
      <p>
        <Path
          name="the command"
          path={`dossier import export.zip --workspace ${quoted(workspace)}`}
        />
      </p>
      <p class="quiet">
        The archive is verified before a byte of it is taken. A Work item that is here and differs
        stops it before anything is written; <code>--keep-existing</code> leaves what is here as it
        is. What of it would run, open or send something waits for your trust.
      </p>
    </section>
  </Settings>
);

// For a shell, whatever the path holds.
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

const NotInIt = () => (
  <>
    <h3>Not in it</h3>
    <ul>
      <li>Secrets: those of webhooks and of the code host, and API keys.</li>
      <li>
        What is of this machine: <code>.dossier/</code> with worktrees, kept states and journal, and{' '}
        <code>.git/</code> of the workspace. Repositories are not part of it.
      </li>
      <li>
        Links, and files that cannot be read; <code>manifest.json</code> in the archive lists each
        under <code>skipped</code>.
      </li>
    </ul>
    <p class="quiet">
      Your browser shows how far the download is. One that broke off has no manifest, and no program
      opens it. Two exports run at once; a third is refused until one has ended.
    </p>
  </>
);

const OneItem = ({ search, found, isMore }: Pick<Shown, 'search' | 'found' | 'isMore'>) => (
  <section aria-labelledby="one">
    <h2 id="one">One Work item</h2>
    <form class="line grow">
      <input
        {...{ type: 'search', name: 'search', maxLength: 200, defaultValue: search }}
        aria-label="Search Work items"
        placeholder="Words of its title or text"
        data-key="/"
      />
      <button type="submit">Search</button>
    </form>
    {found.length === 0 ? (
      <p class="quiet">
        {search === '' ? 'There is none yet.' : 'None has these words. Try fewer of them.'}
      </p>
    ) : (
      <ul class="rows" aria-label="Work items">
        {found.map(({ id, title }) => (
          <li key={id} class="row" data-row={id} tabIndex={-1}>
            <div class="line apart">
              <a href={`/dashboard/cases/${id}`} data-key="o">
                <Written text={title} />
              </a>
              <a
                class="button small"
                href={`/cases/${id}/export`}
                download
                data-key="d"
                aria-label={`Download ${title}`}
              >
                Download
              </a>
            </div>
          </li>
        ))}
      </ul>
    )}
    {isMore && <p class="quiet">There are more. Search for the one you mean.</p>}
  </section>
);

/** How all of it, or a part, is taken elsewhere. */
export const settingsExport = page<Shown>({
  title: () => 'Export',
  load: async ({ call, request }, { query: { search: given = '' } }) => {
    const search = given.trim().slice(0, 200);
    const query = { order: 'newest', limit: STEP, fields: 'title' } as const;
    const [machine, all, found] = await Promise.all([
      call('GET /api/machine'),
      request('GET /cases', { query: { ...query, limit: 1 } }),
      request('GET /cases', { query: { ...query, ...(search !== '' && { search }) } }),
    ]);
    return {
      workspace: machine.workspace,
      total: Number(all.headers.get('x-total-count')),
      search,
      found: found.data as Shown['found'],
      isMore: found.headers.get('link') !== null,
    };
  },
  View,
  follows: ({ event_type }) => /^case_(?:created|deleted|updated)$/.test(event_type),
});
