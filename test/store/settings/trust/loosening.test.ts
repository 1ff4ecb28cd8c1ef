import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decidePermission } from '../../../../lib/agents/permissions.ts';
import type { Provider } from '../../../../lib/agents/provider.ts';
import { createProviders } from '../../../../lib/agents/providers.ts';
import { NO_MCP } from '../../../../lib/sandbox/egress/mcp-door.ts';
import { createNetworkEnvironment } from '../../../../lib/sandbox/egress/network-environment.ts';
import { createNetworkAccess } from '../../../../lib/sandbox/egress/networks.ts';
import { createDoorsHere } from '../../../../lib/sandbox/egress/run-doors.ts';
import type { Sandbox } from '../../../../lib/sandbox/sandbox.ts';
import { createRuns } from '../../../../lib/tools/process/runs.ts';
import { readConsentLog } from '../../../../store/consent/log.ts';
import { trustHash } from '../../../../store/consent/seal.ts';
import { layoutOf } from '../../../../store/layout.ts';
import { permissionPolicy } from '../../../../store/records/applied.ts';
import type { ProviderSettings, Settings } from '../../../../store/records/settings.ts';
import { computeEffective } from '../../../../store/settings/trust/effective.ts';
import { partAt, trustedParts, withPart } from '../../../../store/settings/trust/keys.ts';
import {
  createTrustLog,
  heldValue,
  type TrustLog,
} from '../../../../store/settings/trust/trust-log.ts';

const HOSTS = ['a.com', 'b.com', 'elsewhere.com'];
const LOCAL = ['127.0.0.1:1111', '127.0.0.1:2222'];
const COMMANDS = ['npm test', 'ls', 'rm -r x'];
const NAMES = ['claude', 'codex', 'x', 'y', 'runbook'];

const absent = fc.constant(undefined);
const some = (values: readonly string[]) => fc.subarray([...values]);
const network = fc.oneof(
  absent,
  fc.constantFrom<'proxy' | 'host'>('proxy', 'host'),
  fc.record({ allow: some(['a.com', 'b.com']) }),
);
const allow_local = fc.oneof(absent, some(LOCAL));
const entry: fc.Arbitrary<ProviderSettings> = fc
  .record({
    kind: fc.constant('acp' as const),
    command: fc.constantFrom('one', 'two'),
    model: fc.constantFrom(undefined, 'm'),
    network,
    allow_local,
  })
  .map((made) => JSON.parse(JSON.stringify(made)));
const preset: fc.Arbitrary<ProviderSettings> = fc
  .record({ kind: fc.constant('acp' as const), network, allow_local })
  .map((made) => JSON.parse(JSON.stringify(made)));

const entryOf = (name: string) =>
  fc.oneof(absent, name === 'claude' || name === 'codex' ? fc.oneof(preset, entry) : entry);

const settings: fc.Arbitrary<Settings> = fc
  .record({
    provider: fc.constantFrom(undefined, 'runbook', 'manual', 'claude', 'x'),
    providers: fc.record(Object.fromEntries(NAMES.map((name) => [name, entryOf(name)]))),
    projects: fc.record({ default: fc.constantFrom(undefined, '/a', '/b') }),
    sandbox: fc.constantFrom(undefined, 'auto', 'off'),
    sandbox_readable: fc.oneof(absent, some(['~/a', '~/b'])),
    network,
    allow_local,
    permissions: fc.record({
      execute: fc.oneof(absent, fc.constantFrom('ask', 'plan', 'allow'), some(['npm test', 'ls'])),
      fetch: fc.constantFrom(undefined, 'ask', 'allow'),
    }),
    worktrees: fc.record({ setup: fc.oneof(absent, some(['one', 'two'])) }),
    require_key: fc.constantFrom(undefined, true, false),
  })
  .map((made) => JSON.parse(JSON.stringify(made)));

const runs = createRuns();
const env = { HOME: '/nowhere', PATH: '/nowhere' };

const NO_STATES = { states: '/nowhere', keepAside: async () => '/nowhere' };

/** The providers as the daemon makes them of these settings, and the door to the network of what has none of its own. */
const daemonOf = (of: Settings) => {
  const kind = of.sandbox === 'off' ? ('none' as const) : ('bubblewrap' as const);
  const none = (): string[] => [];
  const sandbox: Sandbox = { kind, wrap: (argv) => [...argv], explain: none, hides: () => none };
  const { network, allow_local } = of;
  const all = createNetworkAccess({
    ...{
      env,
      doors: createDoorsHere(createNetworkEnvironment(() => undefined)),
      mcp: () => NO_MCP,
    },
    ...{ sandboxed: kind !== 'none', rules: { network, allow_local } },
  });
  const isInside = () => true;
  const walls = { sandbox, network: all, isInside };
  return {
    all,
    providers: createProviders(of, { env, variables: {}, runs, ...NO_STATES, ...walls }),
  };
};

type Reached = ReturnType<ReturnType<typeof daemonOf>['all']['reaches']>;

const reached = ({ network, local }: Reached): string[] => {
  if (network === 'host') return [...HOSTS, ...LOCAL.map(portOf), 'all of this machine'];
  const hosts = network === 'proxy' ? HOSTS : network.allow;
  return [...hosts, ...local.map(portOf)];
};

const portOf = (address: string): string => `port ${address.split(':').at(-1)}`;

const doneUnasked = (policy: ReturnType<typeof permissionPolicy>) => {
  const option = { option_id: 'yes', name: 'Yes', kind: 'allow_once' } as const;
  const unasked = ['ls'];
  const scope = { phase: 'work', policy, inside: () => true, unasked } as const;
  const isAllowed = ({ kind, command: line }: { kind: string; command?: string }) => {
    const ask = { kind, ...(line !== undefined && { command: line, line }) };
    return decidePermission({ ...ask, paths: [], options: [option] }, scope).answer === 'allow';
  };
  return [
    ...COMMANDS.filter((command) => isAllowed({ kind: 'execute', command })),
    ...(isAllowed({ kind: 'fetch' }) ? ['fetch'] : []),
  ];
};

/** All that what is started by a provider can do, each a line. */
const doneBy = (of: Settings, name: string, provider: Provider | undefined): string[] => {
  const { sandbox, network, local = [], permissions, kind } = provider?.boundary() ?? {};
  if (sandbox === undefined || network === undefined) return [];
  const command = of.providers?.[name]?.command ?? 'its own';
  return [
    'the approved plan',
    ...(kind === 'runbook' ? [] : [`${name} is started by ${command}`]),
    ...(sandbox === 'none' ? ['outside of a sandbox'] : []),
    ...reached({ network, local }),
    // `plan` is `ask` outside of a sandbox: being shut in again opens no more.
    ...(permissions === undefined ? [] : doneUnasked(permissionPolicy(of))),
  ];
};

/** All that these settings open, for whom, each a line: found by asking what goes by them. */
const opened = (of: Settings): Set<string> => {
  const { all, providers } = daemonOf(of);
  const { setup = [] } = of.worktrees ?? {};
  const names = [...new Set([...NAMES, 'gemini', 'opencode', 'qwen'])];
  const by = (who: string, what: readonly string[]) => what.map((line) => `${who}: ${line}`);
  return new Set([
    ...names.flatMap((name) => by(name, doneBy(of, name, providers.get(name)))),
    ...by('none named', doneBy(of, providers.chosen, providers.get(providers.chosen))),
    ...by('set-up', [...setup, ...reached(all.reaches({}))]),
    ...by('project', Object.values(of.projects ?? {})),
    ...by('shown', of.sandbox_readable ?? []),
    ...(of.require_key === true ? [] : ['everybody: no key needed']),
  ]);
};

const trustLogWith = (held: Settings, words: Settings = {}): TrustLog => {
  const log = readConsentLog(layoutOf('/nowhere'));
  const said = [...trustedParts(words)];
  log.assume(said.map(([key, value]) => ({ key, value, by: 'operator' })));
  log.assume(said.map(([key]) => ({ key, by: 'tightening' })));
  log.assume([...trustedParts(held)].map(([key, value]) => ({ key, value, by: 'tightening' })));
  return createTrustLog(log);
};

/** With the value that held for each key whose value was never trusted. */
const trustedOnly = (now: Settings, trustLog: TrustLog): Settings => {
  const keys = [...new Set([...trustedParts(now).keys(), ...trustLog.log.list().keys()])];
  return keys
    .filter((key) => !trustLog.log.wasGranted(key, trustHash(partAt(now, key))))
    .reduce((mix, key) => withPart(mix, key, heldValue(trustLog, key)), now);
};

const noted = ({ log }: TrustLog, { verdicts }: ReturnType<typeof computeEffective>): void =>
  log.assume(verdicts.flatMap(({ line }) => (line ? [{ ...line, by: 'tightening' }] : [])));

const keysOf = ({ waiting }: ReturnType<typeof computeEffective>): string[] =>
  waiting.map(({ key }) => key).toSorted();

const reversed = <T extends object>(object: T): T =>
  Object.fromEntries(
    Object.entries(object)
      .toReversed()
      .map(([key, value]) => [key, isPlain(value) ? reversed(value) : value]),
  ) as T;

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

describe('computeEffective', () => {
  it('opens nothing to anybody by what the operator has not trusted, in any order, and says the same again', () => {
    let [held, waited] = [0, 0];
    fc.assert(
      fc.property(settings, settings, (before, now) => {
        const trustLog = trustLogWith(before);
        const effective = computeEffective(now, trustLog);
        const known = opened(before);
        for (const line of opened(effective.settings)) assert.ok(known.has(line), line);
        assert.deepEqual(keysOf(computeEffective(reversed(now), trustLog)), keysOf(effective));
        held += effective.verdicts.some(({ line }) => line !== undefined) ? 1 : 0;
        waited += effective.waiting.length > 0 ? 1 : 0;
        noted(trustLog, effective);
        assert.deepEqual(keysOf(computeEffective(now, trustLog)), keysOf(effective));
      }),
      { numRuns: 300, seed: 8 },
    );
    assert.ok(held > 100 && waited > 100, `${held} held, ${waited} waited`);
  });

  it('opens no more than what was trusted before does, where other values of the file were', () => {
    fc.assert(
      fc.property(settings, settings, settings, (before, words, file) => {
        const { network, ...rest } = file;
        const providers = { ...words.providers, ...file.providers };
        const now = { ...rest, ...(words.network && { network: words.network }), providers };
        const trustLog = trustLogWith(before, words);
        const known = opened(trustedOnly(now, trustLog));
        for (const line of opened(computeEffective(now, trustLog).settings))
          assert.ok(known.has(line), line);
      }),
      { numRuns: 200, seed: 9 },
    );
  });
});
