import type { ProviderInfo } from '../../store/records/provider.ts';
import type { Environment } from '../tools/process/environment.ts';
import { isFilled } from '../tools/process/find-program.ts';

/** Whether there is a login, or a key: not whether it is good still, which only the network would say. */
export type LoginState = NonNullable<ProviderInfo['login']>;

/** By what it is seen that an agent is logged in. */
export interface LoginSigns {
  /** Any of these variables. */
  env: readonly string[];
  /** Any of these files, below the home directory as its state is. */
  files: readonly string[];
  /** It may do without either, or keep its login where nobody looks. */
  otherwise: 'no' | 'unknown';
}

/** Looks for a login by what is known of the agent; nothing is started. `places`: where its state is, in the preset's order. */
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
  // There it may be in the keychain.
  return process.platform === 'darwin' ? 'unknown' : signs.otherwise;
};
