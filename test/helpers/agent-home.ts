import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { STATE_RULES } from '../../lib/agents/state-rules.ts';
import { openRunState } from '../../lib/sandbox/state/open.ts';
import type { StatePlace } from '../../lib/sandbox/state/rules.ts';
import { temporaryDirectory, writeFiles } from './repository.ts';

/** The worktree of the runs that open it. */
export const AGENT_CWD = '/work/one.two';

type Files = Record<string, string>;

/** A home directory with what agents keep there, by place: a directory of files, or one file. */
export const agentHome = (t: TestContext, places: Record<string, Files | string>) => {
  const root = temporaryDirectory(t);
  const home = join(root, 'home');
  const within = join(root, 'states');
  mkdirSync(home);
  for (const [name, files] of Object.entries(places)) {
    if (typeof files === 'string') writeFileSync(join(home, name), files, { mode: 0o600 });
    else {
      mkdirSync(join(home, name), { recursive: true });
      writeFiles(join(home, name), files);
    }
  }
  const state = Object.keys(places).map((name): StatePlace => {
    const rules = STATE_RULES[name];
    return { path: join(home, name), ...(rules && { rules }) };
  });
  const keepAside = async (name: string, text: string): Promise<string> => {
    const path = join(root, `kept-${name}`);
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    return path;
  };
  const open = (native_session_id?: string, name = 'session') =>
    openRunState(state, { within, name, keepAside }, { cwd: AGENT_CWD, native_session_id });
  const openNamed = (returns: string[]) => {
    const named = state.map(({ path }) => ({ path, rules: { returns } }));
    return openRunState(named, { within, name: 'session', keepAside }, { cwd: AGENT_CWD });
  };
  const path = join(home, Object.keys(places)[0] ?? '');
  return {
    ...{ root, path, open, openNamed },
    copy: join(within, 'session/0'),
    /** The copy of another of the places, or of another session. */
    copyOf: (at: number, name = 'session') => join(within, name, `${at}`),
    read: (file: string) => readFileSync(join(path, file), 'utf8'),
  };
};
