import type { IssueLinkMatter } from '../../../store/records/link.ts';
import { imagesIn } from './images.ts';
import { linksIn, mentionsIn } from './named.ts';

/**
 * What an issue's text leads to, by whole addresses, each once: its links, and the issues and pull requests that it names.
 * Its images are not among them.
 */
export const linkedIn = (
  text: string,
  { host = 'github.com', repository }: Pick<IssueLinkMatter, 'host' | 'repository'>,
): string[] => {
  const images = new Set(imagesIn(text));
  const links = linksIn(text).map(({ url }) => url);
  const named = mentionsIn(text).map(
    (mention) =>
      `https://${host}/${mention.repository ?? repository}/${mention.kind === 'pull' ? 'pull' : 'issues'}/${mention.number}`,
  );
  return [...new Set([...links, ...named])]
    .filter((url) => SEEN.test(url) && !images.has(url))
    .slice(0, MOST);
};

const MOST = 50;
// An address holds nothing that is not seen.
const SEEN = /^[!-~]+$/;
