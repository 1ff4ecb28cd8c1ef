import type { GuideEntry } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Help } from '../parts/frames.tsx';
import { Markdown } from '../parts/markdown.tsx';

interface HelpShown {
  guides: GuideEntry[];
}

const View = ({ guides }: HelpShown) => (
  <Help tab="Guides">
    <h1>Guides</h1>
    <p class="quiet">
      The guides that <code>dossier help</code> prints in a terminal. <kbd>?</kbd> lists the
      keyboard shortcuts of a page.
    </p>
    <ul class="rows" aria-label="Guides">
      {guides.map((guide) => (
        <Row key={guide.topic} {...guide} />
      ))}
    </ul>
    {guides.length === 0 && (
      <div class="empty">
        <p>
          <strong>No guides are installed.</strong>
        </p>
        <p>They are part of the package. Install it again.</p>
      </div>
    )}
  </Help>
);

const Row = ({ topic, title, summary }: GuideEntry) => (
  <li class="row" data-row={topic} tabIndex={-1}>
    <a class="title" href={`/dashboard/help/${topic}`} data-key="o">
      {title}
    </a>
    <Markdown text={summary} />
  </li>
);

export const help = page<HelpShown>({
  title: () => 'Help',
  load: async (api) => ({ guides: await api.call('GET /guides') }),
  View,
  follows: false,
});
