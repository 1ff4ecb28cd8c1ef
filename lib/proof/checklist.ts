import { randomUUID } from 'node:crypto';
import { addToChecklist as keepEntry } from '../../store/checklist.ts';
import { checklistOf } from '../../store/items/item.ts';
import { evidenceOf, gateOf, isSatisfied } from '../../store/items/proof-gate.ts';
import type { ChecklistEntry, ChecklistItem, Gate } from '../../store/records/proof.ts';
import { checkTexts } from '../cases/text.ts';
import { notFound } from '../errors.ts';
import type { Service } from '../service.ts';
import { workOf } from '../worktrees/look/work.ts';
import { itemOf } from './attach.ts';

export const addToChecklist = async (
  service: Service,
  caseId: string,
  wanted: Omit<ChecklistEntry, 'id'>,
): Promise<ChecklistItem> => {
  checkTexts({ description: wanted.description });
  const entry = { id: randomUUID(), ...wanted };
  const item = await keepEntry(service.store, caseId, entry);
  if (item === undefined) throw notFound('Work item', caseId);
  return { ...entry, satisfied: isSatisfied(entry, evidenceOf(item)) };
};

export const listChecklist = async (service: Service, caseId: string): Promise<ChecklistItem[]> => {
  const item = await itemOf(service, caseId);
  const evidence = evidenceOf(item);
  return checklistOf(item).map((entry) => ({ ...entry, satisfied: isSatisfied(entry, evidence) }));
};

export const getGate = async (service: Service, caseId: string): Promise<Gate> => {
  const item = await itemOf(service, caseId);
  const diff = evidenceOf(item).some((proof) => proof.verified && proof.diff_sha256 !== null);
  return gateOf(item, await workOf(service, caseId, diff));
};
