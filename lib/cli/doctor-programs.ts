import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathContains } from '../../store/base/paths.ts';
import { onlyProject } from '../../store/records/applied.ts';
import type { ProviderInfo } from '../agents/provider.ts';
import { createProviders } from '../agents/providers.ts';
import { detectOn } from '../code/projects/detect.ts';
import { GITHUB } from '../codehost/github/address.ts';
import { createTokens } from '../codehost/github/tokens.ts';
import { missingProtections } from '../daemon/system/machine.ts';
import { detectCapabilities } from '../sandbox/capabilities.ts';
import { createDoorsProcess } from '../sandbox/egress/doors-process.ts';
import { NO_MCP } from '../sandbox/egress/mcp-door.ts';
import { createNetworkAccess } from '../sandbox/egress/networks.ts';
import { forgetState } from '../sandbox/state/open.ts';
import { findRepository } from '../tools/git/read/repository.ts';
import { createGh, type Gh } from '../tools/process/gh.ts';
import { createRuns } from '../tools/process/runs.ts';
import { type DoctorContext, type DoctorFinding, missing, note, ok } from './doctor-finding.ts';
import { projectsOf } from './doctor-workspace.ts';

/** Checks Node, git and the sandbox. */
export const machine = async function* (context: DoctorContext): AsyncGenerator<DoctorFinding> {
  yield node(process.versions.node);
  yield await git(context);
  yield* sandbox(context);
};

export const node = (version: string): DoctorFinding =>
  isAtLeast(version, [20, 19])
    ? ok('node', version)
    : missing('node', `${version} is too old: install 20.19 or newer`);

const git = async ({ git: { program, at } }: DoctorContext): Promise<DoctorFinding> => {
  if (program === undefined) return missing('git', 'not installed: install git 2.39 or newer');
  const version = /\d+(?:\.\d+)+/.exec(await at('/').text(['version']))?.[0] ?? 'unknown';
  return isAtLeast(version, [2, 39])
    ? ok('git', `${version} (${program})`)
    : missing('git', `${version} is too old: install 2.39 or newer`);
};

const isAtLeast = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [first = 0, second = 0] = version.split('.').map(Number);
  return first > major || (first === major && second >= minor);
};

const sandbox = function* ({ sandbox: box }: DoctorContext): Generator<DoctorFinding> {
  if (box.kind === 'bubblewrap' && box.reason === undefined)
    yield ok('bubblewrap', 'works: in Plan mode the system prevents an agent from writing');
  for (const { about, sentence } of missingProtections({ ...detectCapabilities(), sandbox: box })) {
    // Nothing starts until its sandbox can be prepared; without one, all starts with a note.
    yield (about === 'sandbox' ? missing : note)(about, sentence);
  }
};

/** Checks the providers. Only the one in the settings is required. */
export const providers = async function* (context: DoctorContext): AsyncGenerator<DoctorFinding> {
  const { config, settings, sandbox } = context;
  const doors = createDoorsProcess({
    env: config.env,
    ownPort: () => undefined,
    ended: () => undefined,
  });
  const states = `dossier-doctor-${randomUUID()}`;
  const known = createProviders(settings?.value ?? {}, {
    env: config.env,
    variables: {},
    sandbox,
    network: createNetworkAccess({
      env: config.env,
      rules: settings?.value ?? {},
      doors,
      mcp: () => NO_MCP,
      sandboxed: sandbox.kind !== 'none',
    }),
    runs: createRuns(),
    states: join(tmpdir(), states),
    keepAside: () => Promise.reject(new Error('a check stores nothing')),
    isInside: pathContains,
  });
  if (known.get(known.chosen) === undefined)
    yield missing('provider', `the settings name ${known.chosen}, which does not exist`);
  const infos = await known.list().finally(() => forgetState(tmpdir(), states));
  for (const info of infos) yield finding(info, info.id === known.chosen);
};

const finding = (
  { id, available, reason = '', version, isolation, login }: ProviderInfo,
  chosen: boolean,
): DoctorFinding => {
  const role = chosen ? ', used for new sessions' : '';
  if (available) {
    const say = login === 'no' ? note : ok;
    const about = `${isolation}${role}${LOGGED_IN[login ?? 'built_in']}`;
    return say('provider', `${id}${version ? ` ${version}` : ''} (${about})`);
  }
  return (chosen ? missing : note)('provider', `${id}: ${reason}`);
};

// Known from files and variables only: whether the credentials are valid shows in a session.
const LOGGED_IN = {
  yes: ', logged in or with a key',
  no: ', not logged in: log in with the agent itself once, or give the daemon its key',
  unknown: ', login unknown',
  built_in: '',
};

/** Checks what issues and pull requests need. Makes no network request, so the token is not verified. */
export const codeHost = async function* (context: DoctorContext): AsyncGenerator<DoctorFinding> {
  const gh = createGh(context.config.env);
  yield await program(gh);
  const hosts = new Set<string>();
  if (context.git.program !== undefined) {
    for (const [project, path] of Object.entries(projectsOf(context))) {
      const { host, finding } = await repository(context, project, path);
      hosts.add(host);
      yield finding;
    }
  }
  if (hosts.size === 0) hosts.add(context.settings?.value?.codehost?.host ?? GITHUB);
  for (const host of hosts) yield await token(context, gh, host);
};

const program = async (gh: Gh): Promise<DoctorFinding> => {
  const path = gh.program();
  if (path === undefined) return note('gh', 'not installed; optional');
  const version = await gh.version().catch(() => undefined);
  return version === undefined
    ? note('gh', `${path} does not report its version: reinstall it; optional`)
    : ok('gh', `${version} (${path}; optional)`);
};

const repository = async (
  context: DoctorContext,
  project: string,
  path: string,
): Promise<{ host: string; finding: DoctorFinding }> => {
  const { config, settings, git, layout } = context;
  const said = settings?.value?.codehost ?? {};
  try {
    const place = await findRepository(git, resolve(layout.root, path));
    const isDefault = ['default', onlyProject(Object.keys(projectsOf(context)))].includes(project);
    const ground = { git, env: config.env, settings: said, project, isDefault, place };
    const { host, owner, name, remote, ambiguous } = await detectOn(ground);
    const by = remote === null ? 'the settings' : `the remote ${remote}`;
    const finding = ambiguous
      ? note(
          'code host',
          `${project}: ${host}/${owner}/${name} by ${by}, which is a guess: set base_remote under codehost in workspace.md`,
        )
      : ok('code host', `${project}: ${host}/${owner}/${name} by ${by}`);
    return { host, finding };
  } catch (error) {
    const { message } = error as Error;
    const finding = note(
      'code host',
      `${project}: ${message} Until then, issues and pull requests are unavailable.`,
    );
    return { host: said.host ?? GITHUB, finding };
  }
};

const token = async ({ config }: DoctorContext, gh: Gh, host: string): Promise<DoctorFinding> => {
  const found = await createTokens(config.env, gh, () => true)
    .of(host)
    .catch((error: Error) => error);
  if (found instanceof Error) return note('token', `${host}: ${found.message}`);
  return found === undefined
    ? note(
        'token',
        `none for ${host}: run gh auth login --hostname ${host}, or set GH_TOKEN; optional`,
      )
    : ok('token', `for ${host}, from ${found.source}`);
};
