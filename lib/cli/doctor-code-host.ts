import { resolve } from 'node:path';
import { onlyProject } from '../../store/records/applied.ts';
import { detectOn } from '../code/projects/detect.ts';
import { GITHUB } from '../codehost/github/address.ts';
import { createTokens } from '../codehost/github/tokens.ts';
import { findRepository } from '../tools/git/read/repository.ts';
import { createGh, type Gh } from '../tools/process/gh.ts';
import { projectsOf } from './doctor-workspace.ts';
import { type DoctorFinding, note, ok, type Patient } from './finding.ts';

/** What issues and pull requests need. Nobody is asked over the network: whether the token is taken is the daemon's to say. */
export const codeHost = async function* (patient: Patient): AsyncGenerator<DoctorFinding> {
  const gh = createGh(patient.config.env);
  yield await program(gh);
  const hosts = new Set<string>();
  if (patient.git.program !== undefined) {
    for (const [project, path] of Object.entries(projectsOf(patient))) {
      const { host, finding } = await repository(patient, project, path);
      hosts.add(host);
      yield finding;
    }
  }
  if (hosts.size === 0) hosts.add(patient.settings?.value?.codehost?.host ?? GITHUB);
  for (const host of hosts) yield await token(patient, gh, host);
};

const program = async (gh: Gh): Promise<DoctorFinding> => {
  const path = gh.program();
  if (path === undefined) return note('gh', 'not installed; optional');
  const version = await gh.version().catch(() => undefined);
  return version === undefined
    ? note('gh', `${path} does not say its version: repair it, or do without; optional`)
    : ok('gh', `${version} (${path}; optional)`);
};

const repository = async (
  patient: Patient,
  project: string,
  path: string,
): Promise<{ host: string; finding: DoctorFinding }> => {
  const { config, settings, git, layout } = patient;
  const said = settings?.value?.codehost ?? {};
  try {
    const place = await findRepository(git, resolve(layout.root, path));
    const isDefault = ['default', onlyProject(Object.keys(projectsOf(patient)))].includes(project);
    const ground = { git, env: config.env, settings: said, project, isDefault, place };
    const { host, owner, name, remote, ambiguous } = await detectOn(ground);
    const by = remote === null ? 'the settings' : `the remote ${remote}`;
    const finding = ambiguous
      ? note(
          'code host',
          `${project}: ${host}/${owner}/${name} by ${by}, which is a guess: name base_remote in workspace.md under codehost`,
        )
      : ok('code host', `${project}: ${host}/${owner}/${name} by ${by}`);
    return { host, finding };
  } catch (error) {
    const { message } = error as Error;
    const finding = note(
      'code host',
      `${project}: ${message} Without it there are no issues and pull requests.`,
    );
    return { host: said.host ?? GITHUB, finding };
  }
};

const token = async ({ config }: Patient, gh: Gh, host: string): Promise<DoctorFinding> => {
  const found = await createTokens(config.env, gh)
    .of(host)
    .catch((error: Error) => error);
  if (found instanceof Error) return note('token', `${host}: ${found.message}`);
  return found === undefined
    ? note(
        'token',
        `none for ${host}: run gh auth login --hostname ${host}, or set GH_TOKEN; optional`,
      )
    : ok('token', `for ${host}, of ${found.source}`);
};
