/** A directory with all in it as plain data: by inode, so that a file with two names is one. */
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../store/base/sha256.ts';

export type Node =
  | { kind: 'file'; mode: number; bytes: Buffer }
  | { kind: 'link'; mode: number; target: string }
  | { kind: 'directory'; mode: number; entries: ReadonlyMap<string, number> };

export interface Tree {
  root: number;
  nodes: ReadonlyMap<number, Node>;
}

/** Sockets and pipes are left out: they are nothing after a power cut. */
export const readTree = (root: string): Tree => {
  const nodes = new Map<number, Node>();
  return { root: look(root, nodes) ?? 0, nodes };
};

const look = (path: string, nodes: Map<number, Node>): number | undefined => {
  const stats = lstatSync(path);
  const { ino } = stats;
  const mode = stats.mode & 0o7777;
  if (nodes.has(ino)) return ino;
  if (stats.isFile()) nodes.set(ino, { kind: 'file', mode, bytes: readFileSync(path) });
  else if (stats.isSymbolicLink())
    nodes.set(ino, { kind: 'link', mode, target: readlinkSync(path) });
  else if (stats.isDirectory()) {
    const found = readdirSync(path).map((name) => [name, look(join(path, name), nodes)] as const);
    const entries = new Map(found.flatMap(([name, at]) => (at === undefined ? [] : [[name, at]])));
    nodes.set(ino, { kind: 'directory', mode, entries });
  } else return undefined;
  return ino;
};

/** What is reachable: path → what is there. */
export const pathsOf = ({ root, nodes }: Tree): Map<string, { ino: number; node: Node }> => {
  const found = new Map<string, { ino: number; node: Node }>();
  const walk = (path: string, ino: number): void => {
    const node = nodes.get(ino);
    if (node === undefined) return;
    found.set(path, { ino, node });
    if (node.kind !== 'directory') return;
    for (const [name, at] of node.entries) walk(path === '' ? name : `${path}/${name}`, at);
  };
  walk('', root);
  return found;
};

/** The same string for the same tree. */
export const keyOf = (tree: Tree): string => sha256(describeTree(tree).join('\n'));

/** A line for each path: its mode, and the hash of its bytes, or which other path is the same file. */
export const describeTree = (tree: Tree): string[] => {
  const first = new Map<number, string>();
  const paths = [...pathsOf(tree)].sort(([a], [b]) => (a < b ? -1 : 1));
  return paths.map(([path, at]) => lineOf(path, at, first));
};

const lineOf = (
  path: string,
  { ino, node }: { ino: number; node: Node },
  first: Map<number, string>,
): string => {
  if (node.kind === 'directory') return `${path} ${node.mode}`;
  const same = first.get(ino);
  first.set(ino, same ?? path);
  return `${path} ${node.mode} ${same ?? contentKey(node)}`;
};

const hashes = new WeakMap<Buffer, string>();

export const contentKey = (node: Exclude<Node, { kind: 'directory' }>): string => {
  if (node.kind === 'link') return `-> ${node.target}`;
  const hash = hashes.get(node.bytes) ?? sha256(node.bytes);
  hashes.set(node.bytes, hash);
  return hash;
};

/** Makes a directory hold that tree, in place: what is as it should be stays the file that it is. */
export const writeTree = (root: string, tree: Tree): void => {
  const wanted = pathsOf(tree);
  mkdirSync(root, { recursive: true });
  prune(root, '', wanted);
  const made = new Map<number, string>();
  for (const [name, { ino, node }] of wanted) {
    const path = join(root, name);
    if (node.kind === 'directory') makeDirectory(path, node.mode);
    else if (made.has(ino)) linkAgain(made.get(ino) ?? '', path);
    else if (node.kind === 'link') makeLink(path, node.target);
    else makeFile(path, node);
    if (node.kind !== 'directory') made.set(ino, path);
  }
};

const prune = (path: string, name: string, wanted: ReturnType<typeof pathsOf>): void => {
  const stats = lstatSync(path);
  const node = wanted.get(name)?.node;
  if (node === undefined || node.kind !== kindOf(stats)) {
    rmSync(path, { recursive: true, force: true });
    return;
  }
  if (node.kind !== 'directory') return;
  chmodSync(path, node.mode);
  for (const each of readdirSync(path))
    prune(join(path, each), name === '' ? each : `${name}/${each}`, wanted);
};

const kindOf = (stats: ReturnType<typeof lstatSync>): string => {
  if (stats?.isDirectory()) return 'directory';
  if (stats?.isSymbolicLink()) return 'link';
  return stats?.isFile() ? 'file' : 'other';
};

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const makeDirectory = (path: string, mode: number): void => {
  if (!isThere(path)) mkdirSync(path);
  chmodSync(path, mode);
};

const linkAgain = (from: string, path: string): void => {
  if (isThere(path) && statSync(path).ino === statSync(from).ino) return;
  rmSync(path, { force: true });
  linkSync(from, path);
};

const makeLink = (path: string, target: string): void => {
  if (isThere(path) && readlinkSync(path) === target) return;
  rmSync(path, { force: true });
  symlinkSync(target, path);
};

const makeFile = (path: string, { bytes, mode }: Extract<Node, { kind: 'file' }>): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  // One that another name leads to is not written into.
  if (stats !== undefined && stats.nlink > 1) unlinkSync(path);
  const isSame = stats?.nlink === 1 && stats.size === bytes.length;
  if (!isSame || !readFileSync(path).equals(bytes)) writeFileSync(path, bytes);
  chmodSync(path, mode);
};

/** As text and back, to hand a tree to another process. */
export const encodeTree = ({ root, nodes }: Tree): object => ({
  root,
  nodes: [...nodes].map(([ino, node]) => [ino, encoded(node)]),
});

const encoded = (node: Node): object => {
  if (node.kind === 'file') return { ...node, bytes: node.bytes.toString('base64') };
  return node.kind === 'directory' ? { ...node, entries: [...node.entries] } : node;
};

export const decodeTree = (value: ReturnType<typeof encodeTree>): Tree => {
  const { root, nodes } = value as { root: number; nodes: [number, Record<string, unknown>][] };
  return { root, nodes: new Map(nodes.map(([ino, node]) => [ino, decoded(node)])) };
};

const decoded = (node: Record<string, unknown>): Node => {
  if (node.kind === 'file')
    return { ...node, bytes: Buffer.from(`${node.bytes}`, 'base64') } as unknown as Node;
  if (node.kind === 'directory')
    return { ...node, entries: new Map(node.entries as [string, number][]) } as unknown as Node;
  return node as unknown as Node;
};
