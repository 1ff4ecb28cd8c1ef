import { gitOf } from './handler.ts';
import type { World } from './world.ts';

const FIELDS = ['%H', '%T', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI', '%B'];
const FORMAT = `--format=${FIELDS.join('%x00')}%x01`;

/** One commit of the bare repository, as GitHub tells of it. */
export const commitBodyOf = async (world: World, name: string, sha: string): Promise<unknown> => {
  const [first] = await commitBodies(world, name, ['-1', sha]);
  return first;
};

/** Commits as `git log` with these arguments lists them. */
export const commitBodies = async (
  world: World,
  name: string,
  args: readonly string[],
): Promise<CommitBody[]> => {
  const git = gitOf(world, name);
  const log = (await git?.('log', FORMAT, ...args, '--')) ?? '';
  const entries = log.split('\x01').map((entry) => entry.trim());
  return entries.filter(Boolean).map((entry) => commitBody(world, name, entry.split('\0')));
};

export interface CommitBody {
  sha: string;
  node_id: string;
  commit: { message: string; author: { name: string; date: string } };
  html_url: string;
}

const commitBody = (
  { url, host_name }: World,
  name: string,
  fields: readonly string[],
): CommitBody => {
  const [sha = '', tree = '', parents = '', an = '', ae = '', at = '', cn, ce, ct, message = ''] =
    fields;
  const self = `${url}/repos/${name}`;
  const html = `https://${host_name}/${name}/commit`;
  const of = (parent: string) => ({
    sha: parent,
    url: `${self}/commits/${parent}`,
    html_url: `${html}/${parent}`,
  });
  const commit = {
    author: { name: an, email: ae, date: at },
    committer: { name: cn, email: ce, date: ct },
    message: message.trimEnd(),
    tree: { sha: tree, url: `${self}/git/trees/${tree}` },
    url: `${self}/git/commits/${sha}`,
    comment_count: 0,
    verification: {
      verified: false,
      reason: 'unsigned',
      payload: null,
      signature: null,
      verified_at: null,
    },
  };
  return {
    ...of(sha),
    node_id: `C_${sha}`,
    commit,
    ...{ comments_url: `${self}/commits/${sha}/comments`, author: null, committer: null },
    ...{ parents: parents.split(' ').filter(Boolean).map(of) },
  };
};
