import { trustHash } from '../../consent/seal.ts';
import type { ConsentLog } from '../../consent/log.ts';

/** Where commands are run. */
export interface CommandPlace {
  project: string;
  repository: string;
  /** Whether the operating system holds them. */
  sandboxed: boolean;
}

interface AllowedCommand extends CommandPlace {
  prefix: string;
}

const ALLOWED = 'allowed/';

export const isAllowedKey = (key: string): boolean => key.startsWith(ALLOWED);

/** Keeps that the operator always allows plain commands that begin so. On disk when it returns. */
export const allowAlways = (log: ConsentLog, place: CommandPlace, prefix: string): void => {
  const value: AllowedCommand = { ...place, prefix };
  log.grant([{ key: `${ALLOWED}${place.project}/${trustHash(value).slice(0, 12)}`, value }]);
};

/**
 * What plain commands may begin with in a project, as the operator always allows it: of the same repository, and what was
 * allowed in a sandbox in a sandbox alone.
 */
export const alwaysAllowed = (log: ConsentLog, place: CommandPlace): string[] =>
  [...log.list().values()]
    .filter(({ key }) => isAllowedKey(key))
    .map(({ value }) => value as AllowedCommand)
    .filter(
      ({ project, repository, sandboxed }) =>
        project === place.project &&
        repository === place.repository &&
        (place.sandboxed || !sandboxed),
    )
    .map(({ prefix }) => prefix);
