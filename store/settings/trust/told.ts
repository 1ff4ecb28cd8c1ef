import { shellQuoted } from '../../base/text.ts';
import { visible } from '../../base/visible.ts';
import { Problem, type TextPosition } from '../../front-matter/problem.ts';
import type { Layout } from '../../layout.ts';

export const TRUST_NEEDED = 'trust_needed';

const SHOWN = 8;

/** The command that shows what waits, and asks, as a shell takes it. */
export const trustCommandFor = ({ root }: Pick<Layout, 'root'>): string =>
  `dossier trust --workspace ${shellQuoted(root)}`;

/** What is told of a file in which something waits for the operator's word. */
export const waitsForTrust = (
  layout: Pick<Layout, 'root'>,
  keys: readonly string[],
  place?: TextPosition,
): Problem => {
  const more = keys.length > SHOWN ? ` and ${keys.length - SHOWN} more` : '';
  const what = `${keys.slice(0, SHOWN).map(plain).join(', ')}${more}`;
  const verb = keys.length === 1 ? 'waits' : 'wait';
  return new Problem(
    TRUST_NEEDED,
    `${what} ${verb} until you say on this machine that it may hold: run ${trustCommandFor(layout)}`,
    place,
  );
};

/** A name that came in a file, on one line, with what a terminal would obey, or show otherwise than it is, made visible. */
export const plain = (name: string): string =>
  visible(name).replaceAll('\n', '␊').replaceAll('\t', '␉');
