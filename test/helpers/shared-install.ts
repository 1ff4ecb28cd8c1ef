import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Setup, Worktree } from '../../store/records/worktree.ts';
import { sharedHome } from '../../store/worktrees/shared-snapshots.ts';
import { temporaryDirectory, writeFiles } from './repository.ts';
import { type Running, startForTest } from './service.ts';

/** A program `npm` whose `ci` installs one package with the content of the lockfile, then does `more`. */
export const NPM = (more: string): string => `#!/bin/sh
[ "$1" = ci ] || exit 1
rm -rf node_modules
mkdir -p node_modules/dep/bin node_modules/.bin
cp package-lock.json node_modules/dep/index.js
echo 'echo tool' > node_modules/dep/bin/tool; chmod 755 node_modules/dep/bin/tool
ln -s ../dep/bin/tool node_modules/.bin/tool
${more}
echo installed
`;

interface Options {
  more?: string;
  setup?: string[];
  share?: string[];
  sandbox?: 'auto' | 'off';
  settings?: string;
  files?: Record<string, string>;
}

export interface Made extends Worktree {
  case_id: string;
  setup: Setup;
}

export interface SharedInstall extends Running {
  running: Running;
  home: string;
  /** Creates a worktree for a new Work item. */
  create: (more?: object) => Promise<Made>;
  /** What `npm ci` does besides, from now on. */
  installs: (more: string) => void;
  /** The names in the directory of the snapshots. */
  snapshots: () => string[];
  /** That directory. */
  place: () => string;
}

/** A service whose worktrees share node_modules, and a repository with a lockfile. */
export const withSharedInstall = async (
  t: TestContext,
  {
    more = '',
    setup = ['npm ci'],
    share = ['node_modules'],
    sandbox = 'auto',
    settings = '',
    files = {},
  }: Options = {},
): Promise<SharedInstall> => {
  const home = temporaryDirectory(t);
  const bin = join(home, '.local/bin');
  const installs = (then: string): void => {
    writeFiles(bin, { npm: NPM(then) });
    chmodSync(join(bin, 'npm'), 0o755);
  };
  installs(more);
  const running = await startForTest(t, {
    settings: `sandbox: ${sandbox}\n${settings}\nworktrees:\n  setup: ${JSON.stringify(setup)}\n  share: ${JSON.stringify(share)}`,
    state: temporaryDirectory(t),
    env: { HOME: home, PATH: `${bin}:${process.env.PATH}` },
    files: {
      '.gitignore': 'node_modules/\ndist/\n',
      'package.json': '{"name":"x"}\n',
      'package-lock.json': '{"lock":1}\n',
      ...files,
    },
  });
  const create: SharedInstall['create'] = async (wanted = {}) => {
    const { body: item } = await running.call<Case>('POST', '/cases', { title: 'A', type: 'bug' });
    const made = await running.call<Worktree>('POST', '/api/worktrees', {
      case_id: item.id,
      ...wanted,
    });
    assert.equal(made.status, 201, made.text);
    assert.ok(made.body.setup !== undefined);
    return made.body as Made;
  };
  const place = (): string => sharedHome(running.service.store.layout) ?? '';
  const snapshots = (): string[] => (existsSync(place()) ? readdirSync(place()) : []);
  return Object.assign(Object.create(running), {
    running,
    home,
    create,
    installs,
    place,
    snapshots,
  });
};

/** The statuses of the set-up's commands, with the sentences about sharing. */
export const saidOf = ({ setup }: Made): unknown[] => [
  setup.status,
  setup.commands.map(({ status }) => status),
  ...(setup.share ?? []),
];

/** The content of the installed package. */
export const installedIn = ({ path }: Made): string =>
  readFileSync(join(path, 'node_modules/dep/index.js'), 'utf8');
