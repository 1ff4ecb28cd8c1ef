import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { plainText } from '../tools/git/run/plain-file.ts';
import { CERTIFICATE_VARIABLES, type Environment } from '../tools/process/environment.ts';
import { settingsCopy } from './git-config.ts';
import type { Mount } from './mounts.ts';
import {
  cargo,
  type Format,
  gh,
  npmrc,
  pip,
  uv,
  type WithoutLogins,
  withoutLogins,
  yarnrc,
  yarnrcYml,
} from './without-logins.ts';

export interface ToolConfig {
  mounts: Mount[];
  /** The files of certificate authorities that the settings or the environment name. */
  certificates: string[];
}

/**
 * Shows the operator's settings of package managers and of gh, without logins. If a private registry were hidden, its packages
 * would be asked for at the public one, where anybody can publish under their names. Paths in `given` are shown as they are
 * by another rule.
 */
export const toolConfig = (env: Environment, given: readonly string[]): ToolConfig => {
  const found = filesOf(env)
    // Not /dev/null, which turns a tool's settings off.
    .filter(([path]) => isFile(path) && !given.includes(path))
    .map(([path, format]) => ({ path, shown: shownOf(path, format) }));
  const certificates = [
    ...found.flatMap(({ shown }) => shown.certificates),
    ...CERTIFICATE_VARIABLES.flatMap((name) => env[name] ?? []),
  ];
  return {
    mounts: found.map(({ path, shown: { text } }) => mountAt(path, settingsCopy(text))),
    certificates: certificates
      .map((path) => path.replace(/^(?:~|\$\{HOME\})(?=\/)/, env.HOME ?? '/'))
      .filter(isAbsolute),
  };
};

const isFile = (path: string): boolean => orElse(() => statSync(path).isFile(), false);

const mountAt = (path: string, from: string): Mount => {
  const at = join(realpathSync(dirname(path)), basename(path));
  return { path: at, arguments: ['--ro-bind', from, at] };
};

const filesOf = ({ HOME = '/', XDG_CONFIG_HOME, ...env }: Environment): [string, Format][] => {
  const config = XDG_CONFIG_HOME ?? join(HOME, '.config');
  return [
    [env.NPM_CONFIG_USERCONFIG ?? join(HOME, '.npmrc'), npmrc],
    [join(config, 'pnpm/rc'), npmrc],
    [join(HOME, '.yarnrc'), yarnrc],
    [join(HOME, '.yarnrc.yml'), yarnrcYml],
    [env.PIP_CONFIG_FILE ?? join(config, 'pip/pip.conf'), pip],
    [join(HOME, '.pip/pip.conf'), pip],
    [join(config, 'uv/uv.toml'), uv],
    [join(HOME, '.cargo/config.toml'), cargo],
    [join(HOME, '.cargo/config'), cargo],
    [join(config, 'gh/config.yml'), gh],
    [join(config, 'gh/hosts.yml'), gh],
  ];
};

const MOST_BYTES = 1_048_576;

// Links are followed: dotfiles are often links, and only known keys are shown.
const shownOf = (path: string, format: Format): WithoutLogins =>
  withoutLogins(plainText(realpathSync(path), MOST_BYTES) ?? '', format);
