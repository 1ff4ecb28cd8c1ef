import type { Guide, GuideEntry } from '../../../lib/client/client.ts';
import { definePage } from '../common/page.ts';
import { Help } from '../parts/frames.tsx';
import { GuideContext, Markdown } from '../parts/markdown.tsx';

interface GuideShown {
  guide: Guide;
  guides: GuideEntry[];
}

const View = ({ guide, guides }: GuideShown) => (
  <Help tab="Guides">
    <div class="guide">
      <nav aria-label="Guides">
        {guides.map(({ topic, title, summary }) => (
          <a
            key={topic}
            class="way"
            href={`/dashboard/help/${topic}`}
            title={summary}
            {...(topic === guide.topic && { 'aria-current': 'page' as const })}
          >
            {title}
          </a>
        ))}
      </nav>
      <GuideContext.Provider value={(href) => addressOf(href, { guide, guides })}>
        <Markdown text={guide.text} />
      </GuideContext.Provider>
    </div>
  </Help>
);

/** The console's address for a link between guides; undefined for other links. */
const addressOf = (href: string, { guide, guides }: GuideShown): string | undefined => {
  if (href.startsWith('#')) return href;
  // Resolved against the root, so that no link leads out of it.
  const { protocol, pathname, hash } = new URL(href, `file:///${guide.path}`);
  if (protocol !== 'file:') return undefined;
  const meant = guides.find(({ path }) => `/${path}` === pathname);
  return meant && `/dashboard/help/${meant.topic}${hash}`;
};

export const page = definePage<GuideShown>({
  title: ({ guide }) => guide.title,
  load: async (api, { params }) => {
    const [guide, guides] = await Promise.all([
      api.call('GET /guides/{topic}', { topic: params.topic ?? '' }),
      api.call('GET /guides'),
    ]);
    return { guide, guides };
  },
  View,
  follows: false,
});
