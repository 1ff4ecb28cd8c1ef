import { basename, dirname, resolve } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import { invalidState } from '../../../errors.ts';
import type { Checkout, GitAt } from '../run/git.ts';

/**
 * The address of a remote. Without a password git uses the operator's credential helpers or ssh, never those of the
 * repository. A password is never put into an argument or an error.
 */
export interface RemoteAddress {
  /** Without user and password. */
  url: string;
  credentials?: Credentials;
}

export interface Credentials {
  username: string;
  password?: string;
}

/** The address of a configured remote, after `insteadOf`. Throws 422 if there is no such remote. */
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

/** Parses a URL, possibly with credentials, or a path relative to the main checkout. */
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
