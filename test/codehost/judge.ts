/** Holds every request and answer of a test against GitHub's own description of its API. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { DEVIATIONS } from './deviations.ts';
import type { Answer, Ask } from './rest.ts';
import { type Matched, matcher } from './templates.ts';

export interface Judge {
  /** What was wrong, each said once. */
  findings: string[];
  request(ask: Ask): void;
  answer(ask: Ask, answer: Answer): void;
  finding(text: string): void;
  assertFaultless(): void;
}

export const openJudge = (): Judge => {
  const findings: string[] = [];
  const finding = (text: string): void => {
    if (!findings.includes(text)) findings.push(text);
  };
  return {
    findings,
    finding,
    request: (ask) => judgeRequest(ask).forEach(finding),
    answer: (ask, answer) => judgeAnswer(ask, answer).forEach(finding),
    assertFaultless: () => {
      if (findings.length === 0) return;
      const shown = findings.slice(0, MOST_SHOWN).join('\n  ');
      assert.fail(`${findings.length} things that GitHub does not describe:\n  ${shown}`);
    },
  };
};

const MOST_SHOWN = 20;

interface Operation {
  query: string[];
  body?: object;
  responses: Record<string, object | null>;
}

const judgeRequest = ({ method, path, query, body }: Ask): string[] => {
  const found = operationAt(method, path);
  if (found === undefined) return [`${method} ${path}: GitHub describes no such operation for us`];
  const { value, template } = found;
  const where = `${method} ${template}`;
  const unknown = [...query.keys()].filter((key) => !value.query.includes(key));
  const said = unknown.map((key) => `${where}: it takes no query parameter ${key}`);
  if (value.body === undefined) {
    return body === undefined ? said : [...said, `${where}: it takes no body`];
  }
  const key = `${method.toLowerCase()} ${template}`;
  const wrong = errorsOf(`operations/${escaped(key)}/body`, body);
  const strange = unknownKeys(value.body, body).map(
    (name) => `the body has an unknown key ${name}`,
  );
  return [...said, ...[...wrong, ...strange].map((text) => `${where}: ${text}`)];
};

const judgeAnswer = ({ method, path }: Ask, answer: Answer): string[] => {
  const found = operationAt(method, path);
  if (found === undefined) return [];
  const { value, template } = found;
  const where = `${method} ${template} ${answer.status}`;
  const schema = value.responses[String(answer.status)];
  const said = schema === undefined ? ['GitHub describes no such status'] : [];
  if (schema) {
    const key = `${method.toLowerCase()} ${template}`;
    said.push(...errorsOf(`operations/${escaped(key)}/responses/${answer.status}`, answer.body));
  }
  return said.map((text) => `${where}: ${text}`).filter((text) => !isKnown(text));
};

const isKnown = (text: string): boolean => DEVIATIONS.some(({ says }) => says.test(text));

const operationAt = (method: string, path: string): Matched<Operation> | undefined =>
  described().matched(method, path.replace(/^\/repositories\/\d+/, '/repos/by/number'));

/** Keys of the body that the schema names nowhere: GitHub would ignore them, and answer 200. */
const unknownKeys = (schema: object, body: unknown): string[] => {
  if (body === null || typeof body !== 'object') return [];
  const known = JSON.stringify(schema);
  return Object.keys(body).filter((key) => !known.includes(`${JSON.stringify(key)}:`));
};

const errorsOf = (pointer: string, value: unknown): string[] => {
  const validate = compiled(pointer);
  if (validate(value)) return [];
  const lacking = new Map<string, string[]>();
  const wrong: string[] = [];
  for (const { keyword, instancePath, message, params } of validate.errors ?? []) {
    const at = instancePath.replace(/\/\d+(?=\/|$)/g, '/0') || 'the body';
    if (keyword !== 'required')
      wrong.push(`${at} ${message} ${params.allowedValues ?? ''}`.trimEnd());
    else lacking.set(at, [...(lacking.get(at) ?? []), params.missingProperty]);
  }
  return [
    ...[...lacking].map(([at, keys]) => `${at} lacks ${[...new Set(keys)].join(', ')}`),
    ...wrong,
  ];
};

const validators = new Map<string, ValidateFunction>();

const compiled = (pointer: string): ValidateFunction => {
  const known = validators.get(pointer);
  if (known !== undefined) return known;
  const made = described().ajv.compile({ $ref: `github#/${pointer}` });
  validators.set(pointer, made);
  return made;
};

interface Described {
  names: string[];
  ajv: Ajv;
  matched: ReturnType<typeof matcher<Operation>>;
}

let loaded: Described | undefined;

/** GitHub's description, cut to what is asked of it here: read when it is first needed, once for a process. */
export const described = (): Described => {
  loaded ??= load();
  return loaded;
};

const FILE = '../../../test/codehost/github-openapi.json';

const load = (): Described => {
  const text = readFileSync(new URL(FILE, import.meta.url), 'utf8');
  const { operations, schemas } = JSON.parse(text);
  // Each schema compiled once, and not wherever it is named: a third of the time.
  const ajv = new Ajv({ strict: false, allErrors: true, inlineRefs: false });
  formats.default(ajv);
  ajv.addFormat('repo.nwo', /^[^/]+\/[^/]+$/);
  ajv.addSchema({ $id: 'github', operations, schemas });
  return { names: Object.keys(operations), ajv, matched: matcher<Operation>(operations) };
};

const escaped = (key: string): string =>
  encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
