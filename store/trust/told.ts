import { type Place, Problem } from '../text/problem.ts';

export const TRUST_NEEDED = 'trust_needed';

const SHOWN = 8;

/** What is told of a file in which something waits for the operator's word. */
export const waitsForTrust = (keys: readonly string[], place?: Place): Problem => {
  const more = keys.length > SHOWN ? ` and ${keys.length - SHOWN} more` : '';
  const what = `${keys.slice(0, SHOWN).map(plain).join(', ')}${more}`;
  const verb = keys.length === 1 ? 'waits' : 'wait';
  return new Problem(
    TRUST_NEEDED,
    `${what} ${verb} until you say on this machine that it may hold: run dossier trust`,
    place,
  );
};

/** A name that came in a file, with what a terminal would obey, or show otherwise than it is, written out. */
export const plain = (name: string): string =>
  name.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
