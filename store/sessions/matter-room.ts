import { MAX_YAML } from '../front-matter/front-matter.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';

// For what a session adds until its end: the commit, failed commands, usage.
const RESERVED = 16_384;

/**
 * How many characters too long the front matter of session.md would be, with room for the end of the session; 0 if it
 * fits. YAML escapes invisible characters, so a text can take more characters than it has.
 */
export const charactersOver = (matter: Record<string, unknown>): number =>
  Math.max(0, renderFrontMatter(matter, '').length - (MAX_YAML - RESERVED));
