// Stores the touches of a submission in its own transaction, and credits the lead to the link of its last touch.

import type { Connection, OnCommit } from '../../storage/database/open-database.ts'
import { readClickVariant } from '../hits/click-id.ts'
import type { LeadCrediter } from '../links/credit-leads.ts'
import type { Touch } from '../tracking/touch.ts'
import { toCampaignColumns } from '../visitors/campaign-columns.ts'

export interface CreditedSubmission {
  id: number
  workspaceId: number
  /** Neither a duplicate, nor spam, nor unconfirmed. */
  isLead: boolean
}

export type TouchRecorder = (
  connection: Connection,
  onCommit: OnCommit,
  submission: CreditedSubmission,
  touches: Touch[],
) => Promise<void>

export interface CreditNeeds {
  creditLeads: LeadCrediter
}

export const createTouchRecorder =
  ({ creditLeads }: CreditNeeds): TouchRecorder =>
  async (connection, onCommit, { id, workspaceId, isLead }, touches) => {
    if (touches.length === 0) return
    await insertTouches(connection, workspaceId, [{ id, touches }])
    const linkId = touches.at(-1)?.linkId ?? null
    if (!isLead || linkId === null) return
    await creditLeads(connection, onCommit, { workspaceId, linkId, leads: 1 })
  }

/** Credits a lead that counts only now to the link of its last touch. */
export async function creditLastTouch(
  connection: Connection,
  onCommit: OnCommit,
  { creditLeads }: CreditNeeds,
  { id, workspaceId }: Pick<CreditedSubmission, 'id' | 'workspaceId'>,
): Promise<void> {
  const last = await connection
    .selectFrom('touches')
    .select('link_id')
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', '=', id)
    .orderBy('position', 'desc')
    .executeTakeFirst()
  const linkId = last?.link_id ?? null
  if (linkId !== null) await creditLeads(connection, onCommit, { workspaceId, linkId, leads: 1 })
}

/** The submissions must have no touches yet. */
export async function insertTouches(
  connection: Connection,
  workspaceId: number,
  submissions: { id: number; touches: Touch[] }[],
): Promise<void> {
  const rows = submissions.flatMap(({ id, touches }) =>
    touches.map((touch, position) => ({
      submission_id: id,
      workspace_id: workspaceId,
      position,
      touches: touches.length,
      at: touch.at,
      kind: touch.kind,
      link_id: touch.linkId,
      click_id: touch.clickId,
      variant: readClickVariant(touch.clickId),
      referrer: touch.referrer,
      landing_url: touch.landingUrl,
      ...toCampaignColumns(touch),
    })),
  )
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await connection
      .insertInto('touches')
      .values(rows.slice(from, from + ROWS_AT_ONCE))
      .execute()
  }
}

/** A statement can have some thousand values; 50 rows have 800. */
const ROWS_AT_ONCE = 50
