/**
 * Reads what an agent or a server sent without trusting it: a value of another shape reads as absent, and nothing throws.
 * Protocols grow and peers deviate from them, so a strict schema would lose what it does not know.
 */
export type Wire = Record<string, unknown>;

export const record = (value: unknown): Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Wire) : {};

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

export const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
