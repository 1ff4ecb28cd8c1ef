/** What README.md and the guides say is compared with what they speak of. What they run is in readme.test.ts. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, it } from 'node:test';
import { Check } from 'typebox/value';
import { parse } from 'yaml';
import { COMMANDS } from '../../lib/cli/commands.ts';
import { commandHelp, overview } from '../../lib/cli/help.ts';
import { operatorConsole } from '../../routes/console/console.ts';
import { sections } from '../../routes/index.ts';
import { Settings } from '../../store/records/settings.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { BLOCKS, block, GUIDES, README, TEXTS, type Text } from './guides.ts';
import { PROJECT } from './run.ts';

const dossier = (...args: string[]) =>
  spawnSync(process.execPath, [DOSSIER, ...args], { encoding: 'utf8' });

const noPython =
  process.env.CI !== 'true' && spawnSync('python3', ['--version']).status !== 0
    ? 'python3 is not installed: install the package python3'
    : false;

const OPENAPI = { method: 'GET', path: '/openapi.json' };

const titleOf = (text: string): string => /^# (.*)$/m.exec(text)?.[1] ?? '';
const topicOf = (text: string): string =>
  titleOf(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-');
const summaryOf = (text: string): string => text.split('\n')[2] ?? '';

describe('README.md and the guides', () => {
  it('README.md and CONTRIBUTING.md have 8 KB at most', () => {
    for (const name of ['README.md', 'CONTRIBUTING.md'])
      assert.ok(readFileSync(join(PROJECT, name)).length <= 8192, name);
  });

  it('README.md lists every guide by its title and its first line, and dossier help too', () => {
    assert.ok(GUIDES.length >= 18);
    const [, help = ''] = dossier('help').stdout.split('\nTopics:\n');
    const list = README.replaceAll('\n  ', ' ');
    for (const { path, text } of GUIDES) {
      assert.ok(list.includes(`\n- [${titleOf(text)}](${path}): ${summaryOf(text)}\n`), path);
      assert.match(summaryOf(text), /^[A-Z].{20,110}\.$/, path);
      const line = help.split('\n').find((one) => one.startsWith(`  ${topicOf(text)} `));
      assert.ok(line?.endsWith(`  ${summaryOf(text)}`), path);
    }
  });

  it('each link leads to a file that is there, and to a heading in it', () => {
    const links = TEXTS.flatMap(linksIn);
    for (const { path, target, heading } of links) {
      assert.ok(existsSync(join(PROJECT, target)), `${path}: ${target}`);
      if (heading !== undefined)
        assert.ok(anchorsIn(target).includes(heading), `${path}: ${target}#${heading}`);
    }
    assert.ok(links.length > 50);
  });

  it('each path of the API is one that there is', () => {
    const known = [
      ...sections.flatMap(({ routes }) => routes),
      ...operatorConsole.pages,
      OPENAPI,
    ].map(({ method, path }) => new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
    let calls = 0;
    for (const { path, text } of [{ path: 'README.md', text: README }, ...GUIDES])
      for (const [, call = ''] of text.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[\w/:.-]+)/g)) {
        assert.ok(
          known.some((one) => one.test(call)),
          `${path}: ${call}`,
        );
        calls++;
      }
    assert.ok(calls > 30);
  });

  it('each block of settings is one that workspace.md takes', () => {
    const blocks = BLOCKS.filter(({ language }) => language === 'yaml');
    assert.ok(blocks.length >= 6);
    for (const { path, text } of blocks) {
      const settings = parse(text);
      assert.ok(Check(Settings, settings), `${path}: ${text}`);
      for (const name of Object.keys(settings)) assert.ok(name in Settings.properties, name);
    }
  });

  it('each script is one that a shell can read, and each JSON can be parsed', () => {
    for (const { language, path, text } of BLOCKS) {
      if (language === 'json') JSON.parse(text);
      if (language === 'sh')
        assert.equal(spawnSync('sh', ['-n'], { input: text }).status, 0, `${path}: ${text}`);
    }
  });

  it('each command and flag of dossier that is shown is one that there is', () => {
    let shown = 0;
    for (const { path, text } of BLOCKS.filter(({ language }) => language === 'sh'))
      for (const [line, command = ''] of text.matchAll(/^dossier (?!-)(\w+)[^#\n]*/gm)) {
        const help = dossier('help', command);
        assert.equal(help.status, 0, `${path}: ${line}`);
        for (const [flag] of line.matchAll(/ --[\w-]+/g))
          assert.ok(help.stdout.includes(`${flag} `), `${path}: ${line}`);
        shown++;
      }
    assert.ok(shown > 8);
  });

  it('name every flag, every variable and every setting that does something', () => {
    const text = GUIDES.find(({ path }) => path === 'lib/daemon/GUIDE.md')?.text ?? '';
    const { worktrees, permissions, webhooks, limits, ...plain } = Settings.properties;
    const settings = [
      ...Object.keys(plain),
      ...Object.keys(worktrees.properties).map((name) => `worktrees.${name}`),
      ...Object.keys(permissions.properties).map((name) => `permissions.${name}`),
      ...Object.keys(webhooks.properties).map((name) => `webhooks.${name}`),
      ...Object.keys(limits.properties).map((name) => `limits.${name}`),
    ];
    for (const name of settings) assert.ok(text.includes(`| \`${name}\``), name);
    const all = GUIDES.map((guide) => guide.text).join('\n');
    const help = [overview(COMMANDS), ...COMMANDS.map((command) => commandHelp(command))].join(
      '\n',
    );
    const told = help.match(/(--(?!help|version)[a-z-]+(?= [A-Z]|\s)|DOSSIER_[A-Z_]+)/g) ?? [];
    assert.ok(told.length > 10);
    for (const name of told) assert.ok(all.includes(name), name);
  });

  it('show the receiver as the example has it', () => {
    const path = join(PROJECT, 'examples/receive-webhook.ts');
    assert.equal(block('ts', 'import { createHmac'), readFileSync(path, 'utf8'));
  });
});

describe('dossier help TOPIC', () => {
  it('shows the guide as it is where nobody looks, by its topic or a word of it', () => {
    for (const { text } of GUIDES) assert.equal(dossier('help', topicOf(text)).stdout, text);
    assert.match(dossier('help', 'machines').stdout, /^# Two machines\n/);
  });

  it('says which topics there are where there is none, with 2', () => {
    const { status, stdout, stderr } = dossier('help', 'weather');
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, /no command or topic weather\. Topics: .*providers.*webhooks/);
  });

  it('ends quietly when its reader has read enough', () => {
    const script = `"${process.execPath}" "${DOSSIER}" help webhooks | head -1`;
    const { stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    assert.deepEqual([stdout, stderr], ['# Webhooks\n', '']);
  });

  it('goes by the pager, with bold headings, at a terminal alone', { skip: noPython }, () => {
    const shown = (env: Record<string, string>): string => {
      const script = 'import pty, sys; pty.spawn(sys.argv[1:])';
      const args = ['-c', script, process.execPath, DOSSIER, 'help', 'rebase'];
      const all = { ...process.env, TERM: 'xterm', NO_COLOR: '', ...env };
      return execFileSync('python3', args, { env: all, encoding: 'utf8', input: '' }).replaceAll(
        '\u001b',
        '^',
      );
    };
    assert.match(shown({ PAGER: 'sed s/^/paged:/' }), /^paged:\^\[1m# Rebase\^\[22m\r\n/);
    assert.match(shown({ PAGER: '' }), /^\^\[1m# Rebase/);
    assert.match(shown({ PAGER: 'no-such-pager', NO_COLOR: '1' }), /\n# Rebase\r\n/);
  });

  it('is in the package, and works there', (t) => {
    const place = temporaryDirectory(t);
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', place];
    const [made] = JSON.parse(
      execFileSync('npm', pack, { cwd: PROJECT, encoding: 'utf8', stdio: 'pipe' }),
    );
    const names: string[] = made.files.map(({ path }: { path: string }) => path);
    for (const { path } of GUIDES) assert.ok(names.includes(path), path);
    assert.deepEqual(
      names.filter(
        (name) =>
          /^(lib|store|test)\//.test(name) && !/\/(?:GUIDE|README|guides\/[\w-]+)\.md$/.test(name),
      ),
      [],
    );
    execFileSync('tar', ['-xzf', join(place, made.filename), '-C', place]);
    const program = join(place, 'package/dist/dossier.js');
    const text = execFileSync(process.execPath, [program, 'help', 'rebase'], { encoding: 'utf8' });
    assert.match(text, /^# Rebase\n/);
  });
});

const linksIn = ({ path, text }: Text) =>
  [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)].map(([, to = '', heading]) => ({
    ...{ path, heading, target: to === '' ? path : posix.join(dirname(path), to) },
  }));

/** The anchors of a file's headings, as GitHub makes them. */
const anchorsIn = (path: string): string[] =>
  [
    ...readFileSync(join(PROJECT, path), 'utf8')
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
