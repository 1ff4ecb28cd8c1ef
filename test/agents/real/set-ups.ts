/** An operator's own set-up of each agent: instructions, a skill, a command, a hook, MCP servers. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

/** Files by their path below the home directory, or below the repository. */
type Files = Record<string, string>;

interface SetUp {
  home: (home: string) => Files;
  repository: Files;
}

/** What a model receives of each part. */
export const MARKS = {
  'its instructions at home': 'mark-of-instructions-at-home',
  'those in the repository': 'mark-of-instructions-in-the-repository',
  'its skill': 'mark-of-skill',
  'the skill in `~/.agents`': 'mark-of-shared-skill',
  'its command': 'own-command',
  'its hook': 'mark-of-hook',
  'its MCP server': 'mark_of_server',
} as const;
export type Part = keyof typeof MARKS;

/** Of the server whose program the sandbox hides. */
export const HIDDEN = { program: 'tools/hidden-server.mjs', mark: 'mark_of_hidden_server' };

/** What an agent does not read in Plan mode, without a sandbox either. */
export const UNREAD: Record<string, Partial<Record<'acp' | 'command', Part[]>>> = {
  claude: { acp: ['the skill in `~/.agents`'], command: ['the skill in `~/.agents`'] },
  codex: { acp: ['its command'] },
  // It would have to ask for each call of a server, and asks nobody there.
  gemini: { acp: ['its command'], command: ['its MCP server'] },
};

const PROGRAM = '.local/bin/own-server.mjs';

/** Adds them to the files that the home has already. */
export const writeSetUp = (agent: string, home: string): void => {
  const files = { ...SHARED, ...setUpOf(agent).home(home) };
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    writeFileSync(path, before === undefined ? text : merged(path, before, text), { mode: 0o755 });
  }
};

export const filesOfSetUp = (agent: string): Files => setUpOf(agent).repository;

const merged = (path: string, before: string, text: string): string =>
  extname(path) === '.json'
    ? JSON.stringify({ ...JSON.parse(before), ...JSON.parse(text) })
    : `${before}\n${text}`;

const setUpOf = (agent: string): SetUp => {
  const found = SET_UPS[agent];
  if (found === undefined) throw new Error(`No set-up of ${agent}`);
  return found;
};

const skill = (name: string, mark: string): string =>
  `---\nname: ${name}\ndescription: ${mark}\n---\n\nSay so.\n`;

const command = '---\ndescription: Says so\n---\n\nSay so.\n';
const tomlCommand = 'description = "Says so"\nprompt = "Say so."\n';

const server = (tool: string): string => `#!/usr/bin/env node
import { createInterface } from 'node:readline';
// Gemini CLI offers no others in Plan mode.
const annotations = { readOnlyHint: true };
const tools = [
  { name: '${tool}', description: 'Says so', inputSchema: { type: 'object' }, annotations },
];
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'own', version: '1' },
  }),
  'tools/list': () => ({ tools }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params) ?? {};
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
`;

const SHARED: Files = {
  '.agents/skills/shared-skill/SKILL.md': skill('shared-skill', MARKS['the skill in `~/.agents`']),
  [PROGRAM]: server(MARKS['its MCP server']),
  [HIDDEN.program]: server(HIDDEN.mark),
};

const serversAt = (home: string) => ({
  own: { command: 'node', args: [join(home, PROGRAM)] },
  hidden: { command: 'node', args: [join(home, HIDDEN.program)] },
});

// What agents with hooks read of the output of one.
const hooksAt = (event: string) => {
  const hookSpecificOutput = { hookEventName: event, additionalContext: MARKS['its hook'] };
  const echo = `echo '${JSON.stringify({ hookSpecificOutput })}'`;
  return { [event]: [{ hooks: [{ type: 'command', command: echo }] }] };
};

// Codex' hash of the hook above, whatever the home.
const TRUSTED = 'sha256:90c507d5592f2571564ae74754dc84b884d75e45214c77058ba3d858cd1a27b2';

const home = MARKS['its instructions at home'];
const repository = MARKS['those in the repository'];

const SET_UPS: Readonly<Record<string, SetUp>> = {
  claude: {
    home: (at) => ({
      '.claude/CLAUDE.md': home,
      '.claude/skills/own-skill/SKILL.md': skill('own-skill', MARKS['its skill']),
      '.claude/commands/own-command.md': command,
      '.claude/settings.json': JSON.stringify({
        hooks: hooksAt('UserPromptSubmit'),
      }),
      '.claude.json': JSON.stringify({ mcpServers: serversAt(at) }),
    }),
    repository: { 'CLAUDE.md': repository },
  },
  codex: {
    home: (at) => ({
      '.codex/AGENTS.md': home,
      '.codex/skills/own-skill/SKILL.md': skill('own-skill', MARKS['its skill']),
      '.codex/prompts/own-command.md': command,
      '.codex/hooks.json': JSON.stringify({
        hooks: hooksAt('UserPromptSubmit'),
      }),
      '.codex/config.toml': [
        ...Object.entries(serversAt(at)).map(([name, { command: program, args }]) => {
          const values = `command = "${program}"\nargs = ${JSON.stringify(args)}`;
          return `[mcp_servers.${name}]\n${values}\n`;
        }),
        // As it is once the operator has trusted the hook in the agent's own interface.
        `[hooks.state."${at}/.codex/hooks.json:user_prompt_submit:0:0"]\ntrusted_hash = "${TRUSTED}"\n`,
      ].join('\n'),
    }),
    repository: { 'AGENTS.md': repository },
  },
  gemini: {
    home: (at) => ({
      '.gemini/GEMINI.md': home,
      '.gemini/skills/own-skill/SKILL.md': skill('own-skill', MARKS['its skill']),
      '.gemini/commands/own-command.toml': tomlCommand,
      '.gemini/settings.json': JSON.stringify({
        hooks: hooksAt('BeforeAgent'),
        mcpServers: serversAt(at),
      }),
    }),
    repository: { 'GEMINI.md': repository },
  },
  opencode: {
    home: (at) => ({
      '.config/opencode/AGENTS.md': home,
      '.config/opencode/skills/own-skill/SKILL.md': skill('own-skill', MARKS['its skill']),
      '.config/opencode/commands/own-command.md': command,
      // Its hooks are functions of plugins.
      '.config/opencode/plugins/own.js': `export const Own = async () => ({
  'experimental.chat.system.transform': async (_, { system }) => void system.push('${MARKS['its hook']}'),
});\n`,
      '.config/opencode/opencode.json': JSON.stringify({
        mcp: Object.fromEntries(
          Object.entries(serversAt(at)).map(([name, { command: program, args }]) => [
            name,
            { type: 'local', command: [program, ...args] },
          ]),
        ),
      }),
    }),
    repository: { 'AGENTS.md': repository },
  },
  qwen: {
    home: (at) => ({
      '.qwen/QWEN.md': home,
      '.qwen/skills/own-skill/SKILL.md': skill('own-skill', MARKS['its skill']),
      '.qwen/commands/own-command.md': command,
      '.qwen/settings.json': JSON.stringify({
        hooks: hooksAt('UserPromptSubmit'),
        mcpServers: serversAt(at),
      }),
    }),
    repository: { 'QWEN.md': repository },
  },
};
