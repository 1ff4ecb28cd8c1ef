import v8 from 'node:v8';

// The compiler's code for what runs once, and the room for its garbage, would stay in memory for good.
const AT_START = ['--no-opt', '--no-maglev', '--no-sparkplug', '--semi-space-growth-factor=1'];
// Node 20 has the compiler in between, but does not use it.
const HAS_MAGLEV = Number.parseInt(process.versions.node, 10) >= 22;
const LATER = [
  ...['--opt', '--sparkplug', '--semi-space-growth-factor=2'],
  ...(HAS_MAGLEV ? ['--maglev'] : []),
];

const set = (flags: readonly string[]): void => {
  for (const flag of flags) v8.setFlagsFromString(flag);
};

/** For the start of a process that will live long: what is loaded and read then is read once. */
export const startLean = (): void => set(AT_START);

/** The start is over: what runs often from here on is compiled well, and memory grows with the work. */
export const startIsOver = async (): Promise<void> => {
  await giveBack();
  set(LATER);
};

/**
 * Gives back to the system what the start of this thread needed and nobody holds: by itself that is not done at rest, and
 * the gc that V8 lends to scripts keeps the pages. The inspector's, which listens nowhere, tidies up for good.
 */
export const giveBack = async (): Promise<void> => {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
};
