import { IssueCopyMatter, LinkMatter } from '../records/link.ts';
import { SyncMatter } from '../records/sync.ts';
import { checkerOf, parsing } from '../text/parse.ts';

export const checkLink = checkerOf(LinkMatter);
export const checkIssueCopy = checkerOf(IssueCopyMatter);
export const checkSync = checkerOf(SyncMatter);

export const parseLink = parsing(checkLink);
export const parseIssueCopy = parsing(checkIssueCopy);
export const parseSync = parsing(checkSync);
