// What the package owes to others: dist/licenses.txt and dist/sbom.cdx.json (CycloneDX) name every package whose code
// lies in dist/, by what esbuild says that it put there. A build that cannot name a licence fails.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i;

/** The folders of the packages of which a byte stands in what was made, as `node_modules/pino`. */
export const bundledIn = (metafiles) => {
  const inputs = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return [...new Set(inputs.flatMap(([path]) => FOLDER.exec(path)?.[0] ?? []))].sort();
};

/** What is to be said of a package. Throws where its licence cannot be told. */
export const noticeOf = (folder, texts = '.ci/licences') => {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  if (typeof license !== 'string')
    throw new Error(`${folder} names no licence: it cannot be in the package`);
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  const own = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { folder, name, version, license, text: own.join('\n\n') || standard() };

  // Some publish the name of a licence without its text.
  function standard() {
    const path = join(texts, `${license}.txt`);
    if (!existsSync(path)) throw new Error(`${folder} brings no text of its licence, ${license}`);
    const by = typeof author === 'object' ? author.name : author;
    return `Copyright (c) ${by ?? `the authors of ${name}`}\n\n${readFileSync(path, 'utf8').trim()}`;
  }
};

/** Writes both files. */
export const writeNotices = (metafiles, { name, version, license }) => {
  const notices = bundledIn(metafiles).map((folder) => noticeOf(folder));
  writeFileSync('dist/licenses.txt', licencesOf(notices));
  const integrity = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
  const component = { type: 'application', ...identity({ name, version, license }) };
  const sbom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component },
    components: notices.map((notice) => ({
      type: 'library',
      ...identity(notice),
      ...hashesOf(integrity[notice.folder.replace(/^.*?(?=node_modules)/, '')]?.integrity),
    })),
  };
  writeFileSync('dist/sbom.cdx.json', `${JSON.stringify(sbom, null, 2)}\n`);
};

// One text for all that are under the very same.
const licencesOf = (notices) => {
  const byText = grouped(notices);
  const parts = [...byText].map(([text, under]) => {
    const names = under.map(({ name, version, license }) => `${name} ${version} (${license})\n`);
    return `${'='.repeat(72)}\n${names.join('')}${'='.repeat(72)}\n\n${text}\n`;
  });
  return [
    'Dossier carries code of the packages below. Each is its authors’, under the licence that follows its name.\n',
    ...parts,
  ].join('\n');
};

const grouped = (notices) => {
  const byText = new Map();
  for (const notice of notices)
    byText.set(notice.text, [...(byText.get(notice.text) ?? []), notice]);
  return byText;
};

const identity = ({ name, version, license }) => {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const isOne = /^[\w.+-]+$/.test(license);
  const licenses = [isOne ? { license: { id: license } } : { expression: license }];
  return { 'bom-ref': purl, name, version, purl, licenses };
};

// As the registry gave it: sha512-BASE64.
const hashesOf = (integrity) => {
  const [algorithm, digest] = integrity?.split('-') ?? [];
  if (algorithm !== 'sha512') return {};
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] };
};
