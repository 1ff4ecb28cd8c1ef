import { orElse } from '../../../../store/base/attempt.ts';

/** A setup command that only installs what a lockfile names. */
export interface Install {
  program: string;
  lockfile: string;
  /** The name of the directories that it fills. */
  directory: 'node_modules' | 'vendor';
  /** Prints the version of what runs its scripts; a compiled package works only with that. */
  runtime: string;
  /** Whether it runs the scripts of the project itself. */
  runsScripts: boolean;
}

interface Known extends Omit<Install, 'runsScripts'> {
  /** The words that it begins with. */
  begin: readonly string[];
  /** One of these is required, so that the lockfile decides. */
  frozen?: readonly string[];
}

const NODE = { directory: 'node_modules', runtime: 'node --version' } as const;

const KNOWN: readonly Known[] = [
  ...['ci', 'clean-install'].map((verb) => ({
    ...{ ...NODE, program: 'npm', lockfile: 'package-lock.json', begin: ['npm', verb] },
  })),
  ...['install', 'i'].map((verb) => ({
    ...{ ...NODE, program: 'pnpm', lockfile: 'pnpm-lock.yaml', begin: ['pnpm', verb] },
    frozen: ['--frozen-lockfile'],
  })),
  ...[['yarn', 'install'], ['yarn']].map((begin) => ({
    ...{ ...NODE, program: 'yarn', lockfile: 'yarn.lock', begin },
    frozen: ['--immutable', '--frozen-lockfile'],
  })),
  ...['bun.lock', 'bun.lockb'].map((lockfile) => ({
    ...{ ...NODE, program: 'bun', lockfile, begin: ['bun', 'install'] },
    frozen: ['--frozen-lockfile'],
  })),
  {
    ...{ program: 'composer', lockfile: 'composer.lock', begin: ['composer', 'install'] },
    ...{ directory: 'vendor', runtime: 'php --version' },
  },
];

// Flags that change neither the place nor the kind of what is installed.
const FLAG =
  /^--(?:ignore-scripts|no-audit|no-fund|no-progress|no-interaction|prefer-offline|prefer-dist|offline|silent|quiet|legacy-peer-deps|no-dev|production|prod|(?:omit|include)=(?:dev|optional|peer)|loglevel=[a-z]+)$/;

const NO_SCRIPTS = '--ignore-scripts';

/**
 * The install that a setup command is, as typed or as `if [ -f LOCKFILE ]; then …; fi`; `has` tells whether the worktree has
 * a lockfile. Undefined for any other command, which might do more.
 */
export const installOf = (
  command: string,
  has: (lockfile: string) => boolean,
): Install | undefined => {
  const [, guard, guarded] = /^if \[ -f (\S+) \]; then (.+); fi$/.exec(command.trim()) ?? [];
  const words = (guarded ?? command).trim().split(/ +/);
  const known = KNOWN.find((one) => isOf(one, words) && has(one.lockfile));
  if (known === undefined || (guard !== undefined && guard !== known.lockfile)) return undefined;
  const { begin: _begin, frozen: _frozen, ...install } = known;
  return { ...install, runsScripts: !words.includes(NO_SCRIPTS) };
};

const isOf = ({ begin, frozen }: Known, words: readonly string[]): boolean => {
  const flags = words.slice(begin.length);
  return (
    begin.every((word, at) => words[at] === word) &&
    (frozen === undefined || flags.some((flag) => frozen.includes(flag))) &&
    flags.every((flag) => FLAG.test(flag) || frozen?.includes(flag) === true)
  );
};

/**
 * The command that runs what npm runs of the project's own scripts after an install, in npm's order; undefined if the
 * package.json has none. `npm run NAME` runs `preNAME` and `postNAME`, too.
 */
export const ownScripts = (packageJson: string): string | undefined => {
  const has = scriptsIn(packageJson);
  const installing = has.includes('install')
    ? ['install']
    : ['preinstall', 'postinstall'].filter((name) => has.includes(name));
  const preparing = has.includes('prepare')
    ? ['prepare']
    : ['preprepare', 'postprepare'].filter((name) => has.includes(name));
  const names = [
    ...installing,
    ...(has.includes('prepublish') ? ['prepublish'] : []),
    ...preparing,
  ];
  return names.length === 0 ? undefined : names.map((name) => `npm run ${name}`).join(' && ');
};

// Empty for an invalid file: npm reports what is wrong with it.
const scriptsIn = (packageJson: string): string[] =>
  orElse(() => Object.keys(Object(JSON.parse(packageJson).scripts)), []);
