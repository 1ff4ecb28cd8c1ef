import { pathContains } from '../../store/base/paths.ts';
import { saveToUndo } from '../../store/fs/undo.ts';
import { runVariables, sandboxSettings } from '../../store/records/applied.ts';
import { settingsOf } from '../../store/settings/globals.ts';
import { createProviders, type Providers } from '../agents/providers.ts';
import { socketDirs } from '../client/node/socket-path.ts';
import type { CodeHost } from '../codehost/code-host.ts';
import { createGitHub } from '../codehost/github/github.ts';
import { requireTrustedCodeHost } from '../guard/trust/require.ts';
import type { WithDoors } from '../sandbox/egress/doors.ts';
import { createDoorsProcess } from '../sandbox/egress/doors-process.ts';
import {
  createNetworkAccess,
  type NetworkAccess,
  type NetworkDeps,
} from '../sandbox/egress/networks.ts';
import { createSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import type { Service } from '../service.ts';
import { cleanEnvironment } from '../tools/process/environment.ts';
import type { Runs } from '../tools/process/runs.ts';

type Given = Pick<Service, 'config' | 'store'>;

/** Creates the code host. The returned function throws `trust_needed` unless its settings are trusted. */
export const createCodeHost = ({
  config,
  store,
  version,
}: Given & Pick<Service, 'version'>): (() => CodeHost) => {
  const github = createGitHub({
    env: config.env,
    settings: () => settingsOf(store).codehost ?? {},
    version: version.version,
  });
  return () => {
    requireTrustedCodeHost(store);
    return github;
  };
};

/** Creates the sandbox at the first use, which tests whether it works, and again after its settings changed. */
export const createSandboxFactory = ({ config, store }: Given): (() => Sandbox) => {
  let made: { key: string; sandbox: Sandbox } | undefined;
  return () => {
    const { sandbox: setting, sandbox_readable: readable } = sandboxSettings(settingsOf(store));
    const key = JSON.stringify([setting, readable]);
    if (made?.key !== key) {
      const env = cleanEnvironment(config.env, {});
      const hidden = [...socketDirs(config.env), ...(config.state ? [config.state] : [])];
      made = { key, sandbox: createSandbox(setting, env, readable, hidden) };
    }
    return made.sandbox;
  };
};

interface NetworkParts {
  sandbox: () => Sandbox;
  doors: WithDoors['doors'];
  mcp: NetworkDeps['mcp'];
}

/** Creates the process that serves the proxy and the MCP sockets of runs. */
export const createDoors = ({
  address,
  config,
  log,
}: Pick<Service, 'address' | 'config' | 'log'>): WithDoors['doors'] =>
  createDoorsProcess({
    env: config.env,
    ownPort: () => (address.url === undefined ? undefined : Number(new URL(address.url).port)),
    ended: (cause) =>
      log.error(
        { err: cause },
        'proxy process exited: running sessions have lost their network; new sessions start a new one',
      ),
  });

/** Creates the network of runs, with the rules of the current settings. */
export const createNetworkFactory =
  (
    { config: { env }, store }: Given,
    { sandbox, doors, mcp }: NetworkParts,
  ): (() => NetworkAccess) =>
  () => {
    const { network, allow_local } = settingsOf(store);
    return createNetworkAccess({
      env,
      doors,
      mcp,
      rules: { network, allow_local },
      sandboxed: sandbox().kind !== 'none',
    });
  };

/** Creates the providers, again after each edit of the settings. A running session keeps the provider that it started with. */
export const createProvidersFactory = (
  { config: { env }, store }: Given,
  { sandbox, runs, network }: { sandbox: () => Sandbox; runs: Runs; network: () => NetworkAccess },
): (() => Providers) => {
  let made: { from: ReturnType<typeof settingsOf>; providers: Providers } | undefined;
  return () => {
    const from = settingsOf(store);
    if (made?.from !== from) {
      const walls = { sandbox: sandbox(), network: network(), isInside: pathContains };
      const { layout } = store;
      const keepAside = (name: string, text: string) => saveToUndo(layout, name, text);
      const variables = runVariables(from, env);
      const deps = { env, variables, runs, states: layout.states, keepAside, ...walls };
      made = { from, providers: createProviders(from, deps) };
    }
    return made.providers;
  };
};
