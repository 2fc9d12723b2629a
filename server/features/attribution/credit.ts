// The touches of a submission as rows, written with it; and the lead that the link of its last touch gets for them.

import type { Db, OnCommit } from '../../storage/rows/open.ts'
import type { LinkCache } from '../links/cache.ts'
import { creditLeads } from '../links/credit-leads.ts'
import { campaignColumns, type Touch } from './touch.ts'

export interface Credited {
  id: number
  workspaceId: number
  /** Neither a duplicate nor spam. */
  isLead: boolean
}

export type CreditTouches = (db: Db, onCommit: OnCommit, of: Credited, touches: Touch[]) => Promise<void>

export function creditTouches({ cache }: { cache: Pick<LinkCache, 'forget'> }): CreditTouches {
  return async (db, onCommit, { id, workspaceId, isLead }, touches) => {
    if (touches.length === 0) return
    await insertTouches(db, workspaceId, [{ id, touches }])
    const linkId = touches.at(-1)?.linkId ?? null
    if (!isLead || linkId === null) return
    await creditLeads({ cache }, db, onCommit, { workspaceId, linkId, leads: 1 })
  }
}

/** Rows of submissions that have none yet. */
export async function insertTouches(
  db: Db,
  workspaceId: number,
  all: { id: number; touches: Touch[] }[],
): Promise<void> {
  const rows = all.flatMap(({ id, touches }) =>
    touches.map((touch, position) => ({
      submission_id: id,
      workspace_id: workspaceId,
      position,
      touches: touches.length,
      at: touch.at,
      kind: touch.kind,
      link_id: touch.linkId,
      click_id: touch.clickId,
      referrer: touch.referrer,
      landing_url: touch.landingUrl,
      ...campaignColumns(touch),
    })),
  )
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await db
      .insertInto('touches')
      .values(rows.slice(from, from + ROWS_AT_ONCE))
      .execute()
  }
}

/** A statement may carry some thousand values. */
const ROWS_AT_ONCE = 50
