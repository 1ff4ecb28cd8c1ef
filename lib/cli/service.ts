import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { type Config, UsageError } from '../config.ts';
import { cleanEnvironment, loginEnvironment } from '../tools/process/environment.ts';
import { type Execution, execute } from '../tools/process/execute.ts';
import type { Call } from './args/command.ts';
import type { OptionName } from './args/options.ts';
import { Refusal } from './args/refusal.ts';
import { daemonOf } from './connection/daemon.ts';
import { toStandardOutput as say, sayJson } from './output/terminal.ts';
import { commandOf, launchdList, MADE_HERE, systemdUnit, type Unit } from './service-unit.ts';

/** `dossier service install|status|uninstall`: the daemon as a service of this user, begun with the machine. */
export const service = async (call: Call): Promise<number> => {
  const [action = ''] = call.words;
  const act = ACTIONS[action];
  if (act === undefined)
    throw new UsageError(`service takes install, status or uninstall, not ${action}`);
  if (process.platform === 'linux') return tell(call, await act(call));
  if (process.platform !== 'darwin' || action !== 'install')
    throw new Refusal(
      'There is no systemd here. On macOS dossier service install prints a file for launchd, and launchctl does the rest',
    );
  const list = launchdList(unitOf(call));
  if (call.values.json === true) sayJson(say, { launchd: list });
  else process.stdout.write(list);
  process.stderr.write(
    'Write this to ~/Library/LaunchAgents/NAME.plist, then: launchctl load -w ~/Library/LaunchAgents/NAME.plist\n',
  );
  return 0;
};

/** What an action says, line by line, and the exit code. */
interface Told {
  lines: string[];
  code: number;
}

type Action = (call: Call) => Promise<Told>;

// A program is told how it stands after each of them.
const tell = async ({ config, values }: Call, { lines, code }: Told): Promise<number> => {
  if (values.json === true) sayJson(say, await standingOf(config));
  else for (const line of lines) say(line);
  return code;
};

const install: Action = async (call) => {
  const unit = unitOf(call);
  const path = placeOf(call.config, unit.name);
  refuseForeign(path);
  const { daemon } = await standingOf(call.config);
  const again = existsSync(path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.tmp`, systemdUnit(unit));
  renameSync(`${path}.tmp`, path);
  const verb = again ? 'restart' : 'enable --now';
  const lines = [
    `Wrote ${path}: Node is ${unit.node}, the PATH of agents is that of this shell.`,
    `Keys of agents, such as ANTHROPIC_API_KEY, are not in it: systemctl --user edit ${unit.name}, and below [Service] Environment=NAME=KEY`,
    ...(isRunning(call.config) ? [] : [NOT_RUNNING]),
    ...(daemon === null || daemon.of_unit
      ? []
      : [
          `A daemon runs already (process ${daemon.pid}), and the unit would not get the workspace: dossier stop --workspace ${unit.workspace} first`,
        ]),
    `Begin it:             systemctl --user daemon-reload && systemctl --user ${verb} ${unit.name}`,
    `See what it says:     journalctl --user -u ${unit.name}`,
    'Also while logged out: loginctl enable-linger',
  ];
  return { lines, code: 0 };
};

const NOT_RUNNING = 'systemd does not run here for this user: the file is for when it does.';

const status: Action = async ({ config }) => {
  const { unit, installed, systemd, daemon } = await standingOf(config);
  const lines = [
    installed ? `Unit: ${unit}` : `There is no ${unit}: dossier service install writes it.`,
    systemd === null ? NOT_RUNNING : `systemd: ${systemd}`,
    daemon === null
      ? 'No daemon runs.'
      : `Daemon: ${daemon.url}, process ${daemon.pid}${daemon.of_unit ? '' : '; not of the unit'}`,
  ];
  return { lines, code: installed ? 0 : 1 };
};

const standingOf = async (config: Config) => {
  const name = nameOf(config);
  const unit = placeOf(config, name);
  const state = isRunning(config) ? (await systemctl(config, 'is-active', name)).stdout : undefined;
  const found = await daemonOf(config);
  return {
    ...{ name, unit, installed: existsSync(unit) },
    systemd: state?.toString().trim() ?? null,
    daemon:
      found === undefined
        ? null
        : { url: found.url, pid: found.pid, of_unit: found.pid === (await mainPid(config, name)) },
  };
};

// Of the unit; 0 where it does not run.
const mainPid = async (config: Config, name: string): Promise<number> =>
  isRunning(config)
    ? Number((await systemctl(config, 'show', '--property=MainPID', '--value', name)).stdout)
    : 0;

const uninstall: Action = async ({ config }) => {
  const name = nameOf(config);
  const path = placeOf(config, name);
  if (!existsSync(path)) throw new Refusal(`There is no ${path}, so nothing is to be removed`);
  refuseForeign(path);
  if (isRunning(config)) {
    const { code, stderr } = await systemctl(config, 'disable', '--now', name);
    if (code !== 0)
      throw new Refusal(`systemctl --user disable --now ${name} failed: ${stderr.trim()}`);
  }
  rmSync(path);
  return { lines: [`Removed ${path}. The workspace stays as it is.`], code: 0 };
};

const ACTIONS: Readonly<Record<string, Action>> = { install, status, uninstall };

/** What is written down of this call. Throws a Refusal for a program that will not be there the next time. */
const unitOf = ({ config, values }: Call): Unit => {
  const { env, workspace, repo } = config;
  const program = realpathSync(process.argv[1] ?? '');
  if (program.split(sep).includes('_npx'))
    throw new Refusal(
      `${program} is in the cache of npx, which is cleared at times: npm install -g dossierd, then dossier service install`,
    );
  const unit = {
    name: nameOf(config),
    node: realpathSync(process.execPath),
    ...{ program, workspace },
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
    throw new Refusal('A path has a control character in it, which no unit can hold');
  return unit;
};

const given = (name: OptionName, value: string | undefined): string[] =>
  value === undefined ? [] : [`--${name}`, value];

/** Each workspace has its own. */
const nameOf = ({ workspace, env }: Config): string =>
  workspace === join(homeOf(env), 'dossier')
    ? 'dossier'
    : `dossier-${workspace.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')}`;

const homeOf = ({ HOME }: Config['env']): string => HOME ?? homedir();

const placeOf = ({ env }: Config, name: string): string => {
  const { XDG_CONFIG_HOME: given = '' } = env;
  const base = isAbsolute(given) ? given : join(homeOf(env), '.config');
  return join(base, 'systemd/user', `${name}.service`);
};

const refuseForeign = (path: string): void => {
  const text = orElse(() => readFileSync(path, 'utf8'), undefined, 'ENOENT');
  if (text === undefined || text.includes(MADE_HERE)) return;
  throw new Refusal(`${path} was made by somebody else: move it away first`);
};

const isRunning = ({ env }: Config): boolean =>
  env.XDG_RUNTIME_DIR !== undefined && existsSync(join(env.XDG_RUNTIME_DIR, 'systemd/private'));

const systemctl = ({ env }: Config, ...args: string[]): Promise<Execution> =>
  execute(['systemctl', '--user', ...args], {
    ...{ cwd: '/', timeout_ms: 60_000, max_bytes: 65_536 },
    env: cleanEnvironment(env, loginEnvironment(env)),
  });
