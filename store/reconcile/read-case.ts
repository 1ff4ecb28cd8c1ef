import { randomUUID } from 'node:crypto';
import {
  lackingIn,
  parseFrontMatter,
  splitFrontMatter,
  textOfBody,
} from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import { CaseMatter } from '../records/case.ts';

/** A parsed case.md. `adopt` has the fields that a hand-made file lacks. */
export interface CaseFile {
  matter: CaseMatter;
  description: string;
  /** Instead of the description, in a record from the journal. */
  description_sha256?: string;
  adopt?: MatterChanges;
}

const check = checkerOf(CaseMatter);

export const parseCase = (text: string): CaseFile => {
  const source = parseFrontMatter(text);
  const adopt = source.data.title === undefined ? {} : lackingIn(source.data, defaults());
  const matter = check(ownTexts({ ...source.data, ...adopt }), source);
  const description = ownText(textOfBody(source));
  return Object.keys(adopt).length === 0 ? { matter, description } : { matter, description, adopt };
};

/** The description alone, for a file with known front matter. */
export const descriptionIn = (text: string): string => ownText(textOfBody(splitFrontMatter(text)));

// A substring keeps its whole source text in memory in V8; the copy does not.
const ownText = (piece: string): string => JSON.parse(JSON.stringify(piece)) as string;

const ownTexts = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      typeof value === 'string' ? ownText(value) : value,
    ]),
  );

const defaults = (): MatterChanges => ({
  id: randomUUID(),
  type: 'task',
  state: 'OPEN',
  created_at: new Date().toISOString(),
});
