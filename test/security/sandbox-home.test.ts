import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSandbox } from '../../lib/sandbox/sandbox.ts';
import type { SandboxView } from '../../lib/sandbox/view.ts';
import { WHOLE_CHROMIUM } from '../helpers/chromium.ts';
import { missing, runInside } from '../helpers/inside.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';

const noChromium =
  process.env.CI !== 'true' && !existsSync(WHOLE_CHROMIUM) && 'chromium is not installed';

const SECRETS = [
  ...['.codex/auth.json', '.gemini/oauth_creds.json', '.npmrc', '.cargo/credentials.toml'],
  ...['.vault-token', '.bash_history', '.zsh_history', '.config/rclone/rclone.conf', '.netrc'],
  ...[
    'snap/firefox/common/cookies.sqlite',
    '.m2/settings.xml',
    '.pypirc',
    '.pgpass',
    '.ssh/id_rsa',
  ],
  ...[
    '.docker/config.json',
    '.kube/config',
    '.claude.json',
    '.env',
    'notes/private.txt',
    '.bashrc',
  ],
];

const hiding = (path: string) =>
  `hidden by the sandbox: ${path}; add it to sandbox_readable in workspace.md`;

const home = (t: TestContext) => {
  const root = temporaryDirectory(t);
  const HOME = join(root, 'home');
  writeFiles(HOME, Object.fromEntries(SECRETS.map((path) => [path, 'SECRET\n'])));
  writeFiles(HOME, {
    '.gitconfig': '[user]\n\tname = Me\n',
    '.cargo/registry/index.txt': 'crates\n',
    '.agents/skills/one/SKILL.md': 'a skill\n',
    '.agents/other.txt': 'SECRET\n',
    '.local/share/tool/versions/3/bin/run':
      '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../data.txt"\n',
    '.local/share/tool/versions/3/data.txt': 'tool data\n',
    '.nvm/versions/node/v9/bin/js': '#!/bin/sh\necho js\n',
    'data/set.csv': '1,2\n',
  });
  mkdirSync(join(HOME, '.local/bin'));
  chmodSync(join(HOME, '.local/share/tool/versions/3/bin/run'), 0o755);
  chmodSync(join(HOME, '.nvm/versions/node/v9/bin/js'), 0o755);
  symlinkSync('../share/tool/versions/3/bin/run', join(HOME, '.local/bin/tool'));
  symlinkSync('versions/node/v9', join(HOME, '.nvm/current'));
  const cwd = join(HOME, 'code/worktree');
  writeFiles(cwd, { 'file.txt': 'mine\n' });
  const path = ['.local/bin', '.nvm/current/bin'].map((name) => join(HOME, name));
  const env = { HOME, PATH: [...path, process.env.PATH].join(':') };
  const view: SandboxView = { cwd, phase: 'work', writable: [], hidden: [], network: 'host' };
  return { HOME, env, view };
};

describe('the home directory in the sandbox', { skip: missing }, () => {
  it('shows no login, key, history or file of another program (attack 10)', async (t) => {
    const { HOME, env, view } = home(t);
    const box = createSandbox('auto', env);
    const paths = SECRETS.map((path) => join(HOME, path)).join(' ');

    const { output } = await runInside(
      view,
      `cat ${paths}; grep -r SECRET ${HOME}; ls -A /home /root`,
      {
        ...{ box, env },
      },
    );

    assert.doesNotMatch(output, /SECRET/);
    // Of .npmrc, the lines without a login are shown, and here there are none.
    assert.equal(output.match(/No such file/g)?.length, SECRETS.length - 1);
  });

  it('shows what the PATH leads to, tool chains, skills, git settings and the worktree, to be read alone', async (t) => {
    const { HOME, env, view } = home(t);
    const box = createSandbox('auto', env);

    const { output } = await runInside(
      view,
      `tool; js; git config --global user.name; cat ${HOME}/.cargo/registry/* ${HOME}/.agents/skills/one/*; cat file.txt; touch ${HOME}/new ${HOME}/.cargo/registry/new ${HOME}/.local/bin/new`,
      { box, env },
    );

    assert.match(output, /^tool data\njs\nMe\ncrates\na skill\nmine\n/);
    assert.equal(output.match(/Read-only file system/g)?.length, 3);
  });

  it('shows what the PATH leads to in the home of another user, and nothing else of it', {
    skip: process.getuid?.() !== 0 && 'only root can make a home',
  }, async (t) => {
    const { env, view } = home(t);
    const other = `/home/dossier-${randomUUID()}`;
    t.after(() => rmSync(other, { recursive: true, force: true }));
    writeFiles(other, {
      '.ssh/id_rsa': 'SECRET\n',
      '.tools/v1/lib/tool/run': '#!/bin/sh\necho tool\n',
      '.config/composer/bin/php-tool': '#!/bin/sh\n',
      '.config/composer/auth.json': 'SECRET\n',
    });
    chmodSync(join(other, '.tools/v1/lib/tool/run'), 0o755);
    mkdirSync(join(other, '.tools/v1/bin'));
    symlinkSync('../lib/tool/run', join(other, '.tools/v1/bin/tool-of-other'));
    const dirs = ['.tools/v1/bin', '.config/composer/bin'].map((dir) => join(other, dir));
    const PATH = [...dirs, env.PATH].join(':');
    const box = createSandbox('auto', { ...env, PATH });

    const { output } = await runInside(
      view,
      `tool-of-other; cat ${other}/.ssh/* ${other}/.config/composer/*; ls -A ${other}`,
      {
        ...{ box, env: { ...env, PATH } },
      },
    );

    assert.match(output, /^tool\n\.config\n\.tools\n/);
    assert.doesNotMatch(output, /SECRET/);
  });

  it('shows the programs of Homebrew with their libraries, and no data of its services', {
    skip:
      (process.getuid?.() !== 0 || existsSync('/home/linuxbrew')) &&
      'only root can make /home/linuxbrew, where it is missing',
  }, async (t) => {
    const { env, view } = home(t);
    t.after(() => rmSync('/home/linuxbrew', { recursive: true }));
    const brew = '/home/linuxbrew/.linuxbrew';
    writeFiles(brew, {
      'Cellar/brewed/1/bin/brewed': `#!/bin/sh\ncat ${brew}/opt/library/lib/part\n`,
      'Cellar/library/2/lib/part': 'part of a library\n',
      'var/database/secret': 'SECRET\n',
      'etc/database.conf': 'SECRET\n',
    });
    chmodSync(join(brew, 'Cellar/brewed/1/bin/brewed'), 0o755);
    for (const dir of ['bin', 'opt']) mkdirSync(join(brew, dir));
    symlinkSync('../Cellar/brewed/1/bin/brewed', join(brew, 'bin/brewed'));
    symlinkSync('../Cellar/library/2', join(brew, 'opt/library'));
    const PATH = `${join(brew, 'bin')}:${env.PATH}`;
    const box = createSandbox('auto', { ...env, PATH });

    const { output } = await runInside(view, `brewed; cat ${brew}/var/*/* ${brew}/etc/*`, {
      ...{ box, env: { ...env, PATH } },
    });

    assert.match(output, /^part of a library\n/);
    assert.doesNotMatch(output, /SECRET/);
  });

  it('shows what sandbox_readable names besides, and no secret within it that it does not name', async (t) => {
    const { HOME, env, view } = home(t);
    const script = `cat ${HOME}/data/set.csv ${HOME}/.npmrc ${HOME}/notes/private.txt ${HOME}/.vault-token`;
    const some = await runInside(view, script, {
      ...{ box: createSandbox('auto', env, ['~/data', '~/.npmrc']), env },
    });
    const all = await runInside(view, script, { box: createSandbox('auto', env, ['~']), env });

    assert.match(some.output, /^1,2\nSECRET\ncat: .*private.txt.*\ncat: .*vault-token/);
    assert.match(all.output, /^1,2\nSECRET\ncat: .*vault-token: Permission/);
  });

  it('asks for packages of a private scope at its registry alone, with the login that env gives', async (t) => {
    const { HOME, env, view } = home(t);
    const asked: string[] = [];
    const registry = createHttpServer((request, response) => {
      asked.push(`${request.url} ${request.headers.authorization}`);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    t.after(() => registry.close());
    await once(registry, 'listening');
    const { port } = registry.address() as AddressInfo;
    const login = (token: string) =>
      `@corp:registry=http://me:SECRET@127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=${token}\n`;
    const look = `npm_config_cache=/tmp/npm npm view @corp/tool --fetch-retries=0; cat ${HOME}/.npmrc`;
    const box = createSandbox('auto', env);

    writeFiles(HOME, { '.npmrc': login('npm_SECRET') });
    const hidden = await runInside(view, look, { box, env });
    writeFiles(HOME, { '.npmrc': login(`\${NPM_TOKEN}`) });
    const given = await runInside(view, look, { box, env: { ...env, NPM_TOKEN: 'given' } });

    assert.doesNotMatch(hidden.output, /SECRET/);
    assert.doesNotMatch(given.output, /SECRET/);
    assert.deepEqual(asked, ['/@corp%2ftool undefined', '/@corp%2ftool Bearer given']);
  });

  it('starts a browser, whose profile is private', { skip: noChromium }, async (t) => {
    const { HOME, env, view } = home(t);
    const browse = `${WHOLE_CHROMIUM} --headless --no-sandbox --disable-gpu --dump-dom 'data:text/html,hello'`;
    const box = createSandbox('auto', env);
    const { output } = await runInside(view, `${browse}; touch ${HOME}/.config/x`, { box, env });
    assert.match(output, /<body>hello<\/body>/);
    assert.match(output, /\.config\/x.*Read-only file system/);
    assert.deepEqual(readdirSync(join(HOME, '.config')), ['rclone']);
  });

  it('shows the certificate authorities that variables and settings of tools name', async (t) => {
    const { HOME, env: plain, view } = home(t);
    const env = {
      ...plain,
      PIP_CONFIG_FILE: '/dev/null',
      NODE_EXTRA_CA_CERTS: join(HOME, 'certificates/mine.pem'),
    };
    writeFiles(HOME, {
      '.npmrc': 'cafile=~/certificates/corp.pem\n',
      'certificates/mine.pem': 'mine\n',
      'certificates/corp.pem': 'corp\n',
      'certificates/key.pem': 'SECRET\n',
    });
    const box = createSandbox('auto', env);
    const { output } = await runInside(view, `cd ${HOME}/certificates && cat * && : > /dev/null`, {
      box,
      env,
    });
    assert.equal(output, 'corp\nmine');
    const named = `${HOME}/.npmrc ${HOME}/certificates/mine.pem ${HOME}/certificates/key.pem`;
    assert.deepEqual(box.explain(named, view), [hiding(join(HOME, 'certificates/key.pem'))]);
  });

  it('passes on variables whose names a shell drops', async (t) => {
    const { env: plain, view } = home(t);
    const env = { ...plain, 'npm_config_@corp:registry': 'https://me:secret@npm.corp.example/' };
    const box = createSandbox('auto', env);
    const script = "tr '\\0' '\\n' < /proc/$$/environ | grep corp";
    const { output } = await runInside(view, script, { box, env: plain });
    assert.equal(output, 'npm_config_@corp:registry=https://npm.corp.example/');
  });

  it('names what is there and was not shown', (t) => {
    const { HOME, env, view } = home(t);
    const box = createSandbox('auto', env);
    const text = `open ${HOME}/data/set.csv: ENOENT\n${HOME}/absent ${HOME}/.gitconfig ${view.cwd}/file.txt /etc/passwd`;
    assert.deepEqual(box.explain(text, view), [hiding(join(HOME, 'data/set.csv'))]);
  });

  it('keeps sockets out of reach wherever they lie', async (t) => {
    const { HOME, env, view } = home(t);
    const place = temporaryDirectory(t, '/var/tmp');
    const paths = [
      join(HOME, '.1password.sock'),
      join(HOME, 'data/agent.sock'),
      join(place, 'door'),
    ];
    const doors = paths.map((path) => createServer((socket) => socket.end('in\n')).listen(path));
    await Promise.all(doors.map((door) => once(door, 'listening')));
    t.after(() => doors.map((door) => door.close()));
    const box = createSandbox('auto', env, ['~/data']);

    const { output } = await runInside(
      view,
      `for door in ${paths.join(' ')}; do ${process.execPath} -e "require('net').connect('$door').on('error', (e) => console.log(e.code)).pipe(process.stdout)"; done; ls -A /run`,
      { box, env },
    );

    assert.match(output, /^ENOENT\nE(CONNREFUSED|ACCES)\nE(CONNREFUSED|ACCES)/);
    assert.doesNotMatch(output, /\bin\b|user|dbus|docker|systemd/);
  });

  it('shows a worktree in a repository in a home that is a link', async (t) => {
    const { HOME, env, view } = home(t);
    const link = join(temporaryDirectory(t), 'me');
    execFileSync('ln', ['-s', HOME, link]);
    const there = { ...env, HOME: link };
    writeFiles(HOME, { '.npmrc': 'save-exact=true\n_auth=SECRET\n' });
    const { output } = await runInside(
      { ...view, cwd: join(link, 'code/worktree') },
      `pwd; cat file.txt; cat ${link}/.gitconfig ${link}/.npmrc; cat ${link}/.netrc`,
      { box: createSandbox('auto', there), env: there },
    );
    assert.match(
      output,
      /mine\n\[user\]\n\tname = Me\nsave-exact=true\ncat: .*netrc: No such file/,
    );
  });
});
