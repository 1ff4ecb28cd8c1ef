/**
 * Readers for untrusted JSON: a value of another type reads as absent, and nothing throws. A strict schema would lose data,
 * because protocols grow and peers deviate from them.
 */
export type Wire = Record<string, unknown>;

export const record = (value: unknown): Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Wire) : {};

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

export const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
