import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import { dirname } from 'node:path';
import { dossierScript } from './build.ts';
import type { Run } from './results.ts';

const GB = 1 << 30;

/** What is measured now, and on which machine. */
export const describeRun = (): Run => ({
  commit: commitOf(dirname(dossierScript())),
  date: `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  CPU: cpus()[0]?.model.trim() || 'unknown',
  cores: `${cpus().length}`,
  memory: `${(totalmem() / GB).toFixed(1)} GB`,
  kernel: `${type()} ${release()}`,
  Node: process.version,
  git: git('version').replace('git version ', ''),
});

/** When and where a section of RESULTS.md was measured, as a sentence. */
export const describeSection = (flag: string): string => {
  const { commit, date, CPU, cores, Node } = describeRun();
  return `\`npm run bench -- ${flag}\` of ${commit}, ${date}: ${CPU}, ${cores} cores, Node ${Node}.`;
};

const commitOf = (dir: string): string => {
  try {
    const commit = git('-C', dir, 'rev-parse', '--short=10', 'HEAD');
    const changes = git('-C', dir, 'status', '--porcelain', '--', ':/', ':!/test/bench/RESULTS.md');
    return changes === '' ? commit : `${commit}, with changes`;
  } catch {
    return 'unknown';
  }
};

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
