import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { h } from 'preact';
import { render } from 'preact-render-to-string';
import { Markdown } from '../../../routes/console/parts/markdown.tsx';

const html = (text: string): string => render(h(Markdown, { text }));

describe('Markdown that anybody may have written', () => {
  it('runs nothing and loads nothing', () => {
    const texts = [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '<svg/onload=alert(1)>',
      '<style>body{display:none}</style>',
      '<a href="javascript:alert(1)">x</a>',
      'a <b onclick=alert(1)>b</b>',
      '[x](javascript:alert(1))',
      '[x](JaVaScRiPt&colon;alert(1))',
      '[x](data:text/html,<script>alert(1)</script>)',
      '[x](vbscript:x)',
      '![x](https://example.org/beacon.png)',
      '![x](javascript:alert(1))',
      '<https://example.org/"onmouseover=alert(1)>',
      '[a]: javascript:alert(1)\n\n[a]',
      '```html\n<script>alert(1)</script>\n```',
      '| <script>a</script> |\n|-|\n| <img src=x> |',
    ];
    for (const text of texts) {
      const shown = html(text);
      assert.doesNotMatch(shown, /<(?:script|img|svg|style|b)\b/i, text);
      assert.doesNotMatch(shown, /href="(?!https?:|mailto:)/i, text);
      assert.doesNotMatch(shown, /<[^>]*\son\w+=/i, text);
    }
  });

  it('shows what is HTML as it is written', () => {
    assert.match(html('before <kbd>x</kbd> after'), /&lt;kbd>x&lt;\/kbd>/);
    assert.match(html('<div>\nblock\n</div>'), /&lt;div>/);
  });

  it('shows what nobody would see', () => {
    assert.match(html('rm\u202e -rf'), /⟦U\+202E⟧/);
    assert.match(html('`a\u200bb`'), /⟦U\+200B⟧/);
    assert.match(html('\u001b[31mred'), /␛/);
  });

  it('leaves characters as they were meant', () => {
    assert.match(html('1 < 2 & "three"'), /1 &lt; 2 &amp; (?:"|&quot;)three/);
    assert.match(html('&lt;b&gt; and &amp;amp;'), /&lt;b> and &amp;amp;/);
    assert.match(html('`a && b < c`'), /<code>a &amp;&amp; b &lt; c<\/code>/);
  });

  it('is shown as it is written where it is too large or too deep', () => {
    const deep = [
      `${'> '.repeat(5000)}x`,
      `${'- '.repeat(5000)}x`,
      `${'*'.repeat(50_000)}x`,
      `${'['.repeat(20_000)}x`,
      `${'> - '.repeat(60)}x`,
      'x '.repeat(200_000),
    ];
    for (const text of deep) assert.match(html(text).slice(0, 40), /<pre class="as-written">|<div/);
    assert.match(html(deep[0] as string).slice(0, 40), /as-written/);
    assert.match(html(deep[5] as string).slice(0, 40), /as-written/);
  });

  it('has its own headings below that of the page', () => {
    assert.match(html('# One\n\n###### Six'), /<h2>One<\/h2>.*<h6>Six<\/h6>/s);
  });

  it('shows lists, tasks, tables and links', () => {
    assert.match(
      html('- [x] done\n- [ ] open'),
      /<input type="checkbox" checked disabled aria-label="Done"\/>/,
    );
    assert.match(html('3. three'), /<ol start="3">/);
    assert.match(html('|a|b|\n|-|-|\n|1|2|'), /<th scope="col">a<\/th>.*<td>2<\/td>/s);
    assert.match(
      html('[docs](https://example.org/a?b=c&d=e)'),
      /<a href="https:\/\/example.org\/a\?b=c&amp;d=e"[^>]*rel="noreferrer noopener"/,
    );
  });
});
