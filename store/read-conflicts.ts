import { ConflictMatter } from './records/conflict.ts';
import { checkerOf, parsing } from './text/parse.ts';

export const checkConflict = checkerOf(ConflictMatter);

export const parseConflict = parsing(checkConflict);
