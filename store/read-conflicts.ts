import { ConflictMatter } from './records/conflict.ts';
import { parseFrontMatter } from './text/front-matter.ts';
import { checkerOf } from './text/parse.ts';

export const checkConflict = checkerOf(ConflictMatter);

export const parseConflict = (text: string): ConflictMatter => {
  const source = parseFrontMatter(text);
  return checkConflict(source.data, source);
};
