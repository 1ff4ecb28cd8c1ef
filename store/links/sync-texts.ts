import { storable } from '../text/storable.ts';

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

const sectionsOf = (texts: SyncTexts): string =>
  SIDES.map((side) => (texts[side] === undefined ? '' : sectionOf(side, texts[side]))).join('');

const sectionOf = (side: Side, text: string): string => {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(runs.reduce((longest, { length }) => Math.max(longest, length + 1), 3));
  return `\n## Description, ${side}\n\n${fence}markdown\n${text}\n${fence}\n`;
};

const SECTION = /^## Description, (base|here|host)\n\n(`{3,})markdown\n/gm;

/** The texts of such a body. */
export const parseTexts = (body: string): SyncTexts => {
  const lines = body.replaceAll('\r\n', '\n');
  const pattern = new RegExp(SECTION);
  const texts: SyncTexts = {};
  for (let found = pattern.exec(lines); found !== null; found = pattern.exec(lines)) {
    const [, side, fence] = found as unknown as [string, Side, string];
    const end = lines.indexOf(`\n${fence}\n`, pattern.lastIndex - 1);
    if (end < 0) break;
    texts[side] = lines.slice(pattern.lastIndex, end);
    pattern.lastIndex = end;
  }
  return texts;
};
