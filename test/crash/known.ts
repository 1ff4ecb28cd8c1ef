/** Faults that are known and not mended yet. A long run fails where one is not found any more: take it out then. */
export interface Known {
  operation: string;
  wrong: RegExp;
  /** In a sentence, as RELIABILITY.md lists it. */
  says: string;
}

export const KNOWN: readonly Known[] = [];

export const knownAs = (operations: readonly string[], wrong: string): Known | undefined =>
  KNOWN.find((one) => operations.includes(one.operation) && one.wrong.test(wrong));
