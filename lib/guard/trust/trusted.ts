/** Who hears that the operator has trusted something. */
export interface WithTrusted {
  readonly trusted: Set<() => void>;
}
