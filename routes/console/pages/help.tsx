import type { GuideEntry } from '../../../lib/client/client.ts';
import { definePage } from '../common/page.ts';
import { Empty } from '../parts/facts.tsx';
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
      <Empty title="No guides are installed.">
        <p>They are part of the package. Install it again.</p>
      </Empty>
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

export const page = definePage<HelpShown>({
  title: () => 'Help',
  load: async (api) => ({ guides: await api.call('GET /guides') }),
  View,
  follows: false,
});
