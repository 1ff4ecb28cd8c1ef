import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dossierScript, serveArgs } from '../build.ts';

/** Where a tool is installed and keeps its data. */
export interface Place {
  /** Its npm directory, with `node_modules`. */
  installed: string;
  data: string;
  env: Readonly<Record<string, string | undefined>>;
}

type Command = readonly string[];

/** How a tool is told to do what all tools are told to do. */
export interface Tool {
  name: string;
  /** Its npm package with the exact version: `name@version`. Absent: the build that is measured. */
  package?: string;
  env?: Readonly<Record<string, string>>;
  /** A command that makes its data directory. */
  init?(place: Place): Command;
  serve(place: Place, port: number): Command;
  create: { path: string; body: unknown };
  /** The path of the list of all records. */
  list: string;
  /** The path of a record of that list. */
  one(record: Readonly<Record<string, unknown>>): string;
  /** Commands in a shell, where there are such. */
  shell: { create?(place: Place): Command; list?(place: Place): Command };
  /** What a reader has to know to compare it. */
  note: string;
}

const TITLE = 'A Work item of the usual size';
const DESCRIPTION = 'x'.repeat(600);
const node = process.execPath;
const bin = ({ installed }: Place, name: string): string =>
  join(installed, 'node_modules', '.bin', name);

const DOSSIER: Tool = {
  name: 'Dossier',
  serve: ({ data }, port) => [node, ...serveArgs(data, '--port', `${port}`)],
  create: { path: '/cases', body: { title: TITLE, type: 'bug', description: DESCRIPTION } },
  list: '/cases',
  one: ({ id }) => `/cases/${id}`,
  shell: {
    create: ({ data }) => [node, dossierScript(), 'new', TITLE, '--workspace', data],
    list: ({ data }) => [node, dossierScript(), 'ls', '--workspace', data],
  },
  note: 'Durable: files, directories and the journal are synced to disk (fsync) before it answers.',
};

// It ignores --host, and listens on every address.
const ON_LOOPBACK = `
const { Server } = require('node:net');
const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, '127.0.0.1', rest.at(-1));
};
`;

const JSON_SERVER: Tool = {
  name: 'json-server',
  package: 'json-server@1.0.0-beta.15',
  serve: ({ installed, data }, port) => {
    const loopback = join(data, 'loopback.cjs');
    const database = join(data, 'db.json');
    writeFileSync(loopback, ON_LOOPBACK);
    const program = join(installed, 'node_modules', 'json-server', 'lib', 'bin.js');
    return [node, '--require', loopback, program, '--port', `${port}`, database];
  },
  init: ({ data }) => [node, '-e', WRITE_EMPTY, join(data, 'db.json')],
  create: { path: '/cases', body: { title: TITLE, type: 'bug', description: DESCRIPTION } },
  list: '/cases',
  one: ({ id }) => `/cases/${id}`,
  shell: {},
  note: 'Not durable: each change writes all records to one file, without fsync. It then reads that file again, and can lose records that were created meanwhile. A module that is loaded before it binds it to loopback: it ignores its own `--host`.',
};

const WRITE_EMPTY = `require('node:fs').writeFileSync(process.argv[1], '{"cases":[]}')`;

const BACKLOG: Tool = {
  name: 'Backlog.md',
  package: 'backlog.md@1.52.0',
  init: (place) => [bin(place, 'backlog'), 'init', 'bench', '--defaults', '--no-git'],
  serve: (place, port) => [
    bin(place, 'backlog'),
    ...['browser', '--port', `${port}`, '--no-open', '--non-interactive'],
  ],
  create: { path: '/api/tasks', body: { title: TITLE, type: 'bug', description: DESCRIPTION } },
  list: '/api/tasks',
  one: ({ id }) => `/api/task/${id}`,
  shell: {
    create: (place) => [
      bin(place, 'backlog'),
      ...['task', 'create', TITLE, '--type', 'bug', '--plain'],
    ],
    list: (place) => [bin(place, 'backlog'), 'task', 'list', '--plain'],
  },
  note: 'Not durable: it writes a Markdown file for each task, without fsync. Its HTTP API is that of `backlog browser`, which its page uses and no document describes. It runs without git.',
};

const OPENCODE: Tool = {
  name: 'opencode serve',
  package: 'opencode-ai@1.18.33',
  env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  serve: (place, port) => [bin(place, 'opencode'), 'serve', '--port', `${port}`],
  create: { path: '/session', body: { title: TITLE, metadata: { description: DESCRIPTION } } },
  list: '/session?limit=10000',
  one: ({ id }) => `/session/${id}`,
  shell: { list: (place) => [bin(place, 'opencode'), 'session', 'list', '--max-count', '10000'] },
  note: 'A record is a session without messages, in SQLite (WAL, `synchronous = NORMAL`): a power failure can lose answered changes. Its search for updates and for models is off.',
};

/** Dossier first. */
export const TOOLS: readonly Tool[] = [DOSSIER, JSON_SERVER, BACKLOG, OPENCODE];
