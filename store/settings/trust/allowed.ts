import type { ConsentLog } from '../../consent/log.ts';
import { trustHash } from '../../consent/seal.ts';

/** Where commands run. */
export interface CommandPlace {
  project: string;
  repository: string;
  /** Whether they run in a sandbox of the operating system. */
  sandboxed: boolean;
}

interface AllowedCommand extends CommandPlace {
  prefix: string;
}

const ALLOWED = 'allowed/';

export const isAllowedKey = (key: string): boolean => key.startsWith(ALLOWED);

/** Records that the operator always allows simple commands with this prefix; on disk when it returns. */
export const allowAlways = (log: ConsentLog, place: CommandPlace, prefix: string): void => {
  const value: AllowedCommand = { ...place, prefix };
  log.grant([{ key: `${ALLOWED}${place.project}/${trustHash(value).slice(0, 12)}`, value }]);
};

/**
 * The prefixes of simple commands that the operator always allows in a project, for the same repository. A prefix allowed in
 * a sandbox applies only in a sandbox.
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
