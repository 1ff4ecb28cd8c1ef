import type { ProviderInfo } from '../../store/records/provider.ts';
import type { Environment } from '../tools/process/environment.ts';
import { isFilled } from '../tools/process/find-program.ts';

/** Whether there is a login or a key. Its validity is not checked, because that needs the network. */
export type LoginState = NonNullable<ProviderInfo['login']>;

/** How to recognize that an agent is logged in. */
export interface LoginSigns {
  /** One of these variables is set. */
  env: readonly string[];
  /** One of these files exists, below the home directory. */
  files: readonly string[];
  /** The answer without either: `unknown` for agents that may need no login or store it elsewhere. */
  otherwise: 'no' | 'unknown';
}

/** Looks for a login without starting the agent. `places`: the paths of its state, in the order of the preset. */
export const findLogin = (
  { logged_in_by: signs, state_dirs }: { logged_in_by?: LoginSigns; state_dirs: readonly string[] },
  env: Environment,
  places: readonly string[],
): LoginState => {
  if (signs === undefined) return 'unknown';
  const files = signs.files.map((file) => {
    const at = state_dirs.findIndex((dir) => file.startsWith(`${dir}/`));
    return `${places[at]}${file.slice(state_dirs[at]?.length ?? 0)}`;
  });
  const found = signs.env.some((name) => (env[name] ?? '') !== '') || files.some(isFilled);
  if (found) return 'yes';
  // On macOS the login may be in the keychain.
  return process.platform === 'darwin' ? 'unknown' : signs.otherwise;
};
