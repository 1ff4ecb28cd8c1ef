/** What operators, their editors and git do to the files, step by step. Between two steps anything may happen. */
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { gitIn } from '../helpers/repository.ts';
import { isInUndo } from './judge.ts';
import { partsOf } from './texts.ts';
import { CASE, dirOf, itemDirs, PROOF, Violation, type World } from './world.ts';

/** How a file is saved. */
export type Style = 'rename' | 'in place' | 'torn' | 'vim' | 'old times';

export type Edit =
  /** `stale`: read in one step, saved in a later one, as an editor that was open for a while. */
  | { edit: 'set'; item: number; key: string; value: string; style: Style; stale: boolean }
  | { edit: 'body'; item: number; text: string; style: Style; stale: boolean }
  | { edit: 'append'; item: number; text: string }
  | { edit: 'break'; item: number; how: 'yaml' | 'merge' | 'cut' | 'empty'; style: Style }
  | { edit: 'mend'; item: number; style: Style }
  | { edit: 'drop id'; item: number }
  | { edit: 'move'; item: number; to: number }
  | { edit: 'swap'; item: number; other: number }
  | { edit: 'copy'; item: number; to: number; keepId: boolean }
  | { edit: 'remove'; item: number }
  | { edit: 'make'; to: number; title: string; eol: '\n' | '\r\n'; bare: boolean }
  | { edit: 'prove'; item: number; text: string; verified: boolean }
  | { edit: 'edit proof'; item: number; proof: number; text: string; style: Style }
  | { edit: 'verify'; item: number; proof: number }
  | { edit: 'remove proof'; item: number; proof: number }
  | { edit: 'memory'; item: number; file: string; text: string; style: Style; stale: boolean }
  | { edit: 'git commit' }
  | { edit: 'git checkout'; revision: number; pieces: boolean }
  | { edit: 'git stash' }
  | { edit: 'git stash pop' }
  | { edit: 'git merge'; revision: number };

export const editNamed = ({ edit, ...rest }: Edit): string =>
  [
    `by hand: ${edit}`,
    ...Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
  ].join(' ');

/** The steps of one edit, each run by one `next()`. What it works on is chosen when it begins. */
export function* stepsOf(edit: Edit, world: World): Generator<void> {
  if (edit.edit.startsWith('git')) return yield* gitSteps(edit, world);
  if (edit.edit === 'make') make(edit, world);
  const dir = 'item' in edit ? pick(itemDirs(world), edit.item) : undefined;
  if (dir !== undefined) yield* inItem(edit, world, dir);
}

const pick = <T>(from: readonly T[], index: number): T | undefined => from[index % from.length];

function* inItem(edit: Edit, world: World, dir: string): Generator<void> {
  const at = join(world.root, dir);
  const record = join(at, 'case.md');
  switch (edit.edit) {
    case 'set':
      return yield* change(world, record, edit, (text) => withValue(text, edit.key, edit.value));
    case 'body':
      return yield* change(world, record, edit, (text) => withBody(text, edit.text));
    case 'append':
      return appendFileSync(record, edit.text);
    case 'break':
      return yield* change(world, record, edit, (text) => broken(text, edit.how));
    case 'mend':
      return yield* mend(world, dir, edit.style);
    case 'drop id':
      return yield* change(world, record, { style: 'rename' }, (text) =>
        text.replace(/^id:.*\r?\n/m, ''),
      );
    case 'move':
      return move(at, join(world.root, placeNamed('moved', edit.to)));
    case 'swap':
      return yield* swap(at, join(world.root, pick(itemDirs(world), edit.other) ?? dir));
    case 'copy':
      return yield* copy(world, dir, edit);
    case 'remove':
      return yield* remove(world, dir);
    case 'memory':
      return yield* saveMemory(world, join(at, 'memory', edit.file), edit);
    default:
      return yield* inProofs(edit, world, dir);
  }
}

interface Saving {
  style: Style;
  stale?: boolean;
}

// An editor that is given a file it cannot make sense of changes nothing.
function* change(
  world: World,
  path: string,
  { style, stale = false }: Saving,
  make: (text: string) => string | undefined,
): Generator<void> {
  if (!existsSync(path)) return;
  const text = make(readFileSync(path, 'utf8'));
  if (stale) yield;
  if (text !== undefined && existsSync(dirname(path))) yield* save(world, path, text, style);
}

function* save(world: World, path: string, text: string, style: Style): Generator<void> {
  if (style === 'in place') return writeFileSync(path, text);
  if (style === 'torn') return yield* saveTorn(world, path, text);
  if (style === 'vim') return yield* saveAsVim(path, text);
  writeFileSync(`${path}.tmp`, text);
  // As rsync -t and cp -p do: the new file is older than the one it replaces.
  if (style === 'old times') utimesSync(`${path}.tmp`, OLD, OLD);
  renameSync(`${path}.tmp`, path);
}

const OLD = 1_700_000_000;

function* saveTorn(world: World, path: string, text: string): Generator<void> {
  const file = openSync(path, 'w');
  const began = world.now;
  try {
    yield;
    const bytes = Buffer.from(text);
    const half = bytes.length >> 1;
    writeSync(file, bytes, 0, half);
    yield;
    writeSync(file, bytes, half);
  } finally {
    closeSync(file);
  }
  // What was saved into a file that the daemon has replaced meanwhile is where such files are kept.
  const isOnDisk = existsSync(path) && readFileSync(path, 'utf8') === text;
  const since = world.versions.filter(
    (version) => version.path === relative(world.root, path) && version.from >= began,
  );
  const isOthers = since.some(
    (each) => each.by.kind === 'hand' && !text.startsWith(each.text ?? '-'),
  );
  const last = since.at(-1);
  // Where a call deleted it, that was asked for.
  const isReplaced = last?.by.kind === 'daemon' && last.text !== undefined;
  if (!isOnDisk && !isOthers && isReplaced && !isInUndo(world, text))
    throw new Violation(`${path}: a save in two pieces is neither there nor in .dossier/undo`);
}

function* saveAsVim(path: string, text: string): Generator<void> {
  if (existsSync(path)) renameSync(path, `${path}~`);
  yield;
  if (!existsSync(dirname(path))) return;
  writeFileSync(path, text);
  yield;
  rmSync(`${path}~`, { force: true });
}

const withValue = (text: string, key: string, value: string): string | undefined => {
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  const line = new RegExp(`^${key}:.*$`, 'm');
  const yaml = text.slice(0, text.length - parts.body.length);
  if (line.test(yaml.replaceAll('\r', '')))
    return yaml.replace(new RegExp(`^${key}:[^\r\n]*`, 'm'), `${key}: ${value}`) + parts.body;
  return text.replace(/^---\r?\n/, (opening) => `${opening}${key}: ${value}${parts.eol}`);
};

const withBody = (text: string, body: string): string | undefined => {
  const parts = partsOf(text);
  return parts && text.slice(0, text.length - parts.body.length) + parts.eol + body + parts.eol;
};

const broken = (text: string, how: 'yaml' | 'merge' | 'cut' | 'empty'): string => {
  if (how === 'yaml') return text.replace('---\n', '---\n  - [never closed\n');
  if (how === 'cut') return text.slice(0, text.length >> 2);
  if (how === 'empty') return '';
  return text.replace(
    '---\n',
    '---\n<<<<<<< HEAD\nowner: me\n=======\nowner: you\n>>>>>>> theirs\n',
  );
};

/** Puts back what could last be read of every file that cannot be read now. */
export function* mend(world: World, dir: string, style: Style): Generator<void> {
  for (const [path, text] of [...world.files]) {
    const isRecord = CASE.test(path) || PROOF.test(path);
    if (!isRecord || dirOf(path) !== dir || isGood(text)) continue;
    const good = world.versions.findLast(
      (version) => version.path === path && version.text !== undefined && isGood(version.text),
    );
    if (good?.text !== undefined) yield* save(world, join(world.root, path), good.text, style);
    yield;
  }
}

const isGood = (text: string): boolean => {
  const { title, type } = partsOf(text)?.data ?? {};
  return (title ?? type) !== undefined && !text.includes('<<<<<<<');
};

const placeNamed = (name: string, n: number): string => `cases/2026-0${1 + (n % 3)}/${name}-${n}`;

const move = (from: string, to: string): void => {
  if (existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
};

function* swap(one: string, other: string): Generator<void> {
  if (one === other || existsSync(`${one}.spare`)) return;
  renameSync(one, `${one}.spare`);
  yield;
  if (existsSync(other)) renameSync(other, one);
  yield;
  if (!existsSync(other)) renameSync(`${one}.spare`, other);
}

function* copy(
  world: World,
  dir: string,
  { to, keepId }: { to: number; keepId: boolean },
): Generator<void> {
  const target = join(world.root, placeNamed('copy', to));
  if (existsSync(target)) return;
  const files = [...world.files.keys()].filter((path) => path.startsWith(`${dir}/`)).toSorted();
  for (const path of files) {
    const copied = join(target, path.slice(dir.length));
    mkdirSync(dirname(copied), { recursive: true });
    if (existsSync(join(world.root, path))) cpSync(join(world.root, path), copied);
    yield;
  }
  const drop = (text: string) => text.replace(/^id:.*\r?\n/m, '');
  if (!keepId) yield* change(world, join(target, 'case.md'), { style: 'in place' }, drop);
}

function* remove(world: World, dir: string): Generator<void> {
  const files = [...world.files.keys()].filter((path) => path.startsWith(`${dir}/`)).toSorted();
  for (const path of files) {
    rmSync(join(world.root, path), { force: true });
    yield;
  }
  rmSync(join(world.root, dir), { recursive: true, force: true });
}

const make = ({ to, title, eol, bare }: Extract<Edit, { edit: 'make' }>, { root }: World): void => {
  const dir = join(root, placeNamed('mine', to));
  if (existsSync(dir)) return;
  mkdirSync(dir, { recursive: true });
  const lines = bare
    ? [`title: ${JSON.stringify(title)}`]
    : ['# mine', `title: ${JSON.stringify(title)} # yes`, 'state: BLOCKED', 'mine: [1, 2]'];
  const text = ['---', ...lines, '---', '', 'By hand.', ''].join(eol);
  writeFileSync(join(dir, 'case.md'), text);
};

function* saveMemory(
  world: World,
  path: string,
  { text, style, stale }: Saving & { text: string },
): Generator<void> {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (stale === true) yield;
  if (!existsSync(dirname(dirname(path)))) return;
  mkdirSync(dirname(path), { recursive: true });
  yield* save(world, path, `${before}${text}\n`, style);
}

function* inProofs(edit: Edit, world: World, dir: string): Generator<void> {
  const folder = join(world.root, dir, 'proof');
  if (edit.edit === 'prove') {
    mkdirSync(folder, { recursive: true });
    const name = `mine-${edit.text.length}.md`;
    const text = `---\ntype: log\nverified: ${edit.verified}\n---\n\n${edit.text}\n`;
    return writeFileSync(join(folder, name), text);
  }
  const proofs = [...world.files.keys()].filter((path) => PROOF.test(path) && dirOf(path) === dir);
  const path = 'proof' in edit ? pick(proofs.toSorted(), edit.proof) : undefined;
  if (path === undefined) return;
  const at = join(folder, basename(path));
  if (edit.edit === 'remove proof') return rmSync(at);
  if (edit.edit === 'verify')
    return yield* change(world, at, { style: 'rename' }, (text) =>
      withValue(text, 'verified', 'true'),
    );
  if (edit.edit === 'edit proof')
    yield* change(world, at, edit, (text) => withBody(text, edit.text));
}

function* gitSteps(edit: Edit, { root }: World): Generator<void> {
  const git = tolerant(root);
  if (edit.edit === 'git stash') git('stash', '--quiet', '--include-untracked');
  else if (edit.edit === 'git stash pop') git('stash', 'pop', '--quiet');
  else if (edit.edit === 'git commit') {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', 'as it is');
  } else if ('revision' in edit) yield* toRevision(edit, root);
}

function* toRevision(edit: Extract<Edit, { revision: number }>, root: string): Generator<void> {
  const git = tolerant(root);
  const revision = pick(git('rev-list', '--all').trim().split('\n'), edit.revision) ?? 'HEAD';
  if (edit.edit === 'git merge') git('merge', '--quiet', '--no-edit', revision);
  else if (edit.pieces) yield* inPieces(root, revision);
  else git('checkout', '--quiet', revision);
}

// A checkout of many files takes its time: file by file, with the lock on the index held.
function* inPieces(root: string, revision: string): Generator<void> {
  const git = tolerant(root);
  const lines = git('diff', '--name-status', '--no-renames', 'HEAD', revision).trim().split('\n');
  for (const line of lines.filter((each) => each !== '')) {
    const [kind, path = ''] = line.split('\t');
    if (kind === 'A') rmSync(join(root, path), { force: true });
    else git('checkout', revision, '--', path);
    yield;
  }
}

// git may refuse (local changes, a conflict): that too is what operators meet.
const tolerant =
  (root: string) =>
  (...args: string[]): string => {
    try {
      return gitIn(root)(...args);
    } catch {
      return '';
    }
  };

export const makeGit = (root: string): void => {
  const git = gitIn(root);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'An Operator');
  git('config', 'user.email', 'one@example.com');
  writeFileSync(join(root, '.gitignore'), '.dossier/\n*.tmp\n*~\n');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'start');
};
