import { randomUUID } from 'node:crypto';
import { createFile, removeFile } from '../disk/durable.ts';
import type { Layout } from '../layout.ts';
import { readRegularFile } from '../text/record-file.ts';

const FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The name of this machine's `.dossier/`: a UUID that says nothing of the machine. A session carries it, so that another
 * clone of the workspace knows that it is not its own. Made when it is not there.
 */
export const machineOf = async (layout: Layout): Promise<string> => {
  const known = readRegularFile(layout.root, layout.machine)?.toString('utf8').trim() ?? '';
  if (FORM.test(known)) return known;
  await removeFile(layout, layout.machine);
  const name = randomUUID();
  await createFile(layout, layout.machine, `${name}\n`);
  return name;
};

/** Writes the name again that somebody removed while the daemon runs: sessions are known by it. */
export const keepMachine = async (layout: Layout, name: string): Promise<void> => {
  await createFile(layout, layout.machine, `${name}\n`);
};
