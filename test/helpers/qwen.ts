import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { startForTest } from './service.ts';

/** Qwen Code as it is installed for the tests. */
export const QWEN = fileURLToPath(
  new URL('../../../node_modules/@qwen-code/qwen-code/cli.js', import.meta.url),
);

/** A real agent takes seconds to start, and many of them on a busy machine. */
export const PATIENCE_MS = 120_000;

/** Settings and environment that make Qwen Code, with this model, the provider. */
export const withQwen = (
  home: string,
  model: { url: string },
  sandbox: 'auto' | 'off',
): Pick<NonNullable<Parameters<typeof startForTest>[1]>, 'settings' | 'env'> => {
  mkdirSync(join(home, '.qwen'));
  const settings = [
    'provider: qwen',
    `sandbox: ${sandbox}`,
    'providers:',
    '  qwen:',
    '    kind: acp',
    `    command: ${process.execPath}`,
    `    args: [${JSON.stringify(QWEN)}, --acp]`,
    '    env:',
    '      OPENAI_API_KEY: none',
    '      OPENAI_MODEL: scripted',
    `      OPENAI_BASE_URL: ${model.url}`,
  ].join('\n');
  return {
    settings,
    env: { HOME: home, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  };
};
