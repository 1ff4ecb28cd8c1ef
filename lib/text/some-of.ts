const MOST = 100;

/** Names for a sentence, those of very many left out and counted. */
export const someOf = (names: readonly string[]): string => {
  const more = names.length - MOST;
  return `${names.slice(0, MOST).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
};
