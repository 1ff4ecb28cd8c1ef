import { randomUUID } from 'node:crypto';
import { checklistOf } from '../../store/items/item.ts';
import { addToChecklist as keepEntry } from '../../store/proofs.ts';
import type { ChecklistEntry, ChecklistItem, Gate } from '../../store/records/proof.ts';
import { checkTexts } from '../cases/text.ts';
import { notFound } from '../errors.ts';
import type { Service } from '../service.ts';
import { headOf } from '../worktrees/look/head.ts';
import { itemOf } from './attach.ts';
import { evidenceOf, gateOf, isSatisfied } from './gate.ts';

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
  return gateOf(item, await headOf(service, caseId));
};
