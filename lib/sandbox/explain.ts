import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxView } from './view.ts';

type Place = Pick<SandboxView, 'cwd' | 'phase' | 'network'>;

interface Explanation {
  /** What the output of the command contains, on one line. */
  pattern: RegExp;
  /** The limit that it met, and the setting that changes it; undefined if it is another cause. */
  limit: (found: RegExpExecArray, place: Place) => string | undefined;
}

const LONGEST = 16_384;
const MOST = 8;

/**
 * What a failed command seems to have met in the sandbox, by its output, with the setting that changes it: clauses without a
 * full stop. Programs report such a limit as an error of their own, in which nothing leads to the sandbox.
 */
export const limitsIn = (text: string, place: Place): string[] => {
  const lines = text.slice(-LONGEST).split('\n');
  const found = EXPLANATIONS.flatMap(({ pattern, limit }) =>
    lines.flatMap((line) => {
      const match = pattern.exec(line);
      return (match && limit(match, place)) ?? [];
    }),
  );
  return [...new Set(found)].slice(0, MOST);
};

const ifOwnNetwork =
  (limit: string) =>
  (_: RegExpExecArray, { network }: Place) =>
    network === 'host' ? undefined : limit;

const loopback = ({ groups: { before, after } = {} }: RegExpExecArray, { network }: Place) => {
  const port = before ?? after;
  if (network === 'host' || port === undefined) return undefined;
  return `localhost is the sandbox's own, and nothing listens on port ${port} there: for a server of this machine, set allow_local: ["localhost:${port}"] in workspace.md`;
};

const HERE = String.raw`(?:localhost|127\.0\.0\.1|::1\]?)['"]?[^\n]{0,24}?(?::|port[ =]*)`;
const REFUSED = String.raw`(?:ECONNREFUSED|[Cc]onnection refused|[Cc]ouldn't connect to server|\(111\))`;

const EXPLANATIONS: readonly Explanation[] = [
  {
    pattern: new RegExp(
      `${HERE}(?<before>\\d{2,5})\\b.*${REFUSED}|${REFUSED}.*?${HERE}(?<after>\\d{2,5})\\b`,
    ),
    limit: loopback,
  },
  {
    pattern:
      /(?:No such file|[Cc]annot connect|[Cc]an't connect|refused).*?(?<!\/)(?:\/\/)?(\/(?!\/)[\w./-]+\.sock\b)|socket ["'](\/[^"']+)["'].*(?:No such file|refused)/,
    limit: ([, one, other]) =>
      `sockets of this machine are hidden, such as ${one ?? other}: use a TCP port and allow_local in workspace.md, or run it outside of a session`,
  },
  {
    pattern: /ssh: (?:Could not resolve hostname|connect to host)|Host key verification failed/,
    limit: ifOwnNetwork(
      'ssh has no network and no keys here: use an https remote, or fetch and push in your own checkout',
    ),
  },
  {
    pattern: /EAI_AGAIN|Temporary failure in name resolution|Could not resolve host:/,
    limit: ifOwnNetwork(
      'only programs that use HTTPS_PROXY have a network, which fetch of Node 20 does not: use Node 24, or set network: host for the provider in workspace.md',
    ),
  },
  {
    pattern: /EROFS|[Rr]ead-only file system/,
    limit: (_, { phase }) =>
      phase === 'plan'
        ? 'in Plan mode, only /tmp and ~/.cache can be written, and both are temporary'
        : 'only the worktree, /tmp and ~/.cache can be written: state_dirs of the provider in workspace.md adds a directory',
  },
  {
    pattern: /clone of '.*' into submodule path '(.*)' failed/,
    limit: ([, path]) =>
      `the submodule ${path} can be cloned here only by https: check it out in the worktree yourself (dossier path), or use an https URL`,
  },
  {
    pattern: /Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|: (?:command )?not found$/,
    limit: (_, { cwd }) =>
      existsSync(join(cwd, 'package.json')) && !existsSync(join(cwd, 'node_modules'))
        ? 'this worktree has no node_modules: set worktrees: { setup: [npm ci] } in workspace.md for new ones'
        : undefined,
  },
  {
    pattern: /\bE401\b|\bENEEDAUTH\b|401 Unauthorized|401 Client Error/,
    limit: () =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: It is written like this in .npmrc.
      'logins of registries are hidden: to give one, write it as ${NPM_TOKEN} in ~/.npmrc, and set env: { NPM_TOKEN: { inherit: true } } in workspace.md',
  },
  {
    pattern: /gh auth login/,
    limit: () =>
      'the login of gh is hidden: use dossier pr, or set env: { GH_TOKEN: { inherit: true } } in workspace.md',
  },
];
