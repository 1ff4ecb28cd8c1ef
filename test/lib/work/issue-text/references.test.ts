import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imagesIn } from '../../../../lib/work/issue-text/references.ts';
import { imageType } from '../../../../store/codehost/images.ts';

describe('imagesIn', () => {
  it('finds images of Markdown and of HTML over https, each once, in their order', () => {
    const text = [
      '<img width="1" alt="a > b" src="https://h.example/0.png">',
      "<IMG\n src = 'https://h.example/1.png' />",
      '![a shot](https://h.example/2.png "title") and ![](<https://h.example/3.png>)',
      '![](https://h.example/2.png) [a link](https://h.example/no.png)',
      '![](http://h.example/no.png) ![](file:///no) <img src="data:image/png;base64,AA">',
      '![](https://h.example/\u202egnp.no)',
      '<img data-src="https://h.example/no.png">',
    ].join('\n');
    assert.deepEqual(
      imagesIn(text),
      ['1', '2', '3'].map((at) => `https://h.example/${at}.png`),
    );
  });

  it('names one address of an image, whatever follows its path', () => {
    const of = (...urls: string[]) => imagesIn(urls.map((url) => `![](${url})`).join('\n'));
    const [one, other] = ['https://h.example/1.png', 'https://h.example/2.png'];
    assert.deepEqual(of(`${one}?x=1`, one, `${other}?x=1`, `${one}?x=2`, `${one}#top`), [
      `${one}?x=1`,
      `${other}?x=1`,
    ]);
  });

  it('reads any text in a time in proportion to its length', () => {
    for (const piece of ['<img ', '![', '<img src=', '![](https://', '<img src="https://a'])
      assert.ok(Array.isArray(imagesIn(piece.repeat(100_000))));
  });
});

describe('imageType', () => {
  it('goes by the first bytes, and takes no SVG and no other', () => {
    const types = [
      ['89504e470d0a1a0a00', 'image/png'],
      ['ffd8ffe000', 'image/jpeg'],
      ['474946383961', 'image/gif'],
      ['52494646aabbccdd57454250', 'image/webp'],
      [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg">').toString('hex'), undefined],
      [Buffer.from('RIFF1234WAVE').toString('hex'), undefined],
      ['', undefined],
    ] as const;
    for (const [hex, type] of types) assert.equal(imageType(Buffer.from(hex, 'hex')), type);
  });
});
