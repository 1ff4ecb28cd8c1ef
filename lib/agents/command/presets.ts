import type { Phase } from '../provider.ts';
import type { Format } from './formats.ts';

/** The arguments for model and effort. */
export interface Flags {
  model: (name: string) => readonly string[];
  effort?: (level: string) => readonly string[];
}

/** A known program: its unattended command for Plan and Work mode. */
export interface CommandPreset {
  argv: Readonly<Record<Phase, readonly string[]>>;
  output: Format;
  flags: Flags;
}

const model = (name: string): readonly string[] => ['--model', name];

const CLAUDE = ['claude', '-p', '--output-format', 'stream-json', '--verbose', '--permission-mode'];
const CODEX = ['codex', 'exec', '--json', '--skip-git-repo-check', '--sandbox'];
const GEMINI = ['gemini', '--output-format', 'stream-json', '--approval-mode'];
const OPENCODE = ['opencode', 'run', '--format', 'json', '--agent'];
const QWEN = ['qwen', '--output-format', 'stream-json', '--approval-mode'];

// As in released programs; the settings override each. Without a terminal, a program decides by its own mode what it would
// ask for, within the sandbox.
export const COMMAND_PRESETS: Readonly<Record<string, CommandPreset>> = {
  claude: {
    argv: { plan: [...CLAUDE, 'plan'], work: [...CLAUDE, 'acceptEdits'] },
    output: 'claude-stream-json',
    flags: { model, effort: (level) => ['--effort', level] },
  },
  codex: {
    argv: { plan: [...CODEX, 'read-only', '-'], work: [...CODEX, 'workspace-write', '-'] },
    output: 'codex-jsonl',
    flags: { model, effort: (level) => ['-c', `model_reasoning_effort=${level}`] },
  },
  gemini: {
    argv: { plan: [...GEMINI, 'plan'], work: [...GEMINI, 'auto_edit'] },
    output: 'gemini-stream-json',
    flags: { model },
  },
  opencode: {
    // It takes the prompt only as an argument.
    argv: { plan: [...OPENCODE, 'plan', '{prompt}'], work: [...OPENCODE, 'build', '{prompt}'] },
    output: 'opencode-json',
    flags: { model, effort: (level) => ['--variant', level] },
  },
  qwen: {
    argv: { plan: [...QWEN, 'plan'], work: [...QWEN, 'auto-edit'] },
    output: 'claude-stream-json',
    flags: { model },
  },
};
