import { basename, dirname, resolve } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import { invalidState } from '../../../errors.ts';
import type { Checkout, GitAt } from '../run/git.ts';

/**
 * Where commits come from and go to. Without a password git asks the operator's own credential helpers, or ssh; a
 * repository's own are never run. A password is neither in an argument nor in an error.
 */
export interface RemoteAddress {
  /** As git takes it, without user and password. */
  url: string;
  credentials?: Credentials;
}

export interface Credentials {
  username: string;
  password?: string;
}

/** The address that a name in the repository's configuration stands for, as git rewrites it. 422 when there is none. */
export const addressOf = async (
  git: GitAt,
  name: string,
  direction: 'fetch' | 'push',
): Promise<RemoteAddress> => {
  const push = direction === 'push' ? ['--push'] : [];
  const args = ['remote', 'get-url', ...push, '--', name];
  const [url = ''] = (await git.find(args, { ok: [0, 2, 128] }))?.split('\n') ?? [];
  if (url !== '') return addressFrom(url, git.place);
  throw invalidState(
    `The repository has no remote ${name}. Add it (git remote add ${name} …), then try again.`,
  );
};

/** What a text says: a URL, which may hold credentials, or a path, relative to the main checkout. */
export const addressFrom = (text: string, { common_dir }: Checkout): RemoteAddress => {
  const main = basename(common_dir) === '.git' ? dirname(common_dir) : common_dir;
  if (!/^[^/]*:/.test(text)) return { url: resolve(main, text) };
  const [, scheme, login, rest] = /^(https?:\/\/)([^/]*)@(.*)$/s.exec(text) ?? [];
  if (login === undefined) return { url: text };
  const [username = '', ...password] = login.split(':');
  const secret = password.length === 0 ? {} : { password: decoded(password.join(':')) };
  return { url: `${scheme}${rest}`, credentials: { username: decoded(username), ...secret } };
};

const decoded = (text: string): string => orElse(() => decodeURIComponent(text), text);
