import { fileURLToPath } from 'node:url';

/** The build that is measured: this one, until `measure` names another. */
const measured = {
  script: fileURLToPath(new URL('../../dossier.js', import.meta.url)),
  isThis: true,
  /** Older builds start the daemon without a command. */
  serve: ['serve'],
};

/** Measures another build from now on. */
export const measure = (script: string, { serve }: { serve: boolean }): void => {
  Object.assign(measured, { script, isThis: false, serve: serve ? ['serve'] : [] });
};

/** For what an older build may lack: undefined there, and an error of this build stays one. */
export const orOlder = (error: unknown): undefined => {
  if (measured.isThis) throw error;
};

export const isThisBuild = (): boolean => measured.isThis;

/** The path of the measured `dossier.js`. */
export const dossierScript = (): string => measured.script;

/** What Node is called with to run the daemon on a workspace. */
export const serveArgs = (root: string, ...args: string[]): [script: string, ...string[]] => [
  measured.script,
  ...measured.serve,
  ...['--workspace', root, '--port', '0', '--log-level', 'silent'],
  ...args,
];
