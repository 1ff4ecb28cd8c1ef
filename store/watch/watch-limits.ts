import { readFileSync, statfsSync } from 'node:fs';
import { orElse } from '../base/attempt.ts';

/** A limit of the system, by its sysctl name. */
export interface SystemLimit {
  name: string;
  value: number;
}

/** The limit of watched directories; undefined if there is none. */
export const watchLimit = (): SystemLimit | undefined =>
  lowest('fs.inotify.max_user_watches', 'user.max_inotify_watches');

/** The limit of watching programs and threads per user. */
export const watcherLimit = (): SystemLimit | undefined =>
  lowest('fs.inotify.max_user_instances', 'user.max_inotify_instances');

/**
 * Whether a directory is on a file system where only this machine can change files, so that its watches see all changes.
 * False for one that is not known.
 */
export const isOnLocalDisk = (path: string): boolean =>
  LOCAL.has(orElse(() => statfsSync(path).type, -1));

// Linux's numbers: ext, xfs, btrfs, tmpfs, f2fs, zfs, bcachefs, overlay.
const LOCAL = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0x01021994],
  ...[0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x794c7630],
]);

// A Work item's directory, and those in it whose files cause events.
const A_CASE = 4;
const BESIDES = 64;

/** The greatest number of watches for this many Work items. */
export const watchesWanted = (items: number): number => items * A_CASE + BESIDES;

const USUAL: Record<string, number> = { watches: 524_288, instances: 1024 };

/** The commands that raise a limit, now and permanently, with room for other programs and growth. */
export const howToRaise = ({ name, value }: SystemLimit, wanted = 0): string => {
  const setting = `${name}=${Math.max(USUAL[name.split('_').at(-1) ?? ''] ?? 0, 2 * wanted, 2 * value)}`;
  return (
    `To raise it: sudo sysctl -w ${setting}. ` +
    `To keep it raised: echo ${setting} | sudo tee /etc/sysctl.d/60-dossier.conf`
  );
};

// A container can have a lower limit than the machine.
const lowest = (...names: string[]): SystemLimit | undefined =>
  names.flatMap((name) => read(name) ?? []).toSorted((a, b) => a.value - b.value)[0];

// Unreadable also if no more files can be opened.
const read = (name: string): SystemLimit | undefined => {
  const path = `/proc/sys/${name.replaceAll('.', '/')}`;
  const text = orElse(() => readFileSync(path, 'utf8'), undefined);
  return text === undefined ? undefined : { name, value: Number(text) };
};
