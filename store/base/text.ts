/** Puts text into a Markdown code block that nothing inside it can end: its fence is longer than any in the text. */
export const fenceOff = (text: string, info: string): string => {
  const fence = fenceFor(text);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return `${fence}${info}\n${text}${end}${fence}`;
};

/** A fence that is longer than any in the text. */
export const fenceFor = (text: string): string => {
  const runs = text.match(/`{3,}/g) ?? [];
  return '`'.repeat(runs.reduce((longest, { length }) => Math.max(longest, length + 1), 3));
};

/** A word as a POSIX shell takes it for one: as it is where nothing in it means anything there, else in single quotes. */
export const shellQuoted = (word: string): string =>
  /^[\w./~+:@%-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
