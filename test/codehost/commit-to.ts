import { execFileSync } from 'node:child_process';

export interface WantedCommit {
  branch: string;
  files: Record<string, string>;
  message: string;
  by: string;
  /** A ref; without one it is the first of all. */
  parent?: string;
}

/** Puts a commit on a branch of a bare repository: one process, no checkout. */
export const commitTo = (root: string, commit: WantedCommit): void => {
  const { branch, files, message, by, parent } = commit;
  const now = Math.floor(Date.now() / 1000);
  const lines = [
    `commit refs/heads/${branch}`,
    `committer ${by} <${by.toLowerCase().replaceAll(' ', '.')}@example.com> ${now} +0000`,
    data(message),
    ...(parent === undefined ? [] : [`from ${parent}^0`]),
    ...Object.entries(files).map(
      ([name, text]) => `M 100644 inline ${quoted(name)}\n${data(text)}`,
    ),
  ];
  execFileSync('git', ['fast-import', '--quiet', '--force'], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
    input: `${lines.join('\n')}\n`,
  });
};

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}`;

const quoted = (name: string): string => JSON.stringify(name);
