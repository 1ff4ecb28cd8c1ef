import { isDeepStrictEqual as isSame } from 'node:util';
import { isObject, objectIn } from './conversation-owner.ts';
import type { JsonObject, LoginRule } from './rules.ts';

/** A file with a login: at the start of the run, outside now, and as the run left it. */
export interface LoginFile {
  rule: LoginRule;
  before?: string | undefined;
  now?: string | undefined;
  after?: string | undefined;
}

interface Judged {
  /** The new text of the file, with the refreshed login. Absent if the file does not change. */
  text?: string;
  /** The rejected login as JSON, and why. */
  aside?: { text: string; why: string };
}

/**
 * Decides for each file of an agent which values of its login return: those of a refresh of the same account that existed at
 * the start and have not changed outside. One file can state the account of another; signatures are not verified.
 */
export const judgeLogins = (files: readonly LoginFile[]): Judged[] => {
  const around = {
    before: accountIn(files, ({ before }) => before),
    after: accountIn(files, ({ after }) => after),
  };
  return files.map((file) => judgeFile(file, around));
};

interface Around {
  before: JsonObject;
  after: JsonObject;
}

// With a login under each key, none states the account of another.
const accountIn = (
  files: readonly LoginFile[],
  textOf: (file: LoginFile) => string | undefined,
): JsonObject =>
  Object.fromEntries(
    files.flatMap((file, at) => {
      const login = file.rule.at === '*' ? undefined : loginsIn(textOf(file), file.rule)[0]?.login;
      if (login === undefined) return [];
      return Object.entries(file.rule.account(login)).map(([name, value]) => [
        `${at} ${name}`,
        value,
      ]);
    }),
  );

interface Login {
  path: string[];
  login: JsonObject;
}

const loginsIn = (text: string | undefined, { at }: LoginRule): Login[] => {
  const whole = objectIn(text);
  if (whole === undefined) return [];
  const paths =
    at === undefined ? [[]] : (at === '*' ? Object.keys(whole) : [at]).map((key) => [key]);
  return paths.flatMap((path) => {
    const login = valueAt(whole, path);
    return isObject(login) && holdsText(login) ? [{ path, login }] : [];
  });
};

const holdsText = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(holdsText)
    : typeof value === 'string' && value !== '';

const judgeFile = ({ rule, before, now, after }: LoginFile, around: Around): Judged => {
  const was = loginsIn(before, rule);
  const target = objectIn(now);
  const changes = loginsIn(after, rule).flatMap(({ path, login }) => {
    const old = was.find((each) => isSame(each.path, path))?.login;
    return isSame(old, login)
      ? []
      : [{ path, old, login, verdict: judge(rule, { old, login }, around) }];
  });
  const renewed = changes.filter(
    (change) => change.verdict === 'renewed' && renew(rule, target, change),
  );
  const aside = changes.filter(({ verdict }) => verdict !== 'renewed' && verdict !== undefined);
  const [first] = aside;
  return {
    ...(renewed.length > 0 && { text: JSON.stringify(target, null, indentOf(now ?? '')) }),
    ...(first?.verdict && { aside: { text: textOf(aside), why: first.verdict } }),
  };
};

interface Change {
  old: JsonObject | undefined;
  login: JsonObject;
}

/** `renewed`, or why the login is rejected; undefined if there is nothing to return. */
const judge = (rule: LoginRule, { old, login }: Change, around: Around): string | undefined => {
  if (old === undefined) return rule.tells ? undefined : 'there was no login before';
  const own = { before: rule.account(old), after: rule.account(login) };
  const whose = compare(rule.at === '*' ? own : around);
  const isFixed = (rule.fixed ?? []).every((path) => isSame(read(old, path), read(login, path)));
  if (whose === 'another' || !isFixed) return 'it belongs to another account';
  if (rule.tells || keepsRefresh(rule, old, login)) return undefined;
  return whose === 'same' ? 'renewed' : 'it names no account';
};

// An account that was stated before must still be stated: without it, the login may be of another account.
const compare = ({ before, after }: Around): 'same' | 'another' | 'unknown' => {
  const said = (account: JsonObject) =>
    Object.keys(account).filter((name) => isStated(account[name]));
  if (said(after).some((name) => !isSame(after[name], before[name]))) return 'another';
  const known = said(before);
  return known.length > 0 && known.every((name) => isStated(after[name])) ? 'same' : 'unknown';
};

const keepsRefresh = ({ refresh = '' }: LoginRule, old: JsonObject, login: JsonObject): boolean => {
  const value = refresh === '' ? undefined : read(login, refresh);
  return isStated(value) && value === read(old, refresh);
};

const isStated = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Replaces values that are unchanged outside; false if there was nothing to replace. */
const renew = (
  { renewed }: LoginRule,
  target: JsonObject | undefined,
  { path, old, login }: Change & { path: string[] },
): boolean => {
  const current = target && valueAt(target, path);
  if (!isObject(current)) return false;
  let changed = false;
  for (const value of renewed) {
    const [was, is, becomes] = [old, current, login].map((each) => read(each, value));
    if (is === undefined || is !== was || becomes === was) continue;
    if (typeof becomes !== typeof was || typeof becomes === 'object') continue;
    const keys = value.split('.');
    const holder = valueAt(current, keys.slice(0, -1)) as Record<string, unknown>;
    holder[keys.at(-1) as string] = becomes;
    changed = true;
  }
  return changed;
};

const read = (login: unknown, path: string): unknown => valueAt(login, path.split('.'));

const valueAt = (root: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );

const textOf = (logins: readonly Login[]): string => {
  const [first] = logins;
  const value =
    first?.path.length === 0
      ? first.login
      : Object.fromEntries(logins.map(({ path, login }) => [path[0], login]));
  return `${JSON.stringify(value, null, 2)}\n`;
};

const indentOf = (text: string): number => /^\{\n( +)/.exec(text)?.[1]?.length ?? 0;
