import fc from 'fast-check';

// `W` is another word each time.
const BITS = [
  ...[
    'W',
    ' W ',
    '# W',
    '- W',
    '> W',
    '>',
    '\n1. W',
    '\n7) W',
    '- [x] W',
    '- [ ] W',
    'W\n===',
    '---',
  ],
  ...['\n', '\n\n', '  ', '    ', '\t', '\\', '\\*', '\\|', '(', ')', '[', ']', '"', '!', '<', '|'],
  ...['`', '``', '`W`', '```W W\n', '~~~W\n', '```\n', '*', '**', '_', '*W*', '**W**', '~~W~~'],
  ...['[W](/W "W")', "[W](<W> 'W')", '[W](W (W))', '![W](W "W")', '[W][W]', '[W][]', '![W][W]'],
  ...['[W]: /W "W"\n', "[W]: <W>\n'W\nW'\n", '[a]: # (W)\n', '[a]: W\n', '[a]', '[W][a]'],
  ...['| W | W |\n|-|-|\n', '| W | W | W |\n', 'W | W\n-|-\n', '| `W|W` | W \\| W |\n'],
  ...['<b W="W">', '<!-- W -->', '<div>\nW\n', '</div>\n', '<pre>W\n', '<http://W>', '<W@x.org>'],
  ...['https://W.org/W', 'www.W.org', '$W', ':(){ W|W& };W'],
];

/** A text as a plan may be, with all that Markdown can do; each word of the kind `w7q` is in it once. */
export const planText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...BITS), { maxLength: 25 })
  .map((bits) => {
    const [first = '', ...more] = bits.join('').split('W');
    return first + more.map((text, at) => `w${at}q${text}`).join('');
  });
