/** A word as a POSIX shell takes it for one: as it is where nothing in it means anything there, else in single quotes. */
export const shellQuoted = (word: string): string =>
  /^[\w./~+:@%-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
