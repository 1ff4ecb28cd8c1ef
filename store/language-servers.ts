import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createFile } from './disk/durable.ts';
import type { Layout } from './layout.ts';
import { listDirectory } from './text/folder.ts';

/** The run markers of the language servers that were started and have not been seen to end. */
export const serverMarkers = ({ languageServers }: Layout): string[] =>
  listDirectory(languageServers);

/** Resolves when it is on disk: only then may the server start. */
export const noteServer = async (layout: Layout, marker: string): Promise<void> => {
  await createFile(layout, join(layout.languageServers, marker), '', { mode: 0o600 });
};

export const forgetServer = ({ languageServers }: Layout, marker: string): void =>
  rmSync(join(languageServers, marker), { force: true });
