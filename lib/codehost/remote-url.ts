import { orElse } from '../../store/base/attempt.ts';
/** What a remote's URL says: a repository on some host, by one of the ways to talk to it; or why it is none. */
export type RemoteUrl =
  | { host: string; owner: string; name: string; by: 'ssh' | 'web' }
  | { why: string };

/**
 * Takes a remote's URL apart: https, http, git, ssh and git+ssh, and scp's way of writing. The port is a part of the host
 * on the web, where the API is too, and not by ssh. Whether the host is a code host is another question.
 */
export const addressIn = (url: string): RemoteUrl => {
  const text = url.trim();
  if (text === '') return { why: 'has no URL' };
  if (/^([A-Za-z]:[\\/]|[/~.\\]|file:)/i.test(text)) return LOCAL;
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text) ?? [];
  if (scheme !== '') return fromUrl(text, scheme.toLowerCase());
  if (/^[\w-]+::/.test(text)) return { why: 'is for a helper program of git' };
  const [, host, path] = /^(?:[^@/:]+@)?([^@/:[\]]+):(.+)$/s.exec(text) ?? [];
  return host === undefined || path === undefined ? LOCAL : addressOf({ host, path, by: 'ssh' });
};

const LOCAL: RemoteUrl = { why: 'is a path on this machine' };

const SSH = ['ssh', 'git+ssh', 'ssh+git'];
const WEB = ['https', 'http'];

const fromUrl = (text: string, scheme: string): RemoteUrl => {
  // Of the other kinds, the standard leaves the host as it is written.
  const plain = `https${text.slice(scheme.length)}`;
  if (!URL.canParse(plain)) return { why: 'cannot be read' };
  const { host, hostname, pathname } = new URL(plain);
  // Without the port that is its scheme's own.
  if (WEB.includes(scheme))
    return addressOf({ host: new URL(text).host, path: pathname, by: 'web' });
  if (SSH.includes(scheme)) return addressOf({ host: hostname, path: pathname, by: 'ssh' });
  if (scheme === 'git') return addressOf({ host, path: pathname, by: 'web' });
  return { why: `begins with ${scheme}://, by which no code host is reached` };
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
    return { why: `does not name an owner and a repository, but ${path}` };
  if (!OWNER.test(owner) || !NAME.test(name) || /^\.+$/.test(name))
    return { why: `holds a name that no code host takes: ${owner}/${name}` };
  return { host, owner, name, by };
};

const OWNER = /^[A-Za-z0-9][\w-]*$/;
const NAME = /^[\w.-]+$/;

// GitHub listens for ssh on the port of https too, under a name of its own.
const commonName = (host: string, by: Parts['by']): string => {
  if (by === 'ssh' && host === 'ssh.github.com') return 'github.com';
  return host === 'www.github.com' ? 'github.com' : host;
};

const segmentsOf = (path: string): string[] =>
  orElse(() => decodeURIComponent(path), path)
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/');
