import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, objectIn } from './conversation-owner.ts';
import { bytesOf } from './files.ts';
import type { StatePlace } from './rules.ts';

interface Looked {
  /** The home directory, as settings write it: `~`, `$HOME`. */
  home: string;
  /** Existing paths in a text that the sandbox hides. */
  hidden: (text: string) => string[];
}

/**
 * What the operator's own setup of an agent leads to and the sandbox hides, a sentence for each file or directory: programs
 * of MCP servers and hooks in its settings, and targets of links. They do not start, and most agents do not report it.
 */
export const setUpLimits = async (
  places: readonly StatePlace[],
  { home, hidden }: Looked,
): Promise<string[]> => {
  const said: string[] = [];
  for (const { path, text } of (await Promise.all(places.map(namesIn))).flat()) {
    const found = text === '' ? [] : hidden(text.replace(HOME, () => home));
    if (found.length > 0) said.push(sentence(path, found));
  }
  return said;
};

const HOME = /(?:~|\$HOME|\$\{HOME\})(?=\/)/g;

const sentence = (path: string, found: readonly string[]): string =>
  `${path} leads to what the sandbox hides, so the agent runs without it: ${found.join(', ')}. To show it, add it to sandbox_readable in workspace.md.`;

interface Names {
  path: string;
  text: string;
}

const namesIn = async ({ path, rules = {} }: StatePlace): Promise<Names[]> => [
  ...(await Promise.all((rules.names ?? []).map((name) => settingsAt(join(path, name))))).flat(),
  await linksIn(path),
];

const settingsAt = async (path: string): Promise<Names[]> => {
  const bytes = await bytesOf(path, LARGEST).catch(() => undefined);
  return bytes === undefined ? [] : [{ path, text: startedBy(bytes.toString('utf8')) }];
};

const LARGEST = 8 * 1024 * 1024;

// Agents list all projects that they know, too: in JSON under other keys, in TOML in the names of tables.
const startedBy = (text: string): string => {
  const settings = objectIn(text);
  if (settings !== undefined)
    return JSON.stringify(PARTS.map((part) => settings[part]).filter(isObject));
  return text
    .split('\n')
    .filter((line) => !NO_VALUE.test(line))
    .join('\n');
};

const PARTS = ['mcpServers', 'mcp', 'hooks'];
const NO_VALUE = /^\s*(?:\[|#|\/\/)/;

// Of a directory, and of those that hold its skills and the like: some keep their files elsewhere, and only links here.
const linksIn = async (path: string): Promise<Names> => {
  const targets = await Promise.all(['', ...FOLDERS].map((name) => targetsIn(join(path, name))));
  return { path, text: targets.flat().join('\n') };
};

const FOLDERS = ['skills', 'commands', 'prompts', 'agents', 'hooks', 'plugins'];

const targetsIn = async (path: string): Promise<string[]> => {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const links = entries.filter((entry) => entry.isSymbolicLink()).slice(0, MOST_LINKS);
  return Promise.all(links.map(({ name }) => realpath(join(path, name)).catch(() => '')));
};

const MOST_LINKS = 100;
