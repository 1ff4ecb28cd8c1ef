/** A text on one line: what separates words is one blank each. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
