/** The exit codes of the program; its help and its manual page list them. */
export const EXIT = {
  done: 0,
  /** Refused or failed. */
  failed: 1,
  usage: 2,
  noDaemon: 3,
  needsYou: 4,
  /** The timeout of `dossier wait` expired. */
  timeout: 5,
  /** Left with Ctrl-C or q. */
  left: 130,
} as const;
