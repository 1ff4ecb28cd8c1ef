import type { Case } from '../../../lib/client/client.ts';
import { counted } from '../../../lib/text/wording.ts';
import { visible } from '../../../store/base/visible.ts';
import { definePage } from '../common/page.ts';
import { Section } from '../parts/facts.tsx';
import { Settings } from '../parts/frames.tsx';
import { Command } from '../parts/links.tsx';

interface Shown {
  /** The number of all Work items. */
  total: number;
  /** The search, and its results. */
  search: string;
  found: Pick<Case, 'id' | 'title'>[];
  isMore: boolean;
}

const STEP = 20;

const View = ({ total, ...items }: Shown) => (
  <Settings tab="Export">
    <Section id="workspace" title="Workspace">
      <p>
        All files in a zip archive with a manifest: {counted(total, 'Work item')} with sessions,
        plans, proofs and memory, the settings, and webhooks without their secrets.
      </p>
      <p>
        <a class="button primary" href="/api/export" download data-key="x">
          Download workspace
        </a>
      </p>
      <Excluded />
    </Section>
    <ItemExports {...items} />
    <Section id="import" title="Import">
      <p>
        Run this command while the daemon is stopped. <code>--dry-run</code> prints what would be
        imported and writes nothing.
      </p>
      <p>
        <Command words="import export.zip" />
      </p>
      <p class="quiet">
        The archive is verified first. If a Work item already exists with other content, nothing is
        imported; <code>--keep-existing</code> keeps existing Work items. Imported settings that
        would run, open or send something need your trust.
      </p>
    </Section>
  </Settings>
);

const Excluded = () => (
  <>
    <h3>Not included</h3>
    <ul>
      <li>Secrets of webhooks and of the code host, and API keys.</li>
      <li>
        Data of this machine: <code>.dossier/</code> with worktrees, recoveries and journal, and{' '}
        <code>.git/</code> of the workspace. Repositories are not included.
      </li>
      <li>
        Symbolic links and unreadable files; <code>manifest.json</code> in the archive lists each
        under <code>skipped</code>.
      </li>
    </ul>
    <p class="quiet">
      An interrupted download has no manifest and cannot be opened. Two exports can run at a time; a
      third is refused.
    </p>
  </>
);

const ItemExports = ({ search, found, isMore }: Pick<Shown, 'search' | 'found' | 'isMore'>) => (
  <Section id="one" title="Single Work item">
    <form class="line grow">
      <input
        type="search"
        name="search"
        maxLength={200}
        defaultValue={search}
        aria-label="Search Work items"
        placeholder="Words of the title or description"
        data-key="/"
      />
      <button type="submit">Search</button>
    </form>
    {found.length === 0 ? (
      <p class="quiet">
        {search === '' ? 'No Work items.' : 'No Work item has these words. Try fewer words.'}
      </p>
    ) : (
      <ul class="rows" aria-label="Work items">
        {found.map(({ id, title }) => (
          <li key={id} class="row" data-row={id} tabIndex={-1}>
            <div class="line apart">
              <a href={`/dashboard/cases/${id}`} data-key="o">
                {visible(title)}
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
    {isMore && <p class="quiet">There are more. Search for the one you want.</p>}
  </Section>
);

/** Exports of the workspace and of single Work items. */
export const page = definePage<Shown>({
  title: () => 'Export',
  load: async ({ request }, { query: { search: given = '' } }) => {
    const search = given.trim().slice(0, 200);
    const query = { order: 'newest', limit: STEP, fields: 'title' } as const;
    const [all, found] = await Promise.all([
      request('GET /cases', { query: { ...query, limit: 1 } }),
      request('GET /cases', { query: { ...query, ...(search !== '' && { search }) } }),
    ]);
    return {
      total: Number(all.headers.get('x-total-count')),
      search,
      found: found.data as Shown['found'],
      isMore: found.headers.get('link') !== null,
    };
  },
  View,
  follows: ({ event_type }) => /^case_(?:created|deleted|updated)$/.test(event_type),
});
