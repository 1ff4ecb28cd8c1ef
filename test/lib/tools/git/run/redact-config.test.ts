/** What of git's settings a run is shown: all but logins; a table, and git's own reading of each. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { entriesOfFile } from '../../../../../lib/tools/git/run/config.ts';
import { redactConfig } from '../../../../../lib/tools/git/run/redact-config.ts';

/** As git lists a file; undefined where it refuses it. */
const listed = (text: string): string[] | undefined => {
  const args = ['config', '--file', '-', '--no-includes', '--list', '-z'];
  const { status, stdout } = spawnSync('git', args, { input: text, encoding: 'utf8' });
  return status === 0 ? stdout.split('\0').slice(0, -1) : undefined;
};

const CUT: Record<string, [text: string, shown: string[]]> = {
  'a token in a rewritten address': [
    '[url "https://user:ghp_SECRET@github.com/"]\n\tinsteadOf = https://github.com/\n',
    ['url.https://github.com/.insteadof\nhttps://github.com/'],
  ],
  'a token in a remote': [
    '[remote "origin"]\n\turl = https://x:ghp_SECRET@github.com/a/b\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
    [
      'remote.origin.url\nhttps://github.com/a/b',
      'remote.origin.fetch\n+refs/heads/*:refs/remotes/origin/*',
    ],
  ],
  'a token that is the user': [
    '[remote "o"]\nurl = "https://SECRET@example.com/a"\n',
    ['remote.o.url\nhttps://example.com/a'],
  ],
  'a password with an at sign': [
    '[remote "o"]\nurl = https://u:SECRET@SECRET@example.com/a@b\n',
    ['remote.o.url\nhttps://example.com/a@b'],
  ],
  'a password that goes over lines and through quotes': [
    '[remote "o"]\nurl = https://u:SEC\\\nRET@ex"ample.com"/a ; https://u:SECRET@c\n',
    ['remote.o.url\nhttps://example.com/a'],
  ],
  'the password of ssh, not its user': [
    '[remote "o"]\nurl = ssh://git:SECRET@example.com/a\n[remote "p"]\nurl = git@example.com:a\n',
    ['remote.o.url\nssh://git@example.com/a', 'remote.p.url\ngit@example.com:a'],
  ],
  'a proxy': ['[http]\nproxy = http://u:SECRET@proxy:3128\n', ['http.proxy\nhttp://proxy:3128']],
  headers: [
    '[http "https://example.com/"]\n\textraHeader = Authorization: Basic SECRET\n\tsslVerify\n[HTTP]\nEXTRAHEADER="X: SECRET"\n',
    ['http.https://example.com/.sslverify'],
  ],
  'credential helpers, not the name of the user': [
    '[credential]\n\thelper = "!f() { echo password=SECRET; }; f"\n\tusername = me\n[credential "https://x"]\nhelper = store --file SECRET\n',
    ['credential.username\nme'],
  ],
  'passwords and tokens of other tools': [
    '[sendemail]\nsmtpPass = SECRET\nsmtpUser = me\n[github]\ntoken = SECRET\nuser = me\n[gitlab "x"]\noauthToken = SECRET\n',
    ['sendemail.smtpuser\nme', 'github.user\nme'],
  ],
  'an alias that holds one, and not those that are called so': [
    '[alias]\ntoken = log\npass = status\napi = "!curl -H \'Authorization: Bearer SECRET\'"\npull2 = pull https://u:SECRET@h/x\n',
    ['alias.token\nlog', 'alias.pass\nstatus', 'alias.pull2\npull https://h/x'],
  ],
  'what is commented out': [
    '# token = SECRET\n; url = https://u:SECRET@x\n[a]\nb=c#SECRET\n',
    ['a.b\nc'],
  ],
  'a file that git does not read': ['[user]\nname = "Me\npassword = SECRET\n', []],
  'with the endings of Windows': [
    '[user]\r\n\tname = Me\r\n\ttoken = SECRET\r\n',
    ['user.name\nMe'],
  ],
};

const KEPT = [
  '',
  '[user]\n\tname = Me # and more\n\temail = me@example.com\n[init]\n\tdefaultBranch = trunk\n',
  '[alias]\n\tco = checkout\n\tl = "!git log \\"$@\\" #"\n[core]\n\teditor = vi\n\tautocrlf\n',
  '[include]\n\tpath = ~/other\n[includeIf "gitdir:~/work/"]\n\tpath = work.inc\n',
];

const READ = [
  ...KEPT,
  ...Object.values(CUT).map(([text]) => text),
  '\ufeff[a]b=c\n',
  '[a.B]\nc = " d  "  \n[a "B"] c = d;e\n[a "\\"\\\\x"]\nc = \\t\\n\\b\\\\\\"\n',
  '[a]\nb = c\\\n  d\n b2=\n b3 = "x;y" z\n\n[ a ]\n',
  '[a]\nb c\n',
  '[a]\nb = \\q\n',
  '[a]\nb = "c\n',
  '[a\nb = c\n',
];

describe('git settings as a run is shown them', () => {
  for (const [what, [text, shown]] of Object.entries(CUT))
    it(`are without ${what}`, () => {
      const given = redactConfig(text) ?? text;
      assert.doesNotMatch(given, /SECRET/);
      assert.deepEqual(listed(given), shown);
    });

  it('are as they are where no login is in them', () => {
    for (const text of KEPT) assert.equal(redactConfig(text), undefined, text);
  });

  it('are read as git reads them', () => {
    for (const text of READ) {
      const read = entriesOfFile(text)?.map(({ key, value }) =>
        value === undefined ? key : `${key}\n${value}`,
      );
      assert.deepEqual(read, listed(text), JSON.stringify(text));
    }
  });

  it('are quick to read, whatever is in them', () => {
    const since = performance.now();
    for (const text of ['[a "', '[a]\nb = "', '\\\n', ' ', '://', '[a]\nb = x'])
      redactConfig(`token${text.repeat(100_000)}`);
    assert.ok(performance.now() - since < 20_000);
  });
});
