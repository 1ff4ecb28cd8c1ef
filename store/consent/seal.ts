import { createHmac, timingSafeEqual } from 'node:crypto';
import { relative } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { sha256 } from '../base/sha256.ts';
import { Problem } from '../front-matter/problem.ts';
import { readJson } from '../front-matter/record-file.ts';
import type { Layout } from '../layout.ts';
import { readStateKey } from './state-dir.ts';
import { knownWorkspaceId } from './workspace-id.ts';

/**
 * The text of a record below `.dossier/` by which programs are started or ended, or files changed. Its seal is made with the
 * key of the state directory, for this workspace and this file: what git, a copy or another program put there has none.
 */
export const sealedText = (layout: Layout, path: string, record: object): string =>
  `${JSON.stringify({ ...record, seal: sealOf(layout, path, record) }, undefined, 2)}\n`;

/**
 * A record, and whether this machine wrote it; undefined where there is none. Throws `unreadable_record` for one that
 * does not fit.
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

/** The same, where nothing but what this machine wrote is of use: anything else is `unreadable_record`. */
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
  'It was not written on this machine, and is not followed. Look at it, then move it out of .dossier/';

const isSealed = (
  layout: Layout,
  path: string,
  { seal, record }: { seal: unknown; record: object },
): boolean => {
  const [found, right] = [`${seal}`, sealOf(layout, path, record)].map((one) =>
    Buffer.from(one ?? ''),
  );
  if (found === undefined || right === undefined || right.length === 0) return false;
  return found.length === right.length && timingSafeEqual(found, right);
};

/** The seal itself; undefined where this machine has no key for the workspace. One that is moved by a rename keeps it. */
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

// The daemon goes on with the id that it began with, as its consent log does.
const places = new WeakMap<Layout, Place>();

const placeOf = (layout: Layout): Place | undefined => {
  const known = places.get(layout);
  if (known !== undefined) return known;
  const found = orElse(() => {
    const { state } = layout;
    const id = state && knownWorkspaceId(layout, state);
    const key = state && readStateKey(state);
    return id && key ? { id, key } : undefined;
  }, undefined);
  if (found !== undefined) places.set(layout, found);
  return found;
};

/** A value as JSON that is the same however its keys were ordered. What is not there is null. */
export const canonical = (value: unknown): string => JSON.stringify(sorted(value ?? null));

/** The hash of a value: what was looked at is what is trusted. */
export const trustHash = (value: unknown): string => sha256(canonical(value));

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => Number(a > b) - Number(a < b)).map(([k, v]) => [k, sorted(v)]),
  );
};
