import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settingsTouched } from '../../lib/work/sessions/live/changes-part.ts';

const changed = (...paths: string[]) =>
  settingsTouched({ files: paths.map((path) => ({ path }) as never), left_out: [] }).join('\n');

describe('settings of agents in a worktree', () => {
  it('are named when a session changed them, and nothing else is', () => {
    const settings = ['.claude/settings.local.json', '.mcp.json', 'sub/.codex/config.toml'];
    const more = ['opencode.json', '.opencode/plugin/x.js', '.vscode/tasks.json', 'AGENTS.md'];
    for (const path of [...settings, ...more]) assert.match(changed('a.ts', path), /`[^`]+`/, path);
    assert.equal(changed('a.ts', 'docs/claude/settings.json', 'src/opencode.json.ts'), '');
  });
});
