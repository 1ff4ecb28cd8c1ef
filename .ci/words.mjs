// Every text that a user can read, with its place: `npm run words`, or `npm run words -- lib/cli` for a part. These are the
// strings, templates and JSX texts of two words and more; expressions in them are printed as {…}.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tsxLanguage, typescriptLanguage } from '@codemirror/lang-javascript';

const LANGUAGES = { ts: typescriptLanguage, tsx: tsxLanguage, mts: typescriptLanguage };

const TWO_WORDS = /\p{L}{2,}[^\p{L}]*\s[^\p{L}]*\p{L}{2,}/u;

/** The texts of a source file: the line of each, and the text as a reader sees it. */
export const textsIn = (source, extension) => {
  const found = [];
  LANGUAGES[extension].parser.parse(source).iterate({
    enter: (node) => {
      if (node.name === 'ImportDeclaration' || isClass(node, source)) return false;
      if (!['String', 'TemplateString', 'JSXText', 'JSXAttributeValue'].includes(node.name))
        return true;
      const text = textOf(node, source);
      if (TWO_WORDS.test(text))
        found.push({ line: source.slice(0, node.from).split('\n').length, text });
      return node.name === 'TemplateString';
    },
  });
  return found;
};

const isClass = (node, source) =>
  node.name === 'JSXAttribute' && /^class(Name)?=/.test(source.slice(node.from, node.to));

const textOf = (node, source) => {
  const raw = source.slice(node.from, node.to);
  const inner = node.name === 'JSXText' ? raw : raw.slice(1, -1);
  const plain = node.name === 'TemplateString' ? withoutExpressions(inner) : inner;
  return plain.replaceAll(/\s+/g, ' ').trim();
};

const withoutExpressions = (template) => {
  let text = '';
  for (let at = 0, depth = 0; at < template.length; at += 1) {
    if (depth === 0 && template.startsWith('${', at)) {
      text += '{…}';
      depth = 1;
      at += 1;
    } else if (depth === 0) text += template[at];
    else depth += { '{': 1, '}': -1 }[template[at]] ?? 0;
  }
  return text;
};

const [under = ['lib', 'routes', 'store'].join(' ')] = process.argv.slice(2);
const paths = execFileSync('git', ['ls-files', ...under.split(' ')])
  .toString()
  .split('\n')
  .filter((path) => /\.(tsx?|mts)$/.test(path));
for (const path of paths) {
  const extension = path.slice(path.lastIndexOf('.') + 1);
  for (const { line, text } of textsIn(readFileSync(path, 'utf8'), extension))
    console.log(`${path}:${line}: ${text}`);
}
