import { join } from 'node:path';
import { readOurs, sealedText } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { createFile } from '../fs/durable.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import type { Layout } from '../layout.ts';

/** The run markers of language servers that this machine started and that may still run. */
export const serverMarkers = (layout: Layout): string[] =>
  listDirectory(layout.languageServers).filter((marker) =>
    ifReadable(() => readOurs(layout, fileOf(layout, marker), Object), undefined),
  );

/** Saves a marker. The server may start once it is on disk, when the promise resolves. */
export const saveServerMarker = async (layout: Layout, marker: string): Promise<void> => {
  const path = fileOf(layout, marker);
  await createFile(layout, path, sealedText(layout, path, {}), { mode: 0o600 });
};

export const removeServerMarker = (layout: Layout, marker: string): void =>
  unlinkIfThere(fileOf(layout, marker));

const fileOf = ({ languageServers }: Layout, marker: string): string =>
  join(languageServers, marker);
