import { createHmac } from 'node:crypto';
import { relative } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { sha256 } from '../base/sha256.ts';
import { Problem } from '../front-matter/problem.ts';
import { readJson, readRegularFile } from '../front-matter/record-file.ts';
import { putFile } from '../front-matter/text-file.ts';
import type { Layout } from '../layout.ts';
import { isSameMac } from './decisions.ts';
import { readStateKey } from './state-dir.ts';
import { knownWorkspaceId } from './workspace-id.ts';

/**
 * Serializes a record below `.dossier/` that starts or ends programs, or changes files. Its seal, made with the key of the
 * state directory for this workspace and file, shows that neither git, a copy nor another program wrote it.
 */
export const sealedText = (layout: Layout, path: string, record: object): string =>
  `${JSON.stringify({ ...record, seal: sealOf(layout, path, record) }, undefined, 2)}\n`;

/** Saves a record with its seal, for this user alone, in place of a former one; on disk when the promise resolves. */
export const saveOurs = async (layout: Layout, path: string, record: object): Promise<void> => {
  const before = readRegularFile(layout.root, path);
  await putFile(layout, path, { before, mode: 0o600 }, sealedText(layout, path, record));
};

/**
 * Reads a record, and whether this machine wrote it; undefined if there is none. Throws `unreadable_record` if it is
 * invalid.
 */
export const readSealed = <T>(
  layout: Layout,
  path: string,
  check: (value: unknown) => T,
): { record: T; isOurs: boolean } | undefined =>
  readJson(layout, path, (value) => {
    const { seal, ...record } = Object(value) as Record<string, unknown>;
    return { record: check(record), isOurs: isSealed(layout, path, { seal, record }) };
  });

/** Like `readSealed`, but throws `unreadable_record` also for a record that this machine did not write. */
export const readOurs = <T>(
  layout: Layout,
  path: string,
  check: (value: unknown) => T,
): T | undefined =>
  readJson(layout, path, (value) => {
    const { seal, ...record } = Object(value) as Record<string, unknown>;
    if (!isSealed(layout, path, { seal, record })) throw new Problem('made_elsewhere', ELSEWHERE);
    return check(record);
  });

const ELSEWHERE =
  'The file was not written on this machine, so it does not count. Check it, then move it out of .dossier/, with a directory of the same name if there is one';

/** Whether a seal is the one that this machine gives to a record at this path. */
export const isSealed = (
  layout: Layout,
  path: string,
  { seal, record }: { seal: unknown; record: object },
): boolean => {
  const right = sealOf(layout, path, record);
  return right !== undefined && typeof seal === 'string' && isSameMac(seal, right);
};

/** The seal of a record; undefined if this machine has no key for the workspace. A renamed workspace keeps its seals. */
export const sealOf = (layout: Layout, path: string, record: object): string | undefined => {
  const place = placeOf(layout);
  if (place === undefined) return undefined;
  const text = `${place.id}\nseal\n${relative(layout.dossier, path)}\n${canonical(record)}`;
  return createHmac('sha256', place.key).update(text).digest('hex');
};

interface Place {
  id: string;
  key: Buffer;
}

// The daemon keeps the id that it started with, as its consent log does.
const places = new WeakMap<Layout, Place>();

const placeOf = (layout: Layout): Place | undefined => {
  const place = places.get(layout) ?? readPlace(layout);
  if (place !== undefined) places.set(layout, place);
  return place;
};

/** The id of a workspace and the key of this machine; undefined if one of them is missing or cannot be read. */
export const readPlace = (layout: Layout): Place | undefined =>
  orElse(() => {
    const { state } = layout;
    const id = state && knownWorkspaceId(layout, state);
    const key = state && readStateKey(state);
    return id && key ? { id, key } : undefined;
  }, undefined);

/** JSON with sorted keys; undefined becomes null. */
export const canonical = (value: unknown): string => JSON.stringify(sorted(value ?? null));

/** The hash that identifies a value the operator trusts. */
export const trustHash = (value: unknown): string => sha256(canonical(value));

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => Number(a > b) - Number(a < b)).map(([k, v]) => [k, sorted(v)]),
  );
};
