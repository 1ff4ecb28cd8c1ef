import { randomUUID } from 'node:crypto';
import { parseFrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import { WebhookMatter } from '../records/webhook.ts';

/** A webhook registration. A hand-made one needs only `url`; `adopt` has the values to add. */
export interface WebhookFile {
  matter: WebhookMatter;
  adopt?: MatterChanges;
}

const check = checkerOf(WebhookMatter);

export const parseWebhook = (text: string): WebhookFile => {
  const source = parseFrontMatter(text);
  const defaults = { id: randomUUID(), created_at: new Date().toISOString() };
  const adopt = Object.fromEntries(
    Object.entries(defaults).filter(([key]) => source.data[key] === undefined),
  );
  const matter = check({ ...source.data, ...adopt }, source);
  return Object.keys(adopt).length === 0 ? { matter } : { matter, adopt };
};
