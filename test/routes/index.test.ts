import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openApi } from '../../lib/http/openapi.ts';
import { sections } from '../../routes/index.ts';

describe('the whole API', () => {
  it('makes a valid OpenAPI document', async () => {
    const document = JSON.parse(JSON.stringify(openApi(sections, [], '1.0.0')));
    const { valid, errors } = await new Validator().validate(document);
    assert.deepEqual({ valid, errors: errors ?? [] }, { valid: true, errors: [] });
  });

  it('gives every operation a name of its own', () => {
    const paths = Object.values(openApi(sections, [], '1.0.0').paths as Record<string, object>);
    const names = paths.flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });
});
