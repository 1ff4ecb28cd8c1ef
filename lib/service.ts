/** What every handler and every rule is given. Filled in as the parts arrive. */
export interface Service {
  readonly clock: () => Date;
}
