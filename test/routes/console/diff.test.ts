import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { filesOf } from '../../../lib/text/patch.ts';
import { isNamed, listFiles } from '../../../routes/console/parts/diff/files.ts';
import { feedbackOf } from '../../../routes/console/parts/diff/review-state.ts';
import { linesIn, rowsOf } from '../../../routes/console/parts/diff/rows.ts';
import { editorLink } from '../../../routes/console/parts/links.tsx';
import {
  assertAccessible,
  assertFits,
  look,
  noBrowser,
  openBrowser,
} from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { eventually } from '../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../../helpers/repository.ts';

describe('whether a plan names a file', () => {
  const cases: [plan: string, path: string, isNamed: boolean][] = [
    ['Change src/add.ts.', 'src/add.ts', true],
    ['Change `src/add.ts`, then test.', 'src/add.ts', true],
    ['Change ./src/add.ts', 'src/add.ts', true],
    ['Change add.ts', 'src/add.ts', true],
    ['Change lib/add.ts', 'src/add.ts', false],
    ['Change src/add.tsx', 'src/add.ts', false],
    ['Change add.ts.bak', 'src/add.ts', false],
    ['Change readd.ts', 'src/add.ts', false],
    ['Change old-add.ts', 'src/add.ts', false],
    ['Change src/add.ts/more', 'src/add.ts', false],
    ['Change aXts', 'a.ts', false],
    ['', 'a.ts', false],
    ['Run (a+b).ts', '(a+b).ts', true],
  ];
  for (const [plan, path, wanted] of cases)
    it(`${JSON.stringify(plan)} ${wanted ? 'names' : 'does not name'} ${path}`, () => {
      assert.equal(isNamed(plan, path), wanted);
    });
});

const head = (a: string, b = a) => `diff --git a/${a} b/${b}\n`;
const changed = (path: string, body: string) =>
  `${head(path)}index 1..2 100644\n--- a/${path}\n+++ b/${path}\n${body}`;

describe('a patch', () => {
  it('is told file by file, with names, kinds and counts', () => {
    const files = filesOf(
      [
        changed('src/a b.ts', '@@ -1,2 +1,2 @@\n same\n-old\n+new\n'),
        `${head('x', 'y')}similarity index 100%\nrename from x\nrename to y\n`,
        `${head('run.sh')}old mode 100644\nnew mode 100755\n`,
        `${head('n')}new file mode 100644\nindex 0..e\n`,
        `${head('d')}deleted file mode 100644\nindex 1..0\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-d\n`,
        `${head('p.png')}index 1..2 100644\nBinary files a/p.png and b/p.png differ\n`,
      ].join(''),
    );
    assert.deepEqual(
      files.map(({ path, from, kind, modes, isBinary, added, removed }) =>
        [path, from, kind, modes, isBinary, added, removed].join(' '),
      ),
      [
        'src/a b.ts  changed  false 1 1',
        'y x renamed  false 0 0',
        'run.sh  changed 100644 → 100755 false 0 0',
        'n  new  false 0 0',
        'd  deleted  false 0 1',
        'p.png  changed  true 0 0',
      ],
    );
  });

  it('has names that git put in quotes as they are', () => {
    const name = '"b/a\\"b\\n\\303\\266\\\\.txt"';
    const [file] = filesOf(
      `diff --git ${name.replace('b/', 'a/')} ${name}\nnew file mode 100644\n`,
    );
    assert.equal(file?.path, 'a"b\nö\\.txt');
  });

  it('has no file that only its content speaks of', () => {
    const body = '@@ -0,0 +1 @@\n+x\rdiff --git a/evil b/evil\n+\u2028diff --git a/evil b/evil\n';
    assert.deepEqual(
      filesOf(changed('a', body)).map(({ path }) => path),
      ['a'],
    );
  });

  it('shows every line, whatever stands in it', () => {
    const texts = [
      'a\rb',
      '\\ No newline at end of file',
      '-- x',
      '++ y',
      '@@ -1 +1 @@',
      '',
      '* z',
    ];
    const body = `@@ -1,1 +1,${texts.length} @@\n--- x\n${texts.map((text) => `+${text}\n`).join('')}`;
    for (const layout of ['inline', 'side'] as const) {
      const rows = rowsOf(filesOf(changed('a', body))[0] as never, 0, layout);
      const lines = rows.flatMap(linesIn);
      assert.deepEqual(
        lines.filter(({ sign }) => sign === '+').map(({ text, after }) => `${after} ${text}`),
        texts.map((text, at) => `${at + 1} ${text.replace('\r', '␍')}`),
      );
      assert.deepEqual(lines.filter(({ sign }) => sign === '-').length, 1);
    }
  });

  it('takes no changed lines for the header of another file', () => {
    const body = '@@ -1,2 +1,2 @@\n a\n--- b\n+++ c\n@@ -9 +9 @@\n-d\n+e\n';
    const rows = rowsOf(filesOf(changed('a', body))[0] as never, 0, 'inline');
    assert.deepEqual(
      rows.flatMap(linesIn).map(({ sign, text, before, after }) => [sign + text, before, after]),
      [
        [' a', 1, 1],
        ['--- b', 2, undefined],
        ['+++ c', undefined, 2],
        ['-d', 9, undefined],
        ['+e', undefined, 9],
      ],
    );
  });

  it('tells where no newline ends a file', () => {
    const open = '\\ No newline at end of file\n';
    const body = `@@ -1 +1 @@\n-a\n${open}+b\n${open}`;
    const rows = rowsOf(filesOf(changed('a', body))[0] as never, 0, 'inline');
    assert.deepEqual(
      rows.flatMap(linesIn).map(({ isOpen }) => isOpen),
      [true, true],
    );
  });

  it('has what the plan does not name first', () => {
    const patch = ['a.ts', 'b.ts', 'c.ts'].map((path) => changed(path, '@@ -0,0 +1 @@\n+x\n'));
    const paths = listFiles(patch.join(''), 'Change a.ts and c.ts.').map(({ path }) => path);
    assert.deepEqual(paths, ['b.ts', 'a.ts', 'c.ts']);
  });
});

describe('what leads out of the page', () => {
  it('opens files of the worktree alone', () => {
    assert.equal(editorLink('/w/t', 'a b/c#.ts'), 'vscode://file/w/t/a%20b/c%23.ts');
    assert.equal(editorLink('/w/t'), 'vscode://file/w/t');
    assert.equal(editorLink('/w/t/a.md:3:1'), 'vscode://file/w/t/a.md:3:1');
    for (const path of ['../x', 'a/../../x', '/etc/passwd', 'a//b', './a', 'a\u202eb', 'a\nb', ''])
      assert.equal(editorLink('/w/t', path), undefined);
  });

  it('is a text with each place, its lines and what is said of them', () => {
    const about = { path: 'a\nb.ts', from: 1, to: 2, isOld: false, quoted: '+x\n+y', text: 'Why?' };
    assert.equal(feedbackOf([about]), 'a\\nb.ts:1-2\n\n> +x\n> +y\n\nWhy?');
  });
});

const HOSTILE = [
  'mkdir -p src',
  "printf 'export const add = (a, b) => a + b; // more\\n' > src/add.js",
  "printf 'one\\r<script>document.title=1</script>\\n\\033[31mred\\342\\200\\256txet' > \"$(printf 'we\"ird\\nname.txt')\"",
  'git mv old.txt renamed.txt',
  'chmod +x run.sh',
  "printf 'a\\000b' > data.bin",
  'seq -s "" 1 2000 > $(echo lo)ng.json',
];

const start = async (
  t: TestContext,
  commands: readonly string[],
  byHand: Record<string, string> = {},
) => {
  const { root } = makeRepository(t, {
    files: { 'src/add.js': '1;\n', 'old.txt': 'old\n', 'run.sh': 'true\n' },
  });
  const workspace = temporaryDirectory(t);
  const args = ['--workspace', workspace, '--repo', root];
  const { url } = await startHere(t, args);
  const dossier = connect({ url });
  const description = `\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`;
  const body = { title: 'Change things', type: 'bug', description };
  const { id } = await dossier.call('POST /cases', { body });
  const session = await dossier.call('POST /cases/{id}/sessions', {
    ...{ id, body: { type: 'implementing' } },
  });
  const at = { id, sid: session.id };
  for await (const { event } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', at)) {
    if (event !== 'plan_ready') continue;
    const { path } = await dossier.call('GET /api/worktrees/{case_id}/status', { case_id: id });
    writeFiles(path, byHand);
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', at);
  }
  const { status, error } = await dossier.call('GET /cases/{id}/sessions/{sid}', at);
  assert.equal(`${status} ${error}`, 'completed null');
  const patch = join(workspace, session.path, 'diff.patch');
  return { dossier, at, patch, page: `${url}/dashboard/cases/${id}/sessions/${session.id}/diff` };
};

const untilDrawn = (page: Page) => page.locator('.diff-row.file').first().waitFor();

describe('the diff', { skip: noBrowser }, () => {
  it('shows what a session did, and nothing of it acts', async (t) => {
    const { page: url } = await start(t, HOSTILE);
    const { page, complaints } = await look(t, url);
    await untilDrawn(page);
    const shown = (await page.locator('.diff-scroll').textContent()) ?? '';
    for (const part of ['one␍<script>', '␛[31m', '⟦U+202E⟧', 'we"ird␊name.txt'])
      assert.ok(shown.includes(part), part);
    for (const part of ['Renamed from old.txt', 'Mode 100644 → 100755', 'Binary file not shown'])
      assert.ok(shown.includes(part), part);
    assert.equal(await page.getByRole('heading', { name: 'Not in the plan (' }).count(), 1);
    await page.getByRole('link', { name: 'current files' }).waitFor();
    assert.match((await page.locator('.diff-file').first().textContent()) ?? '', /long/);
    await page.getByRole('button', { name: /^Show \d+ more$/ }).click();
    assert.match((await page.locator('.diff-scroll').textContent()) ?? '', /19992000/);
    await page.locator('.hljs-keyword', { hasText: 'const' }).first().waitFor();
    await assertAccessible(page);
    // The completed work waits to be looked at.
    assert.equal(await page.title(), '(1) Diff · Change things · Dossier');
    assert.deepEqual(complaints, []);
  });

  it('is gone through, marked, laid out and commented on by keyboard', async (t) => {
    const { page: url } = await start(t, [
      "printf 'a\\nb\\nc\\n' > src/add.js",
      'echo x > $(echo oth)er.txt',
    ]);
    const { page, complaints } = await look(t, url);
    await untilDrawn(page);
    await page.keyboard.press('j');
    await page.getByText('Files: 0 of 2 viewed').waitFor();
    await page.keyboard.press('v');
    await page.getByText('Files: 1 of 2 viewed').waitFor();
    await page.keyboard.press('i');
    await page.locator('.diff-row.two').first().waitFor();
    await page.reload();
    await page.locator('.diff-row.two').first().waitFor();
    await page.getByText('Files: 1 of 2 viewed').waitFor();
    await page.keyboard.press('i');
    await page.locator('.diff-row.one').first().waitFor();
    await page.keyboard.press('n');
    await page.locator('.diff-row.taken').waitFor();
    await page.locator('.diff-scroll').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('m');
    await page.getByLabel('Comment on src/add.js:1-2').waitFor();
    await page.keyboard.type('Why these?');
    await page.reload();
    const writing = page.getByLabel('Comment on src/add.js:1-2');
    assert.equal(await writing.inputValue(), 'Why these?');
    await writing.focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Comments (1)' }).waitFor();
    await page.getByText('Comment saved on src/add.js:1-2.').waitFor();
    await page.locator('.diff-scroll:focus').waitFor();
    assert.equal(await page.locator('.diff-row.commented').count(), 2);
    await page.reload();
    await page.getByText('Why these?', { exact: true }).waitFor();
    const feedback = page.getByLabel('Feedback for a new session');
    await feedback.fill(`First of all.\n\n${await feedback.inputValue()}`);
    await page.locator('.diff-row.come').last().click();
    await page.keyboard.press('m');
    await page.keyboard.type('And this?');
    await page.getByRole('button', { name: 'Save comment' }).click();
    await page.getByRole('heading', { name: 'Comments (2)' }).waitFor();
    await page.reload();
    await page.getByText('Your unsent text was restored.').waitFor();
    assert.match(
      await feedback.inputValue(),
      /^First of all\.\n\n[\s\S]*Why these\?\n\n[\s\S]*And this\?$/,
    );
    await page.getByRole('button', { name: /^Remove the comment on src\/add.js:1-2/ }).click();
    await page.getByRole('heading', { name: 'Comments (1)' }).waitFor();
    assert.match(
      await feedback.inputValue(),
      /^First of all\.\n\n(?![\s\S]*Why these)[\s\S]*And this\?$/,
    );
    assert.deepEqual(complaints, []);
  });

  it('sends comments to a plan that waits', async (t) => {
    const { page: url, dossier, at } = await start(t, ["printf 'a\\nb\\n' > src/add.js"]);
    const { id } = at;
    const again = await dossier.call('POST /cases/{id}/sessions', {
      ...{ id, body: { type: 'implementing' } },
    });
    const next = { id, sid: again.id };
    for await (const { event } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', next))
      if (event === 'plan_ready') break;
    const { page } = await look(t, url);
    await untilDrawn(page);
    await page.locator('.diff-row.come').first().click();
    await page
      .locator('.diff-row.come')
      .last()
      .click({ modifiers: ['Shift'] });
    await page.getByRole('button', { name: 'Comment on lines' }).click();
    await page.getByLabel('Comment on src/add.js:1-2').fill('Why these?');
    await page.getByRole('button', { name: 'Save comment' }).click();
    const sent = page.waitForRequest((request) => request.url().endsWith('/revise'));
    await page.getByRole('button', { name: 'Request changes' }).click();
    const { comment } = (await sent).postDataJSON();
    assert.equal(comment, 'src/add.js:1-2\n\n> +a\n> +b\n\nWhy these?');
    assert.equal((await (await sent).response())?.status(), 200);
  });

  it('keeps the comments of two tabs, and takes away the one that is removed', async (t) => {
    const { page: url } = await start(t, ["printf 'a\\nb\\n' > src/add.js"]);
    const { page } = await look(t, url);
    const tab = await page.context().newPage();
    await tab.goto(url);
    for (const [one, said] of [
      [page, 'Said in one'],
      [tab, 'Said in the other'],
    ] as const) {
      await one.locator('.diff-row.come').first().click();
      await one.keyboard.press('m');
      await one.getByLabel('Comment on src/add.js:1').fill(said);
      await one.getByRole('button', { name: 'Save comment' }).click();
      await one.getByRole('heading', { name: 'Comments (1)' }).waitFor();
    }
    await tab.reload();
    await tab.getByRole('heading', { name: 'Comments (2)' }).waitFor();
    await page.getByRole('button', { name: 'Remove all' }).click();
    await tab.reload();
    await tab.getByRole('heading', { name: 'Comments (1)' }).waitFor();
    await tab.locator('.diff-comments li', { hasText: 'Said in the other' }).waitFor();
  });

  it('says that the browser cannot store a comment, while it is written and once it is saved', async (t) => {
    const { page: url } = await start(t, ["printf 'a\\nb\\n' > src/add.js"]);
    const { page } = await look(t, url);
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('Full', 'QuotaExceededError');
      };
    });
    await page.locator('.diff-row.come').first().click();
    await page.keyboard.press('m');
    await page.getByLabel('Comment on src/add.js:1').fill('Why?');
    await page.getByText('cannot store this text. Save it before').waitFor();
    await page.getByRole('button', { name: 'Save comment' }).click();
    await page.getByText('cannot store this text. Send or copy it before').waitFor();
  });

  it('starts a session with the comments where no plan waits', async (t) => {
    const { page: url, dossier, at } = await start(t, ["printf 'a\\nb\\n' > src/add.js"]);
    const { page, complaints } = await look(t, url);
    await untilDrawn(page);
    await page.locator('.diff-row.come').first().click();
    await page.keyboard.press('m');
    await page.getByLabel('Comment on src/add.js:1').fill('Why this?');
    await page.getByRole('button', { name: 'Save comment' }).click();
    await page.getByRole('button', { name: 'Start session with this feedback' }).click();
    await page.waitForURL((to) => !to.href.includes(at.sid));
    const sessions = await dossier.call('GET /cases/{id}/sessions', at);
    assert.equal(sessions.length, 2);
    const sid = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    for await (const { event } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', {
      ...{ id: at.id, sid },
    }))
      if (event === 'plan_ready') break;
    const plan = await dossier.call('GET /cases/{id}/sessions/{sid}/plan', { id: at.id, sid });
    assert.match(plan ?? '', /src\/add\.js:1\n\n> \+a\n\nWhy this\?/);
    assert.deepEqual(complaints, []);
  });

  it('is shown since the approval alone', async (t) => {
    const { page: url } = await start(t, ['echo x > new.txt'], { 'hand.txt': 'by hand\n' });
    for (const javaScriptEnabled of [true, false]) {
      const { page, complaints } = await look(t, url, { javaScriptEnabled });
      await page.getByText('by hand').first().waitFor();
      await page.getByRole('link', { name: 'Since approval' }).click();
      await page.getByText('Changes made before the approval').waitFor();
      await page.getByText('new.txt').first().waitFor();
      assert.equal(await page.getByText('by hand').count(), 0);
      assert.deepEqual(complaints, []);
    }
  });

  it('says which keys need a selection, and shows where long names differ', async (t) => {
    const name = (which: string) => `a-rather-long-name-of-a-file-that-does-not-fit-${which}.ts`;
    const { page: url } = await start(
      t,
      ['one', 'two'].map((which) => `echo x > ${name(which)}`),
    );
    const { page } = await look(t, url, { size: 'narrow' });
    await untilDrawn(page);
    await page.locator('.diff-aside > summary').click();
    const button = page.getByRole('button', { name: name('two'), exact: true });
    await button.waitFor();
    const isSeen = await button.evaluate((one) => {
      const inside = (one.lastElementChild as Element).getBoundingClientRect();
      const box = one.getBoundingClientRect();
      const start = one.querySelector('.start') as Element;
      return inside.right <= box.right + 1 && start.scrollWidth > start.clientWidth;
    });
    assert.equal(isSeen, true);
    await page.locator('.diff-scroll').focus();
    const keysOf = async () => {
      await page.keyboard.press('?');
      const keys = (await page.getByRole('dialog').textContent()) ?? '';
      await page.keyboard.press('Escape');
      return keys;
    };
    const before = await keysOf();
    assert.match(before, /vViewed \(select its row first: j\)/);
    assert.match(before, /mComment on lines \(select lines first: n, or the arrow keys\)/);
    await page.keyboard.press('n');
    assert.match(await keysOf(), /mComment on lines(?! \()/);
    await page.keyboard.press('j');
    assert.match(await keysOf(), /vViewed(?! \()/);
  });

  it('has the path and the links of a file in view, however long its lines and its path are', async (t) => {
    const path = `src/${'deep/'.repeat(12)}wide.txt`;
    const { page: url } = await start(t, [
      `mkdir -p $(dirname ${path}) && seq -s - 1 90 > ${path}`,
    ]);
    const { page } = await look(t, url, { size: 'narrow' });
    await untilDrawn(page);
    for (const to of [0, 400]) {
      await page.locator('.diff-scroll').evaluate((box, left) => box.scrollTo({ left }), to);
      const outside = await page.locator('.diff-row.file').evaluate((row) => {
        const box = (row.closest('.diff-scroll') as Element).getBoundingClientRect();
        const parts = [...row.querySelectorAll('.path > :last-child, button, a[aria-label^=Edit]')];
        const isOut = ({ left, right }: DOMRect) => left < box.left || right > box.right;
        const out = parts.filter((part) => isOut(part.getBoundingClientRect()));
        return [parts.length, ...out.map(({ textContent }) => textContent)];
      });
      assert.deepEqual(outside, [3]);
    }
  });

  it('has its files in folders, which are folded, filtered and few nodes', async (t) => {
    const { page: url } = await start(t, [
      'mkdir -p a/deep/down b; for i in $(seq 2000); do echo x > $([ $i -gt 9 ] && echo b || echo a/deep/down)/f$i; done',
    ]);
    const { page, complaints } = await look(t, url);
    await page.getByText('Files: 0 of 2000 viewed').waitFor();
    const files = page.locator('.diff-file');
    await page.keyboard.press('j');
    assert.match((await page.locator(':focus').textContent()) ?? '', /a\/deep\/down\/9/);
    assert.match((await files.first().textContent()) ?? '', /^f1new/);
    await page.keyboard.press('ArrowLeft');
    await page
      .locator('.diff-folder', { hasText: 'a/deep/down' })
      .and(page.locator(':focus'))
      .waitFor();
    assert.match((await files.first().textContent()) ?? '', /^f10new/);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('f');
    await page.keyboard.press('f');
    for (let times = 0; times < 60; times++) await page.keyboard.press('j');
    await page.locator('.diff-file:focus').waitFor();
    assert.ok((await page.evaluate(() => document.querySelectorAll('*').length)) <= 3000);
    await page.keyboard.press('/');
    await page.keyboard.type('B/F1999');
    await page.getByText('(1)').waitFor();
    assert.equal(await files.count(), 1);
    await files.getByRole('checkbox').click();
    await page.getByText('Files: 1 of 2000 viewed').waitFor();
    await page.getByLabel('Filter files').fill('nothing of it');
    await page.getByText('No files match.').waitFor();
    assert.deepEqual(complaints, []);
  });

  it('tells what changed since the last look, and takes the mark of it away', async (t) => {
    const { page: url, patch } = await start(t, ['echo a > one.txt', 'echo b > two.txt']);
    const { page } = await look(t, url);
    await untilDrawn(page);
    for (const path of ['one.txt', 'two.txt']) await page.getByLabel(`Viewed: ${path}`).click();
    await page.getByText('Files: 2 of 2 viewed').waitFor();
    await page.reload();
    await page.getByText('Files: 2 of 2 viewed').waitFor();
    await page.getByText('Changed since your last visit (0)').waitFor();
    // While it is shown, the page takes over what changes: that would be seen.
    await page.goto('about:blank');
    writeFileSync(patch, readFileSync(patch, 'utf8').replace('+b\n', '+c\n'));
    await page.goto(url);
    await page.getByText('Files: 1 of 2 viewed').waitFor();
    await page.getByLabel('Changed since your last visit (1)').click();
    assert.deepEqual(await page.locator('.diff-file .name').allTextContents(), ['two.txt']);
    await page.getByLabel('Viewed: two.txt').click();
    await page.getByText('Files: 2 of 2 viewed').waitFor();
    await page.getByLabel('Viewed: two.txt').click();
    await page.getByText('Files: 1 of 2 viewed').waitFor();
  });

  it('is not asked for before there is one', async (t) => {
    const { root } = makeRepository(t);
    const args = ['--workspace', temporaryDirectory(t), '--repo', root];
    const { url } = await startHere(t, args);
    const dossier = connect({ url });
    const { id } = await dossier.call('POST /cases', { body: { title: 'By hand', type: 'bug' } });
    const { id: sid } = await dossier.call('POST /cases/{id}/sessions', {
      ...{ id, body: { type: 'implementing', provider: 'manual' } },
    });
    const { page, complaints } = await look(t, `${url}/dashboard/cases/${id}/sessions/${sid}/diff`);
    await page.getByText('The diff appears once the session has worked.').waitFor();
    await dossier.call('PUT /cases/{id}', { id, body: { title: 'Planned by hand' } });
    await page.getByText('Planned by hand').first().waitFor();
    await dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { id, sid, body: 'By hand.' });
    await eventually(() => dossier.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid }));
    await page.getByText('The session is working.').waitFor();
    assert.deepEqual(complaints, []);
  });

  it('says that the patch did not come, and asks for it again', async (t) => {
    const { page: url, at } = await start(t, ['seq 1 20000 > long.txt']);
    const tab = await (await openBrowser(t)).newPage();
    const asked = `**/cases/${at.id}/sessions/${at.sid}/diff?*`;
    await tab.route(asked, (route) => route.abort());
    await tab.goto(url);
    await tab.getByText('The patch could not be loaded.').waitFor();
    await tab.unroute(asked);
    await tab.getByRole('button', { name: 'Try again' }).click();
    await untilDrawn(tab);
    assert.equal(await tab.getByText('The patch could not be loaded.').count(), 0);
  });

  it('holds few nodes of twenty thousand lines', async (t) => {
    const { page: url } = await start(t, [
      'seq 1 20000 | sed \'s/.*/const line& = "&";/\' > long.js',
    ]);
    const { page, complaints } = await look(t, url);
    await untilDrawn(page);
    const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
    await page.locator('.hljs-keyword').first().waitFor();
    assert.ok((await nodes()) <= 3000, `${await nodes()}`);
    await page.locator('.diff-scroll').evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.getByText('line20000 = ').waitFor();
    await page.keyboard.press('i');
    await page.locator('.diff-row.two').first().waitFor();
    assert.ok((await nodes()) <= 3000, `${await nodes()}`);
    assert.deepEqual(complaints, []);
  });

  it('is read without scripts', async (t) => {
    const { page: url } = await start(t, HOSTILE);
    const { page } = await look(t, url, { javaScriptEnabled: false });
    const shown = (await page.locator('.diff-text').textContent()) ?? '';
    assert.ok(shown.includes('+export const add'));
    assert.ok(shown.includes('⟦U+202E⟧'));
    assert.equal(await page.getByRole('heading', { name: 'Not in the plan (' }).count(), 1);
    assert.equal(await page.getByRole('link', { name: 'Download the whole patch' }).count(), 1);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`fits a small page: ${colorScheme}`, async (t) => {
      const { page: url } = await start(t, HOSTILE);
      const { page, complaints } = await look(t, url, { size: 'narrow', colorScheme });
      await untilDrawn(page);
      await assertFits(page);
      await page.getByText(/^Files: 0 of/).click();
      await assertAccessible(page);
      await assertFits(page);
      assert.deepEqual(complaints, []);
    });
});
