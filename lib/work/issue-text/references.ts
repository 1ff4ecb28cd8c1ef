import { imageKey } from '../../../store/codehost/images.ts';
import type { ExtractedIssue } from '../../../store/records/extracted.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';

type Link = ExtractedIssue['links'][number];
type Mention = ExtractedIssue['mentions'][number];

/** The links of a text, each URL once: Markdown links, definitions and bare URLs. */
export const linksIn = (prose: string): Link[] => {
  const found = new Map<string, string>();
  const text = withoutCode(prose);
  for (const [, words = '', url = ''] of text.matchAll(MARKDOWN_LINK)) found.set(url, words.trim());
  for (const [bare] of text.replace(MARKDOWN_LINK, ' ').matchAll(BARE_LINK)) {
    const url = trimmed(bare);
    if (!found.has(url)) found.set(url, '');
  }
  return [...found].map(([url, words]) => ({ text: words, url }));
};

// The repetition is bounded against slow matching: a URL has at most 2,000 characters.
const MARKDOWN_LINK =
  /\[([^[\]\n]{0,300})\]\(<?(https?:\/\/[^\s<>()]{1,2000}(?:\([^\s()]{0,200}\))?)/g;
const BARE_LINK = /https?:\/\/[^\s<>"'`()[\]|]{1,2000}/g;

const trimmed = (url: string): string => url.replace(/[.,;:!?*_~]{1,10}$/, '');

/** The text without inline code. */
const withoutCode = (prose: string): string => prose.replace(/(?<!`)`+(?!`)[^`\n]+`+/g, ' ');

/** The issues and pull requests that a text mentions, each once: `#12`, `GH-12`, `owner/name#12`, or a URL. */
export const mentionsIn = (prose: string): Mention[] => {
  const found = new Map<string, Mention>();
  for (const word of wordsOf(withoutCode(prose))) {
    const mention = mentionOf(word);
    if (mention === undefined) continue;
    const key = `${mention.repository ?? ''}#${mention.number}`;
    const known = found.get(key);
    if (known === undefined || known.kind === 'unknown') found.set(key, mention);
  }
  return [...found.values()];
};

// Longer words are not mentions.
const wordsOf = (text: string): string[] =>
  text.split(/[\s"'`()<>[\]{},;|*]+/).filter((word) => word !== '' && word.length <= 400);

const mentionOf = (word: string): Mention | undefined => {
  const [, owner, name, path, linked] = HOSTED.exec(word) ?? [];
  if (linked !== undefined) {
    const kind = path === 'issues' ? 'issue' : 'pull';
    return { repository: `${owner}/${name}`, number: Number(linked), kind };
  }
  const [, repository = null, hash, gh] = SHORT.exec(word) ?? [];
  const number = Number(hash ?? gh ?? 0);
  return number === 0 ? undefined : { repository, number, kind: 'unknown' };
};

const NUMBER = '([1-9]\\d{0,8})';
const HOSTED = new RegExp(
  `^https?://[^/]+/([\\w.-]+)/([\\w.-]+)/(issues|pull|pulls)/${NUMBER}(?![\\w])`,
);
const SHORT = new RegExp(`^(?:([\\w.-]+/[\\w.-]+)?#${NUMBER}|GH-${NUMBER})(?!\\w)`);

/** The files that a text or log names, each once, without line numbers; URLs are excluded. */
export const namedFiles = (text: string): string[] => {
  const named = wordsOf(text).flatMap((word) => {
    if (word.includes('://') || word.startsWith('@')) return [];
    const [path = ''] = word.replace(/^(?:\.\/|[ab]\/(?=.*\/))/, '').split(/:(?=\d|$)|[#?]/);
    const file = path.replace(/[.:!?]{1,9}$/, '');
    return isFile(file) ? [file] : [];
  });
  return [...new Set(named)].slice(0, MOST_FILES);
};

const MOST_FILES = 30;

const isFile = (path: string): boolean =>
  path.length <= 200 &&
  !path.startsWith('/') &&
  !path.includes('node_modules/') &&
  /^[\w.@+-]+(?:\/[\w.@+-]+)*$/.test(path) &&
  SOURCE.test(path);

const SOURCE =
  /[\w-]\.(?:[cm]?[jt]sx?|py|rs|go|rb|java|kt|swift|c|cc|cpp|h|hpp|cs|php|sh|sql|ya?ml|toml|json|md|html|s?css|vue|svelte|ex|exs|erl|lua|scala|zig|nix|tf|proto|gradle|lock|cfg|ini|conf|dockerfile)$/i;

/** The lines of a text that report an error, each once. */
export const errorsIn = (text: string): string[] => {
  const lines = text
    .split('\n')
    .map((line) => line.slice(0, 300).trim())
    .filter((line) => ERROR.test(line));
  return [...new Set(lines)].slice(0, MOST_ERRORS);
};

const MOST_ERRORS = 10;

const ERROR =
  /^(?:[\w.:$[\]()-]{0,80}\s)?(?:Uncaught |Caused by: )?(?:[A-Za-z_$][\w.$]{0,100}(?:Error|Exception)\b(?:\s*[:[(]|$)|(?:error|fatal|panic|failed|failure)(?:\[[\w-]+\])?:\s|(?:ERROR|FATAL|CRITICAL|PANIC)\b|thread '[^']{1,100}' panicked|Traceback \(most|Segmentation fault|E[A-Z]{3,12}:\s)/;

/** The full URLs that an issue's text leads to, each once: its links, issues and pull requests, without its images. */
export const linkedUrls = (
  text: string,
  { host = 'github.com', repository }: Pick<IssueLinkMatter, 'host' | 'repository'>,
): string[] => {
  const images = new Set(imageUrls(text));
  const links = linksIn(text).map(({ url }) => url);
  const named = mentionsIn(text).map(
    (mention) =>
      `https://${host}/${mention.repository ?? repository}/${mention.kind === 'pull' ? 'pull' : 'issues'}/${mention.number}`,
  );
  return [...new Set([...links, ...named])]
    .filter((url) => SEEN.test(url) && !images.has(url))
    .slice(0, MOST);
};

const MOST = 50;
// An address holds nothing that is not seen.
const SEEN = /^[!-~]+$/;

/** The https URLs of the images of a Markdown text, one for each image that is stored, in order of appearance. */
export const imagesIn = (markdown: string): string[] => {
  const found = new Map<string, string>();
  for (const url of imageUrls(markdown)) {
    const key = imageKey(url);
    if (!found.has(key)) found.set(key, url);
  }
  return [...found.values()];
};

const imageUrls = (markdown: string): string[] => {
  const text = markdown.slice(0, MOST_TEXT);
  const found = [
    ...text.matchAll(MARKDOWN_IMAGE),
    ...[...text.matchAll(IMAGE_TAG)].flatMap(imageSource),
  ];
  const inOrder = found.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
  return [...new Set(inOrder.flatMap(([, url]) => url ?? []))];
};

const MOST_TEXT = 262_144;

// An address holds nothing that is not seen. Bounded, and no part of one match can be in the next: no text takes long.
const MARKDOWN_IMAGE = /!\[[^[\]\n]{0,300}\]\(<?(https:\/\/[!#-&*-;=?-~]{1,2000})(?=[\s)>])/g;
const IMAGE_TAG = /<img\s[^<>]{1,3000}>/gi;
const IMAGE_SOURCE = /\ssrc\s*=\s*["']?(https:\/\/[!#-&(-;=?-~]{1,2000})(?=[\s"'>])/i;

const imageSource = (tag: RegExpExecArray): RegExpExecArray[] => {
  const source = IMAGE_SOURCE.exec(tag[0]);
  if (source === null) return [];
  source.index = tag.index;
  return [source];
};
