import { type Static, Type } from 'typebox';
import { orNull } from './fields.ts';

const Section = orNull(Type.String(), 'The heading above it; null before the first one');
const Text = orNull(Type.String(), 'Markdown');

/** The topic of a section, from the words of its heading. */
export const SectionKind = Type.Enum([
  'summary',
  'steps',
  'expected',
  'actual',
  'environment',
  'acceptance',
  'tasks',
  'logs',
  'proposal',
  'declarations',
  'other',
]);
export type SectionKind = Static<typeof SectionKind>;

/** The parsed text of an issue. Deterministic. */
export const ExtractedIssue = Type.Object(
  {
    title: Text,
    summary: Type.String({
      description: 'The problem description as Markdown; empty if none was found',
    }),
    sections: Type.Array(
      Type.Object({
        heading: Section,
        level: Type.Integer({ minimum: 0, maximum: 7, description: '7: a bold line or a label' }),
        kind: SectionKind,
        content: Type.String({ description: 'Markdown, without comments of a template' }),
      }),
    ),
    steps: Type.Array(Type.String(), { description: 'Steps to reproduce, in order' }),
    expected: Text,
    actual: Text,
    environment: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
    acceptance_criteria: Type.Array(Type.String()),
    checklist: Type.Array(
      Type.Object({ text: Type.String(), checked: Type.Boolean(), section: Section }),
    ),
    code_blocks: Type.Array(
      Type.Object({
        language: orNull(Type.String()),
        content: Type.String(),
        section: Section,
      }),
    ),
    logs: Type.Array(Type.String(), { description: 'Quoted output of programs' }),
    errors: Type.Array(Type.String(), { description: 'Error lines, without duplicates' }),
    files: Type.Array(Type.String(), { description: 'Named files, without duplicates' }),
    links: Type.Array(Type.Object({ text: Type.String(), url: Type.String() })),
    mentions: Type.Array(
      Type.Object({
        repository: orNull(Type.String(), '`owner/name`; null: the repository of the issue itself'),
        number: Type.Integer({ minimum: 1 }),
        kind: Type.Enum(['issue', 'pull', 'unknown']),
      }),
    ),
    truncated: Type.Boolean({ description: 'Whether only the first 256 KB were read' }),
  },
  { $id: 'ExtractedIssue' },
);
export type ExtractedIssue = Static<typeof ExtractedIssue>;
