import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { buildSchema, type FieldNode, Kind, parse, validate, visit } from 'graphql';
import { ISSUE_BATCHES, MUTATIONS, QUERIES } from '../../../../lib/codehost/github/documents.ts';

const SDL = new URL('./schema.graphql', import.meta.resolve('@octokit/graphql-schema'));
// What GitHub publishes defines a few fields twice, which graphql would not take.
const schema = buildSchema(readFileSync(SDL, 'utf8'), { assumeValidSDL: true });

const ALL = [...QUERIES, ...MUTATIONS];

/** The fields that a document's mutations begin with, by their true names. */
const changesOf = (text: string): string[] =>
  parse(text).definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION || definition.operation === 'query')
      return [];
    return definition.selectionSet.selections.map((selection) =>
      selection.kind === Kind.FIELD ? selection.name.value : selection.kind,
    );
  });

const fieldsOf = ({ selectionSet }: FieldNode): string[] =>
  (selectionSet?.selections ?? []).flatMap((selection) =>
    selection.kind === Kind.FIELD ? [selection.name.value] : [],
  );

/** The lists of which a document asks for one page and not for how it goes on. */
const cutShort = (text: string): string[] => {
  const found: string[] = [];
  visit(parse(text), {
    Field: (field) => {
      const inside = fieldsOf(field);
      if (inside.includes('nodes') && !inside.includes('pageInfo')) found.push(field.name.value);
    },
  });
  return found;
};

describe('the documents for GraphQL', () => {
  it("are valid by GitHub's own schema", () => {
    for (const text of ALL) assert.deepEqual(validate(schema, parse(text)), [], text.slice(0, 200));
    assert.equal(ISSUE_BATCHES.length, 50);
  });

  it('change nothing, but for two mutations that neither merge nor write content', () => {
    assert.deepEqual(ALL.flatMap(changesOf), [
      'markPullRequestReadyForReview',
      'resolveReviewThread',
    ]);
    assert.deepEqual([...QUERIES].flatMap(changesOf), []);
  });

  it('take every list page by page, or no less of it than GitHub lets there be', () => {
    // An issue and a pull request have at most 100 labels; the newest commit is one.
    const left = ALL.flatMap(cutShort);
    assert.deepEqual([...new Set(left)], ['labels', 'assignees', 'commits']);
  });
});
