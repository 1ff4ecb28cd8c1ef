import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { openApi } from '../../../lib/http/openapi.ts';
import { type Document, operationsOf } from '../../../routes/console/parts/api/document.ts';
import { exampleOf, examplesOf } from '../../../routes/console/parts/api/examples.ts';
import { sections } from '../../../routes/index.ts';
import { PROJECT } from '../../examples/run.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const document = openApi(sections, [], '0.0.0') as unknown as Document;
const calls = operationsOf(document);

describe('the examples of the API', () => {
  it('send what the operation takes', () => {
    const ajv = new Ajv({ strict: false });
    formats.default(ajv);
    ajv.addSchema({ $id: 'document', components: document.components });
    for (const { operation } of calls)
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
        const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
        const example = exampleOf(schema, document);
        const isRight = ajv.validate(JSON.parse(text), example);
        const said = `${operation.operationId}: ${JSON.stringify(example)}`;
        assert.ok(isRight, `${said} ${ajv.errorsText()}`);
      }
  });

  it('are scripts that a shell can read', () => {
    const script = calls.map((call) => examplesOf(call, document)?.curl).join('\n');
    assert.equal(spawnSync('sh', ['-n'], { input: script }).status, 0);
    assert.match(script, /^curl -X POST "http:\/\/127.0.0.1:4870\/cases" \\$/m);
  });

  it('are calls as the client is typed', (t) => {
    const place = temporaryDirectory(t);
    const names = calls.flatMap(({ path }) =>
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    );
    const text = [
      `import { connect } from '${join(PROJECT, 'dist/client.js')}';`,
      'const dossier = connect();',
      ...[...new Set(names)].map((name) => `declare const ${name}: never;`),
      ...calls.map((call) => `{\n${examplesOf(call, document)?.client}\n}`),
    ].join('\n');
    writeFileSync(join(place, 'calls.mts'), text);
    const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
    const args = [tsc, ...options, '--ignoreConfig', '--types', '', join(place, 'calls.mts')];
    assert.equal(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout, '');
  });
});
