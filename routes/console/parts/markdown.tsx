import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { visible } from '../../../store/base/visible.ts';
import { type Block, blocksOf } from './markdown/blocks.ts';
import { endOfShownSource, SourceBlock, shownSource } from './markdown/source.tsx';
import { elementOf, type LinkResolver } from './markdown/tokens.tsx';

/**
 * Resolves links of a guide to pages of the console. Inside, Markdown is trusted: headings keep their level and get
 * anchors.
 */
export const GuideContext = createContext<LinkResolver>(undefined);

/** Renders untrusted Markdown. Nothing in it runs, loads or imitates the page, and no text is hidden. */
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

/** A rendered block; its source if rendering would hide a part of it. */
export const MarkdownBlock = ({ raw, token }: Pick<Block, 'raw' | 'token'>) => {
  const resolveLink = useContext(GuideContext);
  if (token === undefined) return <SourceBlock source={raw} />;
  const element = elementOf(token, resolveLink);
  const isWhole =
    resolveLink !== undefined || endOfShownSource(raw, shownSource(element)) !== undefined;
  if (!isWhole) return <SourceBlock source={raw} />;
  return <>{element}</>;
};
