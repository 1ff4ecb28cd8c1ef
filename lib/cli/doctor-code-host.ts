import { resolve } from 'node:path';
import { onlyProject } from '../../store/records/applied.ts';
import { detectOn } from '../code/projects/detect.ts';
import { GITHUB } from '../codehost/github/address.ts';
import { createTokens } from '../codehost/github/tokens.ts';
import { findRepository } from '../tools/git/read/repository.ts';
import { createGh, type Gh } from '../tools/process/gh.ts';
import { type DoctorContext, type DoctorFinding, note, ok } from './doctor-finding.ts';
import { projectsOf } from './doctor-workspace.ts';

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
