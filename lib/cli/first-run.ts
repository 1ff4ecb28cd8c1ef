import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { shellQuoted } from '../../store/base/text.ts';
import { layoutOf } from '../../store/layout.ts';
import { pathKind } from '../../store/worktrees/worktrees.ts';
import type { Dossier } from '../client/client.ts';
import { installOf } from '../code/worktrees/setup/installs.ts';
import type { Config } from '../config.ts';
import { ask, toStandardOutput as say } from './output/terminal.ts';

/** Whether nothing of Dossier is in the directory yet. */
export const isNewWorkspace = ({ workspace }: Config): boolean => {
  const layout = layoutOf(workspace);
  return [layout.settings, layout.dossier].every((path) => pathKind(path) === 'nothing');
};

/** Asks where the workspace is to be, unless a flag or variable says it. */
export const askForWorkspace = async (config: Config, isNamed: boolean): Promise<Config> => {
  if (isNamed) return config;
  const answer = await ask(`Where should Work items be kept? [${config.workspace}] `);
  if (answer === '') return config;
  const workspace = resolve(answer.replace(/^~(?=\/|$)/, config.env.HOME ?? homedir()));
  say(`Add this to your shell's profile, so that every command finds it:`);
  say(`  export DOSSIER_WORKSPACE=${shellQuoted(workspace)}`);
  return { ...config, workspace };
};

/**
 * Asks which agent plans and works by default, and whether new worktrees install their dependencies. The answers are settings
 * by the API, so they are trusted. Asks nothing where there is nothing to choose.
 */
export const askForSettings = async (dossier: Dossier, repository?: string): Promise<void> => {
  await askForProvider(dossier);
  if (repository !== undefined) await askForSetup(dossier, repository);
};

const BUILT_IN = ['runbook', 'manual'];
const LOGIN = { yes: 'logged in', no: 'not logged in', unknown: 'login unknown' };

const askForProvider = async (dossier: Dossier): Promise<void> => {
  const providers = await dossier.call('GET /api/sessions/providers');
  const agents = providers.filter(({ id, available }) => available && !BUILT_IN.includes(id));
  if (agents.length === 0) return;
  const preferred = agents.find(({ login }) => login === 'yes')?.id ?? 'runbook';
  const named = agents.map(({ id, login = 'unknown' }) => `${id} (${LOGIN[login]})`);
  say(
    `Agents: ${named.join(', ')}. Without an agent, runbook runs the shell blocks of a description.`,
  );
  const known = [...agents.map(({ id }) => id), ...BUILT_IN];
  const provider = await askUntil(
    `Which one should plan and work? [${preferred}] `,
    preferred,
    known,
  );
  if (provider !== 'runbook') await dossier.call('PUT /settings', { body: { provider } });
};

const askUntil = async (
  question: string,
  preferred: string,
  known: readonly string[],
): Promise<string> => {
  for (;;) {
    const answer = (await ask(question)) || preferred;
    if (known.includes(answer)) return answer;
    say(`${answer} is not one of ${known.join(', ')}.`);
  }
};

const INSTALLS: readonly (readonly [lockfile: string, command: string])[] = [
  ['package-lock.json', 'npm ci'],
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', 'yarn install --immutable'],
  ['bun.lock', 'bun install --frozen-lockfile'],
  ['uv.lock', 'uv sync --frozen'],
  ['poetry.lock', 'poetry install'],
  ['Gemfile.lock', 'bundle install'],
  ['composer.lock', 'composer install'],
];

const askForSetup = async (dossier: Dossier, repository: string): Promise<void> => {
  const found = INSTALLS.find(([lockfile]) => existsSync(join(repository, lockfile)));
  if (found === undefined) return;
  const [lockfile, command] = found;
  // What new worktrees can get as a copy.
  const directory = installOf(command, (name) => name === lockfile)?.directory;
  const question = `Run ${command} in each new worktree that has ${lockfile}?`;
  const share = directory !== undefined && (await isSandboxed(dossier));
  if (share)
    say(
      `s: run it once for each version of ${lockfile}, then copy ${directory}. You can change this later.`,
    );
  const answer = await ask(`${question} [${share ? 'Y/n/s' : 'Y/n'}] `);
  if (/^n/i.test(answer)) return;
  // Other projects of the workspace have other files.
  const setup = [`if [ -f ${lockfile} ]; then ${command}; fi`];
  const chosen = share && /^s/i.test(answer) ? { share: [directory] } : {};
  await dossier.call('PUT /api/worktrees/config', { body: { setup, ...chosen } });
};

const isSandboxed = async (dossier: Dossier): Promise<boolean> =>
  !(await dossier.call('GET /api/machine')).unheld.some(({ about }) => about === 'bubblewrap');
