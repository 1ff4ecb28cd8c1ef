import { IssueCopyMatter, LinkMatter } from '../records/link.ts';
import { SyncMatter } from '../records/sync.ts';
import { parseFrontMatter } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';

export const checkLink = checkerOf(LinkMatter);
export const checkIssueCopy = checkerOf(IssueCopyMatter);
export const checkSync = checkerOf(SyncMatter);

const parsing =
  <T>(check: (data: unknown, source: ReturnType<typeof parseFrontMatter>) => T) =>
  (text: string): T => {
    const source = parseFrontMatter(text);
    return check(source.data, source);
  };

export const parseLink = parsing(checkLink);
export const parseIssueCopy = parsing(checkIssueCopy);
export const parseSync = parsing(checkSync);
