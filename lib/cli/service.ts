import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { hasCode, orElse } from '../../store/base/attempt.ts';
import { ownValue } from '../../store/base/own-value.ts';
import { shellQuoted } from '../../store/base/text.ts';
import { type Config, UsageError } from '../config.ts';
import { cleanEnvironment, loginEnvironment } from '../tools/process/environment.ts';
import { type Execution, execute } from '../tools/process/execute.ts';
import type { Call } from './args/command.ts';
import type { OptionName } from './args/options.ts';
import { Refusal } from './args/refusal.ts';
import { shellCommand } from './args/shell-command.ts';
import { findDaemon } from './connection/daemon.ts';
import { toStandardOutput as say, sayJson } from './output/terminal.ts';
import {
  commandOf,
  descriptionOf,
  FILE_MARKER,
  launchdList,
  systemdUnit,
  type Unit,
} from './service-unit.ts';

/** `dossier service install|status|uninstall`: runs the daemon as a service of this user. */
export const service = async (call: Call): Promise<number> => {
  const [action = ''] = call.words;
  const act = ownValue(ACTIONS, action);
  if (act === undefined)
    throw new UsageError(`service takes install, status or uninstall, not ${action}`);
  if (process.platform === 'linux') return tell(call, await act(call));
  if (process.platform !== 'darwin' || action !== 'install')
    throw new Refusal(
      'This system has no systemd. On macOS, dossier service install prints a file for launchd; use launchctl for the rest',
    );
  const list = launchdList(unitOf(call));
  if (call.values.json === true) sayJson(say, { launchd: list });
  else process.stdout.write(list);
  process.stderr.write(
    'Write this to ~/Library/LaunchAgents/NAME.plist, then: launchctl load -w ~/Library/LaunchAgents/NAME.plist\n',
  );
  return 0;
};

/** The output of an action, and the exit code. */
interface Report {
  lines: string[];
  code: number;
}

type Action = (call: Call) => Promise<Report>;

// With --json every action prints the status.
const tell = async ({ config, values }: Call, { lines, code }: Report): Promise<number> => {
  if (values.json === true) sayJson(say, await readStatus(config));
  else for (const line of lines) say(line);
  return code;
};

const install: Action = async (call) => {
  const unit = unitOf(call);
  const path = unitPath(call.config, unit.name);
  requireOwnFile(path, call.config);
  const { daemon } = await readStatus(call.config);
  const again = existsSync(path);
  makeDirectoryOf(path);
  writeFileSync(`${path}.tmp`, systemdUnit(unit));
  renameSync(`${path}.tmp`, path);
  const verb = again ? 'restart' : 'enable --now';
  const lines = [
    `Wrote ${path} with Node ${unit.node}, and the PATH of this shell for agents.`,
    `It contains no API keys of agents, such as ANTHROPIC_API_KEY. Add them with systemctl --user edit ${unit.name}: Environment=NAME=KEY below [Service]`,
    ...(isSystemdRunning(call.config) ? [] : [NOT_RUNNING]),
    ...(daemon === null || daemon.of_unit
      ? []
      : [
          `Another daemon already has the workspace (process ${daemon.pid}): run dossier stop --workspace ${shellQuoted(unit.workspace)} first`,
        ]),
    `Start it:               systemctl --user daemon-reload && systemctl --user ${verb} ${unit.name}`,
    `Read its log:           journalctl --user -u ${unit.name}`,
    'Run it while logged out: loginctl enable-linger',
  ];
  return { lines, code: 0 };
};

const makeDirectoryOf = (path: string): void => {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    // All that Node says of a parent directory on a read-only file system.
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new Refusal(
      `${dirname(path)} cannot be created, so nothing was installed. Make sure that you may write there, or set XDG_CONFIG_HOME to another directory`,
    );
  }
};

const NOT_RUNNING = 'systemd is not running for this user, so the unit cannot be started now.';

const status: Action = async ({ config }) => {
  const { unit, installed, systemd, daemon } = await readStatus(config);
  const lines = [
    installed
      ? `Unit: ${unit}`
      : `There is no ${unit}: create it with ${shellCommand(config, 'service install')}.`,
    systemd === null ? NOT_RUNNING : `systemd: ${systemd}`,
    daemon === null
      ? 'No daemon is running.'
      : `Daemon: ${daemon.url}, process ${daemon.pid}${daemon.of_unit ? '' : '; not started by the unit'}`,
  ];
  return { lines, code: installed ? 0 : 1 };
};

const readStatus = async (config: Config) => {
  const name = nameOf(config);
  const unit = unitPath(config, name);
  const state = isSystemdRunning(config)
    ? (await systemctl(config, 'is-active', name)).stdout
    : undefined;
  const found = await findDaemon(config);
  return {
    name,
    unit,
    installed: existsSync(unit),
    systemd: state?.toString().trim() ?? null,
    daemon:
      found === undefined
        ? null
        : { url: found.url, pid: found.pid, of_unit: found.pid === (await mainPid(config, name)) },
  };
};

// The process of the unit; 0 if it is not running.
const mainPid = async (config: Config, name: string): Promise<number> =>
  isSystemdRunning(config)
    ? Number((await systemctl(config, 'show', '--property=MainPID', '--value', name)).stdout)
    : 0;

const uninstall: Action = async ({ config }) => {
  const name = nameOf(config);
  const path = unitPath(config, name);
  if (!existsSync(path)) throw new Refusal(`There is no ${path}, so nothing was removed`);
  requireOwnFile(path, config);
  if (isSystemdRunning(config)) {
    const { code, stderr } = await systemctl(config, 'disable', '--now', name);
    if (code !== 0)
      throw new Refusal(`systemctl --user disable --now ${name} failed: ${stderr.trim()}`);
  }
  unlinkSync(path);
  return { lines: [`Removed ${path}. The workspace is unchanged.`], code: 0 };
};

const ACTIONS: Readonly<Record<string, Action>> = { install, status, uninstall };

/** The unit for this call. Throws a Refusal for a program in the cache of npx, which will not last. */
const unitOf = ({ config, values }: Call): Unit => {
  const { env, workspace, repo } = config;
  const program = realpathSync(process.argv[1] ?? '');
  if (program.split(sep).includes('_npx'))
    throw new Refusal(
      `${program} is in the cache of npx, which npm may clear. Run npm install -g dossierd, then ${shellCommand(config, 'service install')}`,
    );
  const unit = {
    name: nameOf(config),
    node: realpathSync(process.execPath),
    program,
    workspace,
    flags: [
      ...(repo === undefined ? [] : ['--repo', repo]),
      ...given('host', values.host ?? env.DOSSIER_HOST),
      ...given('port', values.port ?? env.DOSSIER_PORT),
      ...given('socket', values.socket ?? env.DOSSIER_SOCKET),
      ...given('state-dir', values['state-dir'] ?? env.DOSSIER_STATE_DIR),
    ],
    path: cleanEnvironment(env).PATH ?? '',
  };
  if (/\p{Cc}/u.test([unit.path, ...commandOf(unit)].join('')))
    throw new Refusal('A path contains a control character, which a unit cannot contain');
  return unit;
};

const given = (name: OptionName, value: string | undefined): string[] =>
  value === undefined ? [] : [`--${name}`, value];

/** The name of the unit: each workspace has its own. */
const nameOf = ({ workspace, env }: Config): string =>
  workspace === join(homeOf(env), 'dossier')
    ? 'dossier'
    : `dossier-${workspace.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')}`;

const homeOf = ({ HOME }: Config['env']): string => HOME ?? homedir();

const unitPath = ({ env }: Config, name: string): string => {
  const { XDG_CONFIG_HOME: given = '' } = env;
  const base = isAbsolute(given) ? given : join(homeOf(env), '.config');
  return join(base, 'systemd/user', `${name}.service`);
};

const requireOwnFile = (path: string, { workspace }: Config): void => {
  const text = orElse(() => readFileSync(path, 'utf8'), undefined, 'ENOENT');
  if (text === undefined) return;
  if (!text.includes(FILE_MARKER))
    throw new Refusal(`${path} was not written by dossier service install. Move it away first`);
  // The name of a unit has letters and digits of the path alone.
  if (!text.split('\n').includes(descriptionOf({ workspace })))
    throw new Refusal(
      `${path} is the unit of another workspace, and ${workspace} would get the same name. Rename one of the two directories`,
    );
};

const isSystemdRunning = ({ env }: Config): boolean =>
  env.XDG_RUNTIME_DIR !== undefined && existsSync(join(env.XDG_RUNTIME_DIR, 'systemd/private'));

const systemctl = ({ env }: Config, ...args: string[]): Promise<Execution> =>
  execute(['systemctl', '--user', ...args], {
    cwd: '/',
    timeout_ms: 60_000,
    max_bytes: 65_536,
    env: cleanEnvironment(env, loginEnvironment(env)),
  });
