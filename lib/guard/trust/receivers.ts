/** Who sends to receivers of events, and looks at them again when it is told that they changed. */
interface Receivers {
  changed(): void;
}

export interface WithReceivers {
  readonly dispatcher: Receivers;
}
