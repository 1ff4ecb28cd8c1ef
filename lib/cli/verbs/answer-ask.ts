import type { AttentionItem, QuestionField } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import type { Values } from '../args/options.ts';
import type { Out } from '../output/out.ts';
import { ask } from '../output/terminal.ts';

type Value = string | number | boolean | string[];

interface Filled {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, Value>;
}

/** The body of the API call. */
export type Body = { option_id: string; prefix?: string } | Filled;

const ACTIONS = ['accept', 'decline', 'cancel'] as const;

/** Reads the answer from the options. Throws UsageError if it does not match the request. */
export const fieldsGiven = (
  { kind, options = [], fields = [] }: AttentionItem,
  values: Values,
): Body => {
  const { option, field = [], prefix } = values;
  if (kind === 'permission') return optionGiven(options, option, prefix);
  if (prefix !== undefined) throw new UsageError('--prefix is only for a permission');
  const action = ACTIONS.find((each) => each === (option ?? 'accept'));
  if (action === undefined) throw new UsageError(`--option takes ${ACTIONS.join(' or ')} here`);
  if (action !== 'accept') return { action };
  const content = Object.fromEntries(
    field.map((given): [string, Value] => {
      const [, name = '', text = ''] = /^([^=]+)=([\s\S]*)$/.exec(given) ?? [];
      const known = fields.find((each) => each.name === name);
      if (known !== undefined) return [name, typedOf(known, text)];
      throw new UsageError(
        `--field takes NAME=VALUE, of ${fields.map((each) => each.name).join(', ') || 'no field here'}`,
      );
    }),
  );
  return { action, content };
};

const optionGiven = (
  options: NonNullable<AttentionItem['options']>,
  option: string | undefined,
  prefix: string | undefined,
): Body => {
  const chosen = options.find(({ option_id }) => option_id === option);
  if (chosen === undefined)
    throw new UsageError(
      `Answer it with --option ${options.map(({ option_id }) => option_id).join(' or ')}`,
    );
  if (prefix !== undefined && !takesPrefix(chosen))
    throw new UsageError('--prefix is only for --option allow_prefix or allow_project');
  return { option_id: chosen.option_id, ...(prefix !== undefined && { prefix }) };
};

const takesPrefix = ({ kind }: { kind: string }): boolean =>
  kind === 'allow_prefix' || kind === 'allow_project';

/** Asks for an option of a permission, by its number; undefined for no answer. */
export const askOption = async (
  out: Out,
  { options = [] }: AttentionItem,
): Promise<Body | undefined> => {
  for (const [at, { name, kind }] of options.entries())
    out.say(`  ${at + 1}  ${name} (${kind.replaceAll('_', ' ')})`);
  const said = await ask('Which number? ');
  const chosen = /^\d+$/.test(said) ? options[Number(said) - 1] : undefined;
  if (chosen === undefined || !takesPrefix(chosen))
    return chosen && { option_id: chosen.option_id };
  const prefix = await ask('Allow commands that begin with (Enter: this whole command): ');
  return { option_id: chosen.option_id, ...(prefix !== '' && { prefix }) };
};

/** Asks for the fields of a question; undefined if a required one was left out. */
export const askFields = async (
  out: Out,
  { fields = [] }: AttentionItem,
): Promise<Body | undefined> => {
  const content: Record<string, Value> = {};
  for (const field of fields) {
    const value = await askField(out, field);
    if (value === undefined && field.required) return undefined;
    if (value !== undefined) content[field.name] = value;
  }
  if (fields.length > 0) return { action: 'accept', content };
  const said = (await ask(`${ACTIONS.join(', ')}? `)).toLowerCase();
  const action = ACTIONS.find((each) => each === said);
  return action && { action };
};

const askField = async (out: Out, field: QuestionField): Promise<Value | undefined> => {
  out.say(aboutOf(field));
  for (const { value, title, description } of field.options ?? [])
    out.say(`  ${[value, title, description].filter(Boolean).join('  ')}`);
  const said = await ask('> ');
  return said === '' ? field.default : typedOf(field, said);
};

const aboutOf = ({
  name,
  title,
  description,
  required,
  type,
  default: usual,
}: QuestionField): string =>
  [
    title ?? name,
    ...(description === undefined ? [] : [description]),
    `(${[type === 'array' ? 'several, separated by commas' : type, ...(required ? [] : ['optional'])].join(', ')}${
      usual === undefined ? '' : `; default: ${usual}`
    })`,
  ].join(' ');

// Sends a value of another type unchanged, for the daemon to reject.
const typedOf = ({ type }: QuestionField, text: string): Value => {
  if (type === 'number' || type === 'integer')
    return Number.isNaN(Number(text)) ? text : Number(text);
  if (type === 'array') return text.split(',').map((part) => part.trim());
  if (type !== 'boolean') return text;
  if (/^(y|yes|true)$/i.test(text)) return true;
  return /^(n|no|false)$/i.test(text) ? false : text;
};
