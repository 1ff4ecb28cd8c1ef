import { orElse } from '../../store/base/attempt.ts';

/** The repository that a remote's URL names, or why it names none (worded to follow the remote's name). */
export type RemoteUrl =
  | { host: string; owner: string; name: string; by: 'ssh' | 'web' }
  | { why: string };

/**
 * Parses the URL of a remote: https, http, git, ssh, git+ssh and scp syntax. The host includes the port for http(s), where
 * the API uses it too, but not for ssh. Does not check that the host is a code host.
 */
export const parseRemoteUrl = (url: string): RemoteUrl => {
  const text = url.trim();
  if (text === '') return { why: 'has no URL' };
  if (/^([A-Za-z]:[\\/]|[/~.\\]|file:)/i.test(text)) return LOCAL;
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text) ?? [];
  if (scheme !== '') return fromUrl(text, scheme.toLowerCase());
  if (/^[\w-]+::/.test(text)) return { why: 'uses a remote helper of git' };
  const [, host, path] = /^(?:[^@/:]+@)?([^@/:[\]]+):(.+)$/s.exec(text) ?? [];
  return host === undefined || path === undefined ? LOCAL : addressOf({ host, path, by: 'ssh' });
};

const LOCAL: RemoteUrl = { why: 'is a path on this machine' };

const SSH = ['ssh', 'git+ssh', 'ssh+git'];
const WEB = ['https', 'http'];

const fromUrl = (text: string, scheme: string): RemoteUrl => {
  // The URL standard normalizes the host of http(s) URLs only.
  const plain = `https${text.slice(scheme.length)}`;
  if (!URL.canParse(plain)) return { why: 'is not a valid URL' };
  const { host, hostname, pathname } = new URL(plain);
  // `host` omits the default port of the scheme.
  if (WEB.includes(scheme))
    return addressOf({ host: new URL(text).host, path: pathname, by: 'web' });
  if (SSH.includes(scheme)) return addressOf({ host: hostname, path: pathname, by: 'ssh' });
  if (scheme === 'git') return addressOf({ host, path: pathname, by: 'web' });
  return { why: `begins with ${scheme}://, which no code host supports` };
};

interface Parts {
  host: string;
  path: string;
  by: 'ssh' | 'web';
}

const addressOf = ({ host: written, path, by }: Parts): RemoteUrl => {
  const host = commonName(written.toLowerCase(), by);
  const [owner = '', name = '', ...more] = segmentsOf(path);
  if (more.length > 0 || name === '')
    return { why: `does not name an owner and a repository: ${path}` };
  if (!OWNER.test(owner) || !NAME.test(name) || /^\.+$/.test(name))
    return { why: `contains an invalid owner or repository name: ${owner}/${name}` };
  return { host, owner, name, by };
};

const OWNER = /^[A-Za-z0-9][\w-]*$/;
const NAME = /^[\w.-]+$/;

// ssh.github.com is GitHub's ssh over the https port.
const commonName = (host: string, by: Parts['by']): string => {
  if (by === 'ssh' && host === 'ssh.github.com') return 'github.com';
  return host === 'www.github.com' ? 'github.com' : host;
};

const segmentsOf = (path: string): string[] =>
  orElse(() => decodeURIComponent(path), path)
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/');
