/** What a traced program did to a directory: each change, and from when on a power cut cannot take it back. */
import { basename, dirname, join, normalize } from 'node:path';
import { bytesIn, type Call, pathOf, SAID, stringOf } from './calls.ts';
import type { Node, Tree } from './tree.ts';

/** A name that leads to a file from now on, or to none. */
export interface Edit {
  dir: number;
  name: string;
  ino: number | undefined;
  /** The moment from which on it is on disk. */
  synced: number;
}

export type Change =
  | { kind: 'names'; at: number; what: string; edits: Edit[] }
  | {
      kind: 'write';
      at: number;
      what: string;
      ino: number;
      from: number;
      bytes: Buffer;
      synced: number;
    }
  | { kind: 'size'; at: number; what: string; ino: number; size: number; synced: number };

export interface Recording {
  base: Tree;
  changes: Change[];
  /** What the program said, and when. */
  said: { at: number; what: string }[];
  /** The last moment. */
  end: number;
  /** All that came to be, by inode: kind and mode. */
  made: ReadonlyMap<number, Node>;
}

/** Leaves a sync out, as a daemon would that forgot it. */
export type Forget = (path: string, kind: Node['kind']) => boolean;

/** Follows the calls of a program below `root`, from the tree as it was. */
export const follow = (
  root: string,
  base: Tree,
  calls: readonly Call[],
  forget: Forget = () => false,
): Recording => {
  const scene = new Scene(root, base, forget);
  for (const call of calls) scene.take(call);
  return scene.recording();
};

type Live =
  | { kind: 'file'; mode: number; size: number }
  | { kind: 'link'; mode: number; target: string }
  | { kind: 'directory'; mode: number; entries: Map<string, number> };

interface Place {
  dir: number;
  name: string;
  path: string;
}

class Scene {
  readonly live = new Map<number, Live>();
  readonly changes: Change[] = [];
  readonly said: Recording['said'] = [];
  readonly positions = new Map<string, number>();
  readonly cwds = new Map<number, string>();
  readonly descriptors = new Map<number, string>();
  readonly made = new Map<number, Node>();
  /** The moment in which each call returned, by its number. */
  readonly moments = new Map<number, number>();
  now = 0;
  next: number;
  first: number | undefined;
  readonly root: string;
  readonly base: Tree;
  readonly forget: Forget;

  constructor(root: string, base: Tree, forget: Forget) {
    this.root = root;
    this.base = base;
    this.forget = forget;
    this.next = Math.max(0, ...base.nodes.keys()) + 1;
    for (const [ino, node] of base.nodes) this.live.set(ino, liveOf(node));
  }

  recording(): Recording {
    const { base, changes, said, made, now } = this;
    return { base, changes, said, made, end: now };
  }

  take(call: Call): void {
    this.first ??= call.pid;
    this.now += 1;
    this.moments.set(call.index, this.now);
    if (call.name === 'chdir') this.cwds.set(call.pid, this.absolute(call, call.args[0]));
    else if (call.name === 'fchdir') this.cwds.set(call.pid, pathOf(call.args[0]));
    else HANDLERS[call.name]?.(this, call);
  }

  /** The absolute path of a plain path argument. */
  absolute({ pid }: Call, arg: string | undefined, from = this.cwds.get(pid)): string {
    const text = stringOf(arg);
    const [, fd, rest = ''] = /^\/proc\/self\/fd\/(\d+)(\/.*)?$/.exec(text) ?? [];
    if (fd !== undefined) return normalize(`${this.descriptors.get(Number(fd))}${rest}`);
    return normalize(text.startsWith('/') ? text : join(from ?? '/', text));
  }

  /** The same of a directory argument and a path. */
  at(call: Call, dir: string | undefined, arg: string | undefined): string {
    const from = pathOf(dir);
    if (dir?.startsWith('AT_FDCWD')) this.cwds.set(call.pid, from);
    return this.absolute(call, arg, from);
  }

  /** Where a name is; undefined outside of what is watched. */
  placeOf(path: string): Place | undefined {
    if (!path.startsWith(`${this.root}/`)) return undefined;
    const dir = this.inoOf(dirname(path));
    if (dir === undefined || this.live.get(dir)?.kind !== 'directory') return undefined;
    return { dir, name: basename(path), path: path.slice(this.root.length + 1) };
  }

  inoOf(path: string): number | undefined {
    if (path === this.root) return this.base.root;
    if (!path.startsWith(`${this.root}/`)) return undefined;
    let at: number | undefined = this.base.root;
    for (const name of path.slice(this.root.length + 1).split('/')) {
      const node: Live | undefined = at === undefined ? undefined : this.live.get(at);
      at = node?.kind === 'directory' ? node.entries.get(name) : undefined;
    }
    return at;
  }

  entry({ dir, name }: Place): number | undefined {
    const node = this.live.get(dir);
    return node?.kind === 'directory' ? node.entries.get(name) : undefined;
  }

  make(node: Live): number {
    const ino = this.next;
    this.next += 1;
    this.live.set(ino, node);
    this.made.set(ino, nodeOf(node));
    return ino;
  }

  names(what: string, edits: Omit<Edit, 'synced'>[]): void {
    for (const { dir, name, ino } of edits) {
      const node = this.live.get(dir);
      if (node?.kind !== 'directory') continue;
      if (ino === undefined) node.entries.delete(name);
      else node.entries.set(name, ino);
    }
    const pending = edits.map((edit) => ({ ...edit, synced: Number.POSITIVE_INFINITY }));
    this.changes.push({ kind: 'names', at: this.now, what, edits: pending });
  }

  write(ino: number, from: number, bytes: Buffer): void {
    const node = this.live.get(ino);
    if (node?.kind !== 'file' || bytes.length === 0) return;
    node.size = Math.max(node.size, from + bytes.length);
    const what = `${bytes.length} bytes written to ${this.nameOf(ino)}`;
    const synced = Number.POSITIVE_INFINITY;
    this.changes.push({ kind: 'write', at: this.now, what, ino, from, bytes, synced });
  }

  resize(ino: number, size: number): void {
    const node = this.live.get(ino);
    if (node?.kind !== 'file' || node.size === size) return;
    node.size = size;
    const what = `${this.nameOf(ino)} cut or grown to ${size} bytes`;
    const synced = Number.POSITIVE_INFINITY;
    this.changes.push({ kind: 'size', at: this.now, what, ino, size, synced });
  }

  /** For people alone. */
  nameOf(wanted: number): string {
    for (const [dir, node] of this.live) {
      const name = node.kind === 'directory' ? nameIn(node.entries, wanted) : undefined;
      if (name !== undefined) return dir === this.base.root ? name : `${this.nameOf(dir)}/${name}`;
    }
    return '(no name)';
  }

  /** All that was done to it before the call began is on disk. */
  sync(path: string, call: Call): void {
    const ino = this.inoOf(path);
    const node = ino === undefined ? undefined : this.live.get(ino);
    if (ino === undefined || node === undefined || this.forget(path, node.kind)) return;
    const began = this.moments.get(call.began - 1) ?? 0;
    for (const each of this.changes.filter(({ at }) => at <= began).flatMap(partsOf))
      if (each.of === ino) each.part.synced = Math.min(each.part.synced, this.now);
  }
}

const nameIn = (entries: ReadonlyMap<string, number>, wanted: number): string | undefined =>
  [...entries].find(([, ino]) => ino === wanted)?.[0];

/** What of a change is on disk once a file or directory was synced. */
const partsOf = (change: Change): { of: number; part: { synced: number } }[] =>
  change.kind === 'names'
    ? change.edits.map((part) => ({ of: part.dir, part }))
    : [{ of: change.ino, part: change }];

const liveOf = (node: Node): Live => {
  if (node.kind === 'file') return { kind: 'file', mode: node.mode, size: node.bytes.length };
  if (node.kind === 'link') return node;
  return { ...node, entries: new Map(node.entries) };
};

const nodeOf = (live: Live): Node => {
  if (live.kind === 'file') return { kind: 'file', mode: live.mode, bytes: Buffer.alloc(0) };
  return live.kind === 'link' ? live : { ...live, entries: new Map() };
};

const UMASK = 0o022;

const modeOf = (arg: string | undefined, otherwise: number): number =>
  (arg === undefined ? otherwise : Number.parseInt(arg, 8)) & ~UMASK;

const opened = (scene: Scene, call: Call, path: string, [flags = '', mode]: string[]): void => {
  const fd = call.returned.value;
  if (call.pid === scene.first && call.returned.path !== undefined)
    scene.descriptors.set(fd, call.returned.path);
  const place = scene.placeOf(path);
  if (place === undefined) return;
  let ino = scene.entry(place);
  if (ino === undefined) {
    if (!flags.includes('O_CREAT')) return;
    ino = scene.make({ kind: 'file', mode: modeOf(mode, 0o666), size: 0 });
    scene.names(`${place.path} created`, [{ ...place, ino }]);
  } else if (flags.includes('O_TRUNC')) scene.resize(ino, 0);
  // The number of a descriptor is used again.
  if (flags.includes('O_APPEND')) scene.positions.delete(`${fd} ${ino}`);
  else scene.positions.set(`${fd} ${ino}`, 0);
};

const wrote = (scene: Scene, call: Call, bytes: Buffer): void => {
  const [target = ''] = call.args;
  const ino = scene.inoOf(pathOf(target));
  const node = ino === undefined ? undefined : scene.live.get(ino);
  if (ino === undefined || node?.kind !== 'file') return;
  const key = `${Number.parseInt(target, 10)} ${ino}`;
  // Opened before, or to append, or handed over by a shell: at the end.
  const from = scene.positions.get(key) ?? node.size;
  scene.write(ino, from, bytes.subarray(0, call.returned.value));
  if (scene.positions.has(key)) scene.positions.set(key, from + call.returned.value);
};

const wroteAt = (scene: Scene, call: Call, bytes: Buffer, from: number): void => {
  const ino = scene.inoOf(pathOf(call.args[0]));
  if (ino !== undefined) scene.write(ino, from, bytes.subarray(0, call.returned.value));
};

const moved = (scene: Scene, from: string, to: string): void => {
  const [old, wanted] = [scene.placeOf(from), scene.placeOf(to)];
  const ino = old && scene.entry(old);
  if (old === undefined || ino === undefined) return;
  const gone = { ...old, ino: undefined };
  if (wanted === undefined) scene.names(`${old.path} moved away`, [gone]);
  else if (scene.entry(wanted) !== ino)
    scene.names(`rename ${old.path} -> ${wanted.path}`, [{ ...wanted, ino }, gone]);
};

const linked = (scene: Scene, from: string, to: string): void => {
  const [ino, place] = [scene.inoOf(from), scene.placeOf(to)];
  if (ino !== undefined && place !== undefined)
    scene.names(`link ${from.slice(scene.root.length + 1)} -> ${place.path}`, [{ ...place, ino }]);
};

const removed = (scene: Scene, path: string): void => {
  const place = scene.placeOf(path);
  if (place !== undefined && scene.entry(place) !== undefined)
    scene.names(`${place.path} removed`, [{ ...place, ino: undefined }]);
};

const directoryMade = (scene: Scene, path: string, mode: string | undefined): void => {
  const place = scene.placeOf(path);
  if (place === undefined) return;
  const ino = scene.make({ kind: 'directory', mode: modeOf(mode, 0o777), entries: new Map() });
  scene.names(`directory ${place.path} made`, [{ ...place, ino }]);
};

const linkMade = (scene: Scene, target: string, path: string): void => {
  const place = scene.placeOf(path);
  if (place === undefined) return;
  const ino = scene.make({ kind: 'link', mode: 0o777, target });
  scene.names(`link ${place.path} made`, [{ ...place, ino }]);
};

// Modes are taken as they come to be: what is lost of them is not looked at.
const modeSet = (scene: Scene, path: string, mode: string | undefined): void => {
  const ino = scene.inoOf(path);
  const node = ino === undefined ? undefined : scene.live.get(ino);
  if (ino === undefined || node === undefined) return;
  node.mode = Number.parseInt(mode ?? '0', 8);
  const known = scene.made.get(ino) ?? scene.base.nodes.get(ino);
  if (known !== undefined) known.mode = node.mode;
};

const heard = (scene: Scene, call: Call): void => {
  const what = stringOf(call.args[0]).slice(SAID.length);
  scene.said.push({ at: scene.now, what });
};

const unsupported = (_: Scene, { name }: Call): void => {
  throw new Error(`${name} is not followed: add it to test/crash/recording.ts`);
};

type Handler = (scene: Scene, call: Call) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  access: heard,
  open: (s, c) => opened(s, c, s.absolute(c, c.args[0]), c.args.slice(1)),
  openat: (s, c) => opened(s, c, s.at(c, c.args[0], c.args[1]), c.args.slice(2)),
  creat: (s, c) => opened(s, c, s.absolute(c, c.args[0]), ['O_CREAT|O_TRUNC', c.args[1] ?? '']),
  write: (s, c) => wrote(s, c, bytesIn(c.args[1] ?? '')),
  writev: (s, c) => wrote(s, c, bytesIn(c.args[1] ?? '')),
  pwrite64: (s, c) => wroteAt(s, c, bytesIn(c.args[1] ?? ''), Number(c.args[3])),
  pwritev: (s, c) => wroteAt(s, c, bytesIn(c.args[1] ?? ''), Number(c.args[3])),
  ftruncate: (s, c) => {
    const ino = s.inoOf(pathOf(c.args[0]));
    if (ino !== undefined) s.resize(ino, Number(c.args[1]));
  },
  truncate: unsupported,
  copy_file_range: (s, c) => copied(s, c.args[2], c.args[0], c),
  sendfile: (s, c) => copied(s, c.args[0], c.args[1], c),
  rename: (s, c) => moved(s, s.absolute(c, c.args[0]), s.absolute(c, c.args[1])),
  renameat: (s, c) => moved(s, s.at(c, c.args[0], c.args[1]), s.at(c, c.args[2], c.args[3])),
  renameat2: (s, c) => moved(s, s.at(c, c.args[0], c.args[1]), s.at(c, c.args[2], c.args[3])),
  link: (s, c) => linked(s, s.absolute(c, c.args[0]), s.absolute(c, c.args[1])),
  linkat: (s, c) => linked(s, s.at(c, c.args[0], c.args[1]), s.at(c, c.args[2], c.args[3])),
  unlink: (s, c) => removed(s, s.absolute(c, c.args[0])),
  unlinkat: (s, c) => removed(s, s.at(c, c.args[0], c.args[1])),
  rmdir: (s, c) => removed(s, s.absolute(c, c.args[0])),
  mkdir: (s, c) => directoryMade(s, s.absolute(c, c.args[0]), c.args[1]),
  mkdirat: (s, c) => directoryMade(s, s.at(c, c.args[0], c.args[1]), c.args[2]),
  symlink: (s, c) => linkMade(s, stringOf(c.args[0]), s.absolute(c, c.args[1])),
  symlinkat: (s, c) => linkMade(s, stringOf(c.args[0]), s.at(c, c.args[1], c.args[2])),
  fsync: (s, c) => s.sync(pathOf(c.args[0]), c),
  fdatasync: (s, c) => s.sync(pathOf(c.args[0]), c),
  chmod: (s, c) => modeSet(s, s.absolute(c, c.args[0]), c.args[1]),
  fchmod: (s, c) => modeSet(s, pathOf(c.args[0]), c.args[1]),
  fchmodat: (s, c) => modeSet(s, s.at(c, c.args[0], c.args[1]), c.args[2]),
};

// A whole file into a new one: what Node's copies and git's do.
const copied = (scene: Scene, to: string | undefined, from: string | undefined, call: Call) => {
  const [ino, source] = [scene.inoOf(pathOf(to)), scene.inoOf(pathOf(from))];
  if (ino === undefined) return;
  if (source === undefined) throw new Error(`Copied from outside: ${pathOf(from)}`);
  const bytes = contentOf(scene, source);
  scene.write(ino, 0, bytes.subarray(0, call.returned.value));
};

const contentOf = (scene: Scene, ino: number): Buffer => {
  const node = scene.base.nodes.get(ino);
  const writes = scene.changes.filter((change) => change.kind !== 'names' && change.ino === ino);
  return applied(node?.kind === 'file' ? node.bytes : Buffer.alloc(0), writes);
};

/** What a file holds after these changes of it. */
export const applied = (bytes: Buffer, changes: readonly Change[]): Buffer => {
  let now = bytes;
  for (const change of changes) {
    if (change.kind === 'size') now = sized(now, change.size);
    if (change.kind !== 'write') continue;
    const { from, bytes: fresh } = change;
    const grown = Buffer.from(sized(now, Math.max(now.length, from + fresh.length)));
    fresh.copy(grown, from);
    now = grown;
  }
  return now;
};

const sized = (bytes: Buffer, size: number): Buffer =>
  size <= bytes.length
    ? bytes.subarray(0, size)
    : Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]);
