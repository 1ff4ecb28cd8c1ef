/** `text` is a line from its first character on, without what it stands in. */
export const isHeading = (text: string): boolean => /^#{1,6}(?:[ \t]|$)/.test(text);

/** A line that makes a heading of the paragraph above it. */
export const isUnderline = (text: string): boolean => /^(?:=+|-+)[ \t]*$/.test(text);

export const isRuler = (text: string): boolean =>
  /^(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/.test(text);

/** The marks that open a code block; undefined where the line opens none. */
export const fenceMark = (text: string): string | undefined => {
  const mark = /^(?:`{3,}|~{3,})/.exec(text)?.[0];
  return mark?.startsWith('`') && text.includes('`', mark.length) ? undefined : mark;
};
