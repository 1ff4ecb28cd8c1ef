/** Whoever has programs in directories: ends those in one that is about to be removed. */
export interface WithLeaving {
  readonly leaving: Set<(directory: string) => Promise<void>>;
}
