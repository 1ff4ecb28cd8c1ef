/** How the demo writes: plain lines, with colours only on a terminal. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const HAS_COLOURS = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;

const painted =
  (code: number) =>
  (text: string): string =>
    HAS_COLOURS ? `\u001b[${code}m${text}\u001b[0m` : text;

const bold = painted(1);
const dim = painted(2);
const green = painted(32);
const cyan = painted(36);

const print = (text = ''): void => {
  process.stdout.write(`${text}\n`);
};

export const heading = (text: string): void => print(`\n${bold(text)}`);

export const say = (text: string): void => print(`   ${text}`);

export const showRequest = (operation: string, body?: unknown): void =>
  print(
    `   ${cyan(`> ${operation.replaceAll(/\{(\w+)\}/g, ':$1')}`)}${body === undefined ? '' : ` ${dim(short(body))}`}`,
  );

export const showAnswer = (status: number, facts = ''): void =>
  print(`   ${green(`< ${status}`)} ${facts}`.trimEnd());

export const showWebhook = (facts: string): void =>
  print(`   ${green('* webhook')} ${facts} ${dim('(signature verified)')}`);

/** A text as it is, set apart by a rule at its left. */
export const showText = (text: string): void => {
  for (const line of text.trimEnd().split('\n')) print(`   ${dim('|')} ${line}`.trimEnd());
};

const WIDTH = 72;

const short = (body: unknown): string => {
  const text = JSON.stringify(body);
  return text.length <= WIDTH ? text : `${text.slice(0, WIDTH - 3)}...`;
};

/** A directory as a drawing, with what is known of its files beside their names. */
export const treeOf = (dir: string, notes: Readonly<Record<string, string>>): string =>
  branches(dir, '')
    .map(({ line, name }) => {
      const note = notes[name];
      return note === undefined ? line : `${line.padEnd(44)} ${note}`;
    })
    .join('\n');

const branches = (dir: string, indent: string): { line: string; name: string }[] => {
  const entries = readdirSync(dir, { withFileTypes: true }).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  return entries.flatMap((entry, at) => {
    const isLast = at === entries.length - 1;
    const { name } = entry;
    if (!entry.isDirectory())
      return [{ line: `${indent}${isLast ? '└── ' : '├── '}${name}`, name }];
    const below = branches(join(dir, name), `${indent}${isLast ? '    ' : '│   '}`);
    return [{ line: `${indent}${isLast ? '└── ' : '├── '}${name}/`, name: `${name}/` }, ...below];
  });
};
