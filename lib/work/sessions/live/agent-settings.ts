import type { Changes } from './summary.ts';

const SETTINGS = [
  /(^|["/])\.(claude|codex|opencode|gemini|qwen|cursor|vscode)\//,
  /(^|["/])(\.mcp\.json|opencode\.jsonc?|CLAUDE\.md|CLAUDE\.local\.md|AGENTS(\.override)?\.md|GEMINI\.md|QWEN\.md)"?$/,
];

/** Changed files that agents and editors take for their settings: what stands there may run later, outside of any sandbox. */
export const settingsTouched = (changes: Changes | undefined): string[] => {
  if (changes === undefined || 'unknown' in changes) return [];
  const touched = changes.files
    .map(({ path }) => path)
    .filter((path) => SETTINGS.some((pattern) => pattern.test(path)));
  if (touched.length === 0) return [];
  return [
    `**Settings of agents or editors were changed:** ${touched.map((path) => `\`${path}\``).join(', ')}. What they name runs when an agent or editor is started there, outside of the sandbox, too: read them first.`,
  ];
};
