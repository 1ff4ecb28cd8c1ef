import { type Static, Type } from 'typebox';

const about = {
  topic: Type.String({ description: 'Its title, as a word' }),
  title: Type.String(),
  summary: Type.String({ description: 'Its first line: what it is about' }),
  path: Type.String({ description: 'Where it lies, from which its links lead on' }),
};

/** A text for operators, without the text. */
export const GuideEntry = Type.Object(about, { $id: 'GuideEntry' });
export type GuideEntry = Static<typeof GuideEntry>;

export const Guide = Type.Object(
  { ...about, text: Type.String({ description: 'Markdown' }) },
  { $id: 'Guide' },
);
export type Guide = Static<typeof Guide>;
