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
      The same as <code>dossier help</code> shows in a terminal. <kbd>?</kbd> lists the keys of any
      page.
    </p>
    <ul class="rows" aria-label="Guides">
      {guides.map((guide) => (
        <Row key={guide.topic} {...guide} />
      ))}
    </ul>
    {guides.length === 0 && (
      <div class="empty">
        <p>
          <strong>The guides are not here.</strong>
        </p>
        <p>They are part of the package, beside the program.</p>
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
