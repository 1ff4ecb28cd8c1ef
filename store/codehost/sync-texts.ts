import { parseSections, renderSections } from '../front-matter/body.ts';
import { storable } from '../front-matter/text.ts';

export const SIDES = ['base', 'here', 'host'] as const;
export type Side = (typeof SIDES)[number];

/** A description as it was in the last synced copy, here and on the host. */
export type SyncTexts = Partial<Record<Side, string>>;

/** The body of a sync's record: each text under a heading, between fences that nothing in it can end. */
export const renderTexts = (texts: SyncTexts): string => {
  const { base, ...others } = texts;
  const { host, ...ours } = others;
  const all = [texts, others, ours].map(sectionsOf);
  return storable(all.find((text) => Buffer.byteLength(text) <= MOST) ?? all.at(-1) ?? '');
};

// What does not fit into one record stands elsewhere: the base in issue.md, what is on the host there.
const MOST = 1_000_000;

const HEADING = 'Description, ';

const sectionsOf = (texts: SyncTexts): string =>
  renderSections(
    SIDES.flatMap((side) => {
      const text = texts[side];
      return text === undefined ? [] : [{ heading: `${HEADING}${side}`, text }];
    }),
  );

/** The texts of such a body. */
export const parseTexts = (body: string): SyncTexts => {
  const sections = parseSections(body);
  return Object.fromEntries(
    SIDES.flatMap((side) => {
      const found = sections.find(({ heading }) => heading === `${HEADING}${side}`);
      return found === undefined ? [] : [[side, found.text]];
    }),
  );
};
