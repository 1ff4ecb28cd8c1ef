import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { NpmPackage } from './agents.ts';

/**
 * Where the agents are installed, outside of the project: `$DOSSIER_AGENTS`, else below the user's data directory. In the
 * sandbox, the cache directory is another one.
 */
export const AGENTS =
  process.env.DOSSIER_AGENTS ??
  join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local/share'), 'dossier-agents');

/**
 * The PATH with the programs of a package on it. It is installed in a folder of its own if it is not there at that
 * version; npm runs no script of it.
 */
export const installed = ({ name, version, setup }: NpmPackage): string => {
  const folder = join(AGENTS, basename(name));
  const home = join(folder, 'node_modules', name);
  const mark = join(folder, 'whole');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== version) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    console.log(`Installing ${name}@${version} in ${folder}`);
    const args = ['install', '--ignore-scripts', '--save-exact', '--no-audit', '--no-fund'];
    execFileSync('npm', [...args, `${name}@${version}`], { cwd: folder, stdio: 'pipe' });
    if (setup !== undefined) execFileSync(process.execPath, [join(home, setup)], { cwd: home });
    if (setup !== undefined) answers(folder, home);
    // Written last: what was cut off before it is installed anew, script and all.
    writeFileSync(mark, version);
  }
  const programs = join(folder, 'node_modules/.bin');
  return [programs, dirname(process.execPath), process.env.PATH].join(':');
};

// Without its script such a package has a stub where its program belongs.
const answers = (folder: string, home: string): void => {
  const { bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  for (const name of Object.keys(bin))
    execFileSync(join(folder, 'node_modules/.bin', name), ['--version'], { stdio: 'pipe' });
};
