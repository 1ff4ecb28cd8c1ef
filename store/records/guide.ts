import { type Static, Type } from 'typebox';

const about = {
  topic: Type.String({ description: 'The title as one word' }),
  title: Type.String(),
  summary: Type.String({ description: 'The first line' }),
  path: Type.String({ description: 'The path of the file, to which its links are relative' }),
};

/** A guide without its text. */
export const GuideEntry = Type.Object(about, { $id: 'GuideEntry' });
export type GuideEntry = Static<typeof GuideEntry>;

export const Guide = Type.Object(
  { ...about, text: Type.String({ description: 'Markdown' }) },
  { $id: 'Guide' },
);
export type Guide = Static<typeof Guide>;
