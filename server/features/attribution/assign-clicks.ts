// Stores which click brought a submission without the snippet: on the submission, among its touches, and on the link's
// counter of leads.

import { sql } from 'kysely'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { LastClick } from '../../storage/hits/hit-engine.ts'
import type { ClickIds } from '../hits/click-id.ts'
import type { LinkCache } from '../links/cache.ts'
import { creditLeads } from '../links/credit-leads.ts'
import type { Touch, TouchKind } from '../tracking/touch.ts'
import { type CampaignColumns, toCampaign } from '../visitors/campaign-columns.ts'
import { insertTouches } from './record-touches.ts'

/** The submissions that one click brought; with `click: null`, submissions that no click brought. */
export interface ClickAssignment {
  click: LastClick | null
  ids: number[]
}

export interface AssignClicksNeeds {
  db: Database
  clickIds: Pick<ClickIds, 'sign'>
  cache: Pick<LinkCache, 'invalidate'>
}

// Written as literal SQL: a partial index is used only by a statement that has the index's own condition.
export const ATTRIBUTION_DUE = sql<boolean>`attribution_due = 1`

/** Skips submissions that were decided in the meantime: the first write wins. */
export async function assignClicks(
  { db, clickIds, cache }: AssignClicksNeeds,
  workspaceId: number,
  assignments: ClickAssignment[],
) {
  await db.write(async (connection, onCommit) => {
    const leads = new Map<number, number>()
    for (const { click, ids } of assignments) {
      const clickId = click && clickIds.sign({ ...click, workspaceId })
      const decided = await markAssigned(
        connection,
        workspaceId,
        ids,
        click && { link_id: click.linkId, click_id: clickId },
      )
      if (!click) continue
      const credited = await addClick(connection, workspaceId, decided, { ...click, clickId })
      for (const { isLead, touches } of credited) {
        const linkId = touches.at(-1)?.linkId
        if (isLead && typeof linkId === 'number') leads.set(linkId, (leads.get(linkId) ?? 0) + 1)
      }
    }
    // Last, so that links stay locked for a short time only; in one order, so that no two transactions deadlock.
    for (const [linkId, count] of [...leads].sort(([a], [b]) => a - b)) {
      await creditLeads({ cache }, connection, onCommit, { workspaceId, linkId, leads: count })
    }
  })
}

type AssignedSubmission = Awaited<ReturnType<typeof markAssigned>>[number]

const markAssigned = (
  connection: Connection,
  workspaceId: number,
  ids: number[],
  click: { link_id: number; click_id: string | null } | null,
) =>
  connection
    .updateTable('submissions')
    .set({ attribution_due: 0, ...(click && { attribution: 'inferred', ...click }) })
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .where(ATTRIBUTION_DUE)
    .returning([
      'id',
      'duplicate_of',
      'status',
      'referrer',
      'landing_url',
      'utm_source',
      'utm_medium',
      'utm_campaign',
      'utm_term',
      'utm_content',
    ])
    .execute()

type InferredClick = LastClick & { clickId: string | null }

/** Puts the click among the touches of each submission. @returns the new touches of each */
async function addClick(
  connection: Connection,
  workspaceId: number,
  decided: AssignedSubmission[],
  click: InferredClick,
) {
  if (decided.length === 0) return []
  const ids = decided.map(({ id }) => id)
  const oldRows = await connection
    .selectFrom('touches')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', 'in', ids)
    .orderBy('position')
    .execute()
  const oldBySubmission = Map.groupBy(oldRows, (row) => row.submission_id)
  if (oldRows.length > 0) {
    await connection
      .deleteFrom('touches')
      .where('workspace_id', '=', workspaceId)
      .where('submission_id', 'in', [...oldBySubmission.keys()])
      .execute()
  }
  const submissions = decided.map((row) => ({
    id: row.id,
    isLead: row.duplicate_of === null && row.status !== 'spam',
    touches: mergeClick(oldBySubmission.get(row.id)?.map(toTouch) ?? [], toClickTouch(click, row)),
  }))
  await insertTouches(connection, workspaceId, submissions)
  return submissions
}

const toClickTouch = (click: InferredClick, row: AssignedSubmission): Touch => ({
  at: click.at,
  kind: 'click',
  linkId: click.linkId,
  clickId: click.clickId,
  referrer: row.referrer,
  landingUrl: row.landing_url,
  ...toCampaign(row),
})

/** A page that is seen this soon after a click is the page that the click led to. */
const LANDS_WITHIN_MS = 60_000

/**
 * Merges the click into the touch that it led to, because the page of that touch did not name the click. Where there is
 * no such touch, the click becomes a touch of its own, at its own time.
 */
export function mergeClick(touches: Touch[], click: Touch): Touch[] {
  const next = touches.findIndex(({ at }) => at >= click.at)
  const landing = touches[next]
  if (landing && (landing.kind === 'direct' || landing.at - click.at < LANDS_WITHIN_MS)) {
    const { kind, linkId, clickId } = click
    return touches.with(next, { ...landing, kind, linkId, clickId })
  }
  if (touches.length === 0) return [click]
  const bare: Touch = {
    ...EMPTY_CAMPAIGN,
    at: click.at,
    kind: 'click',
    linkId: click.linkId,
    clickId: click.clickId,
  }
  return touches.toSpliced(next === -1 ? touches.length : next, 0, bare)
}

const EMPTY_CAMPAIGN = {
  referrer: null,
  landingUrl: null,
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmTerm: null,
  utmContent: null,
}

interface TouchRow extends CampaignColumns {
  at: number
  kind: string
  link_id: number | null
  click_id: string | null
  referrer: string | null
  landing_url: string | null
}

/** Reads a row that `insertTouches` wrote. */
export const toTouch = (row: TouchRow): Touch => ({
  at: row.at,
  kind: row.kind as TouchKind,
  linkId: row.link_id,
  clickId: row.click_id,
  referrer: row.referrer,
  landingUrl: row.landing_url,
  ...toCampaign(row),
})
