/** Who said yes, as it is kept with what was said: the operator, by the name of the API key where one was shown. */
export const saidBy = (key: { name: string } | undefined): string =>
  key === undefined ? 'operator' : `operator (key ${key.name})`;
