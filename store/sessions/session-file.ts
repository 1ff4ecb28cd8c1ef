import { sessionDirName, shortId } from '../base/names.ts';
import { type FrontMatter, MAX_YAML } from '../front-matter/front-matter.ts';
import { checkerOf, parserWith, positionOf } from '../front-matter/parse.ts';
import { Problem } from '../front-matter/problem.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { SessionMatter } from '../records/session.ts';

const check = checkerOf(SessionMatter);

/** Checks the front matter of session.md in a directory of this name, by which the session is found. Throws a Problem. */
export const checkSessionIn =
  (name: string) =>
  (data: unknown, source: FrontMatter): SessionMatter => {
    const matter = check(data, source);
    const { id, created_at } = matter;
    if (name.endsWith(shortId(id))) return matter;
    throw new Problem(
      'wrong_id',
      `The directory ${name} is not that of the session ${id}. Restore the id, or rename the directory to ${sessionDirName(created_at, id)}`,
      positionOf(source, 'id'),
    );
  };

/** The same for its text. */
export const parseSessionIn = (name: string): ((text: string) => SessionMatter) =>
  parserWith(checkSessionIn(name));

// For what a session adds until its end: the commit, failed commands, usage.
const RESERVED = 16_384;

/**
 * How many characters too long the front matter of session.md would be, with room for the end of the session; 0 if it
 * fits. YAML escapes invisible characters, so a text can take more characters than it has.
 */
export const charactersOver = (matter: Record<string, unknown>): number =>
  Math.max(0, renderFrontMatter(matter, '').length - (MAX_YAML - RESERVED));
