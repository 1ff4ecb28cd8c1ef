import { readFileSync } from 'node:fs';
import { orElse } from '../base/attempt.ts';

/** A limit of the system, by the name that sysctl knows it by. */
export interface SystemLimit {
  name: string;
  value: number;
}

/** How many directories may be watched. Undefined where there is no such limit. */
export const watchLimit = (): SystemLimit | undefined =>
  lowest('fs.inotify.max_user_watches', 'user.max_inotify_watches');

/** How many programs and threads of one user may watch. */
export const watcherLimit = (): SystemLimit | undefined =>
  lowest('fs.inotify.max_user_instances', 'user.max_inotify_instances');

// Each directory, and those in it whose files make events.
const A_CASE = 4;
const BESIDES = 64;

/** So many watches a workspace with so many Work items wants at the most. */
export const watchesWanted = (items: number): number => items * A_CASE + BESIDES;

const USUAL: Record<string, number> = { watches: 524_288, instances: 1024 };

/** What the operator types to raise a limit, now and for good. With room for other programs and for what is to come. */
export const howToRaise = ({ name, value }: SystemLimit, wanted = 0): string => {
  const setting = `${name}=${Math.max(USUAL[name.split('_').at(-1) ?? ''] ?? 0, 2 * wanted, 2 * value)}`;
  return (
    `To raise it: sudo sysctl -w ${setting}. ` +
    `To keep it raised: echo ${setting} | sudo tee /etc/sysctl.d/60-dossier.conf`
  );
};

// A container can have a limit of its own below that of the machine.
const lowest = (...names: string[]): SystemLimit | undefined =>
  names.flatMap((name) => read(name) ?? []).toSorted((a, b) => a.value - b.value)[0];

// Not to be had where nothing more can be opened, either.
const read = (name: string): SystemLimit | undefined => {
  const path = `/proc/sys/${name.replaceAll('.', '/')}`;
  const text = orElse(() => readFileSync(path, 'utf8'), undefined);
  return text === undefined ? undefined : { name, value: Number(text) };
};
