/** What an error says, whoever threw it. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
