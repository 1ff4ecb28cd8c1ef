import { join } from 'node:path';
import type { Call, Json, Tool } from './format.ts';

/** What a script wants done, whatever the tools of the agent are called. Paths are relative to the worktree. */
export type Intent =
  | { read: string }
  | { edit: string; old: string; new: string }
  | { write: string; content: string }
  /** `asks`: it says that it needs leave, where the tool has a parameter for it. */
  | { shell: string; asks?: true }
  /** A tool of the daemon's MCP server, under whatever name the agent offers it. */
  | { mcp: string; given?: Json };

/** The call that does it with one of the tools offered; undefined where no tool can. */
export const callFor = (intent: Intent, tools: Tool[], root: string): Call | undefined => {
  if ('shell' in intent) return shell(tools, intent);
  if ('mcp' in intent) return mcp(tools, intent.mcp, intent.given ?? {});
  if ('read' in intent) return read(tools, root, intent.read);
  return 'write' in intent ? write(tools, root, intent) : edit(tools, root, intent);
};

const SHELLS = ['bash', 'Bash', 'run_shell_command', 'shell', 'exec_command', 'shell_command'];
const READERS = ['read', 'Read', 'read_file'];
const WRITERS = ['write', 'Write', 'write_file'];
const EDITORS = ['edit', 'Edit', 'replace'];
const PATHS = ['filePath', 'file_path', 'absolute_path', 'path'];

const find = (tools: Tool[], names: string[]): Tool | undefined =>
  tools.find(({ name }) => names.includes(name));

const shell = (
  tools: Tool[],
  { shell: command, asks }: { shell: string; asks?: true },
): Call | undefined => {
  const tool = find(tools, SHELLS);
  if (tool === undefined) return undefined;
  const args: Json = tool.properties.includes('cmd') ? { cmd: command } : { command };
  if (tool.name === 'shell') args.command = ['bash', '-lc', command];
  if (tool.properties.includes('description')) args.description = 'As the script says';
  if (tool.properties.includes('is_background')) args.is_background = false;
  if (asks && tool.properties.includes('sandbox_permissions'))
    Object.assign(args, { sandbox_permissions: 'require_escalated', justification: 'It writes' });
  return { name: tool.name, args };
};

const mcp = (tools: Tool[], wanted: string, args: Json): Call | undefined => {
  const tool = tools.find(({ name }) => name.endsWith(wanted));
  if (tool === undefined) return search(tools, wanted);
  const { name, namespace } = tool;
  return { name, args, ...(namespace !== undefined && { namespace }) };
};

// Some offer such a tool only once it was searched for.
const search = (tools: Tool[], wanted: string): Call | undefined => {
  const tool = find(tools, ['tool_search']);
  return tool && { name: tool.name, args: { [parameter(tool, ['query'])]: wanted } };
};

const read = (tools: Tool[], root: string, path: string): Call | undefined => {
  const tool = find(tools, READERS);
  if (tool === undefined) return shell(tools, { shell: `cat ${path}` });
  return { name: tool.name, args: { [parameter(tool, PATHS)]: join(root, path) } };
};

const write = (
  tools: Tool[],
  root: string,
  { write: path, content }: Extract<Intent, { write: string }>,
): Call | undefined => {
  const tool = find(tools, WRITERS);
  if (tool === undefined) return patch(tools, `*** Add File: ${path}\n${marked('+', content)}`);
  return { name: tool.name, args: { [parameter(tool, PATHS)]: join(root, path), content } };
};

const edit = (
  tools: Tool[],
  root: string,
  intent: Extract<Intent, { edit: string }>,
): Call | undefined => {
  const { edit: path, old } = intent;
  const tool = find(tools, EDITORS);
  if (tool === undefined) {
    const lines = `@@\n${marked('-', old)}\n${marked('+', intent.new)}`;
    return patch(tools, `*** Update File: ${path}\n${lines}`);
  }
  const args: Json = {
    [parameter(tool, PATHS)]: join(root, path),
    [parameter(tool, ['oldString', 'old_string'])]: old,
    [parameter(tool, ['newString', 'new_string'])]: intent.new,
  };
  if (tool.properties.includes('instruction')) args.instruction = 'As the script says';
  return { name: tool.name, args };
};

// Some agents take changes as patches: by a tool of that name, or by a program of that name in their shell.
const patch = (tools: Tool[], body: string): Call | undefined => {
  const text = `*** Begin Patch\n${body}\n*** End Patch\n`;
  const tool = find(tools, ['apply_patch']);
  if (tool === undefined) return shell(tools, { shell: `apply_patch <<'END'\n${text}END` });
  if (tool.free) return { name: tool.name, args: text };
  return { name: tool.name, args: { [tool.properties[0] ?? 'input']: text } };
};

const marked = (sign: '+' | '-', lines: string): string =>
  lines
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${sign}${line}`)
    .join('\n');

const parameter = (tool: Tool, names: string[]): string =>
  names.find((name) => tool.properties.includes(name)) ?? String(names.at(-1));
