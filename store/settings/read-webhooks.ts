import { randomUUID } from 'node:crypto';
import { parseFrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import { ifReadable, Problem } from '../front-matter/problem.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import { WebhookMatter } from '../records/webhook.ts';

/** A webhook registration. A hand-made one needs only `url`; `adopt` has the values to add. */
export interface WebhookFile {
  matter: WebhookMatter;
  adopt?: MatterChanges;
  /** What the operator has to do, though the registration is read. */
  warning?: Problem;
}

const check = checkerOf(WebhookMatter);

export const parseWebhook = (text: string): WebhookFile => {
  const source = parseFrontMatter(text);
  const defaults = { id: randomUUID(), created_at: new Date().toISOString() };
  const adopt = Object.fromEntries(
    Object.entries(defaults).filter(([key]) => source.data[key] === undefined),
  );
  const matter = check({ ...source.data, ...adopt }, source);
  return {
    matter,
    ...(Object.keys(adopt).length > 0 && { adopt }),
    ...(source.data.secret !== undefined && { warning: secretHere(matter) }),
  };
};

const secretHere = ({ id }: WebhookMatter): Problem =>
  new Problem(
    'secret_in_webhook',
    `secret is ignored in this file, because git would keep it. Remove it: until then, the file is not committed automatically. The secret is in .dossier/secrets/${id}: write your own there as its only line, or register the receiver with POST /webhooks {"url", "secret"}`,
  );

/** Whether the text of a registration may contain a secret; also of one that cannot be read. */
export const hasSecret = (text: string): boolean => {
  const data = ifReadable(() => parseFrontMatter(text).data, undefined);
  return data === undefined ? /secret/i.test(text) : data.secret !== undefined;
};
