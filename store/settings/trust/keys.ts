/**
 * The settings that start programs, name endpoints, repositories or the base of work, loosen isolation or send events out. Each
 * applies only after the operator trusts it on this machine. `*` is any name.
 */
export const TRUSTED = [
  'provider',
  'providers.*',
  'projects.*',
  'sandbox',
  'sandbox_readable',
  'network',
  'allow_local',
  'env.*',
  'permissions.*',
  'worktrees.root',
  'worktrees.base_branch',
  'worktrees.setup',
  'worktrees.copy_files',
  'worktrees.share',
  'language_servers.*',
  'codehost.*',
  'require_key',
] as const;
export type TrustedSetting = (typeof TRUSTED)[number];

/** The settings that apply without trust. */
export const HARMLESS = [
  'format',
  'max_sessions',
  'worktrees.ttl_hours',
  'worktrees.branch_prefix',
  'worktrees.branch_template',
  'worktrees.commit',
  'webhooks.retention_hours',
  'webhooks.retention_mb',
  'limits.*',
  'autocommit',
] as const;

/** The values in the settings that need trust, by key: `providers.claude`, `worktrees.setup`. */
export const trustedParts = (settings: object): Map<string, unknown> => {
  const parts = TRUSTED.flatMap((pattern) => partsAt(settings, pattern));
  return new Map(parts.filter(([, value]) => value !== undefined));
};

/** The value of one such key; undefined if it is missing. */
export const partAt = (settings: object, key: string): unknown => trustedParts(settings).get(key);

const partsAt = (settings: object, pattern: TrustedSetting): [string, unknown][] => {
  const [top, name] = split(pattern);
  const below = own(settings, top);
  if (name === undefined) return [[top, below]];
  if (!isObject(below)) return [];
  const names = name === '*' ? Object.keys(below) : [name];
  return names.map((each) => [`${top}.${each}`, own(below, each)]);
};

/** The pattern that a key matches; undefined if it needs no trust. */
export const patternOf = (key: string): TrustedSetting | undefined => {
  const [top] = split(key);
  return TRUSTED.find((pattern) => pattern === key || (key !== top && pattern === `${top}.*`));
};

/** The settings with another value at a key; undefined removes it. */
export const withPart = <T extends object>(settings: T, key: string, value: unknown): T => {
  const [top, name] = split(key);
  if (name === undefined) return put(settings, top, value);
  const below = own(settings, top);
  const changed = put(isObject(below) ? below : {}, name, value);
  return put(settings, top, Object.keys(changed).length === 0 ? undefined : changed);
};

/** Splits a key into the top key and the name below it, which may contain dots. */
export const split = (key: string): [top: string, name: string | undefined] => {
  const dot = key.indexOf('.');
  return dot < 0 ? [key, undefined] : [key.slice(0, dot), key.slice(dot + 1)];
};

// No spread, because a YAML key may be `__proto__`.
const put = <T extends object>(object: T, name: string, value: unknown): T => {
  const entries = Object.entries(object).filter(([key]) => key !== name);
  return Object.fromEntries(value === undefined ? entries : [...entries, [name, value]]) as T;
};

const own = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined;

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
