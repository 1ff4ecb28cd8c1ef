import { randomUUID } from 'node:crypto';
import { CaseMatter } from '../records/case.ts';
import { lackingIn, parseFrontMatter, splitFrontMatter, textOfBody } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';
import type { MatterChanges } from '../text/splice.ts';

/** case.md, read. `adopt` is what a file made by hand lacks, to be added to it. */
export interface CaseFile {
  matter: CaseMatter;
  description: string;
  /** Where the description itself is not known any more. */
  description_sha256?: string;
  adopt?: MatterChanges;
}

const check = checkerOf(CaseMatter);

export const parseCase = (text: string): CaseFile => {
  const source = parseFrontMatter(text);
  const adopt = source.data.title === undefined ? {} : lackingIn(source.data, defaults());
  const matter = check({ ...source.data, ...adopt }, source);
  const description = textOfBody(source);
  return Object.keys(adopt).length === 0 ? { matter, description } : { matter, description, adopt };
};

/** The description alone, where the front matter is known already. */
export const descriptionIn = (text: string): string => textOfBody(splitFrontMatter(text));

const defaults = (): MatterChanges => ({
  ...{ id: randomUUID(), type: 'task', state: 'OPEN' },
  created_at: new Date().toISOString(),
});
