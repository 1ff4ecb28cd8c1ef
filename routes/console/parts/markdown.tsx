import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { visible } from '../../../store/base/visible.ts';
import { type Block, blocksOf } from './markdown/blocks.ts';
import { endOfShown, Source, shownOf } from './markdown/source.tsx';
import { elementOf, type OursOf } from './markdown/tokens.tsx';

/**
 * A text of our own, which is all of a page: its headings are the page's, links lead to them, and to where this says that a link
 * of it leads in the console.
 */
export const Ours = createContext<OursOf>(undefined);

/**
 * A Markdown text that anybody may have written: nothing in it runs, loads, or looks like a part of the page, and all of it
 * is in sight.
 */
export const Markdown = ({ text }: { text: string }) => {
  const blocks = blocksOf(text);
  if (blocks === undefined) return <pre class="as-written">{visible(text)}</pre>;
  return (
    <div class="markdown">
      {blocks.map((block) => (
        <MarkdownBlock key={block.line} {...block} />
      ))}
    </div>
  );
};

/** A block as it is rendered; as source where the rendered one would not show all that it says. */
export const MarkdownBlock = ({ raw, token }: Pick<Block, 'raw' | 'token'>) => {
  const ours = useContext(Ours);
  if (token === undefined) return <Source source={raw} />;
  const element = elementOf(token, ours);
  const isWhole = ours !== undefined || endOfShown(raw, shownOf(element)) !== undefined;
  if (!isWhole) return <Source source={raw} />;
  return <>{element}</>;
};
